"""The pages; none knows another."""
