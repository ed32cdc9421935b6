"""Settings to the engine's arguments and variables. Pure."""

import json
from typing import Any

from studio.domain.rules import Value


def flag(name: str, value: Value) -> list[str]:
    """Return an argument as it is typed: `max_model_len`, 2048 → `--max-model-len 2048`."""
    spelled = name.replace("_", "-")
    if isinstance(value, bool):
        return [f"--{spelled}" if value else f"--no-{spelled}"]
    return [f"--{spelled}", text(value)]


def json_flag(name: str, value: dict[str, Any]) -> list[str]:
    """Return an argument whose value is JSON, in the shortest spelling."""
    return [f"--{name.replace('_', '-')}", json.dumps(value, separators=(",", ":"))]


def text(value: Value) -> str:
    """Return a value for a variable. Engines read `1` as true; some of them nothing else."""
    if isinstance(value, bool):
        return "1" if value else "0"
    return str(value)
