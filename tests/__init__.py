"""The tests; they mirror the tree of `studio/`."""
