"""The facade, the wiring and the event bus."""
