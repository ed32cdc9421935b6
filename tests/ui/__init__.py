"""Tests of the window, offscreen, against a fake service over real HTTP."""
