"""Weir Studio: serve a large model on your own card, and see pool, spill and tok/s."""

__version__ = "0.1.0"
