"""The load, its figures and their comparison."""
