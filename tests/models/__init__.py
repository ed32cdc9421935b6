"""Mirrors studio/models."""
