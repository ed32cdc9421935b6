"""Tests of the packages for Windows."""
