"""Pool, spill and tok/s, once a second."""
