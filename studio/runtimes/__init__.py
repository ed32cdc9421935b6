"""Managed interpreters that hold a vLLM: installing and finding them."""
