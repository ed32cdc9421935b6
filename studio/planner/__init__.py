"""What fits on a host, as arithmetic."""
