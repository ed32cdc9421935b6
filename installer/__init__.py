"""Scripts that write data files and packages; nothing of it is installed."""
