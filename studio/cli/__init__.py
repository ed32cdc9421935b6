"""The command line: presents, decides nothing."""
