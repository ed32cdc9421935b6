"""Packages for Windows: the root file system for WSL, and the setup program."""
