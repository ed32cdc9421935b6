"""Mirrors studio/runtimes."""
