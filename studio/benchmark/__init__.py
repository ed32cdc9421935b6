"""A reproducible load for the engine that serves, and what is made of its figures."""
