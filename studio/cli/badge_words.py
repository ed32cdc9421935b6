"""The words around slow paths; what they are and cost stands in runtimes/slow_paths.toml."""

LABEL_BADGES = "Slow paths"
TO_DO = "To do: "
WITH_SETTINGS = "{text} `{command}`"
SWITCH = "weir switch {preset} {settings}"
"""Replaces the running engine by the same preset with other settings."""
