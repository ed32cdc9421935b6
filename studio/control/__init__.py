"""The control API: the one way in for the window and the command line."""
