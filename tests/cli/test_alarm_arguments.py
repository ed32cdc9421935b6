"""The words of `weir alarms`."""

import pytest

from studio.cli.arguments import parse
from studio.cli.mistakes import UsageError


@pytest.mark.parametrize(
    ("line", "command", "fields"),
    [
        ("alarms", "alarms", {}),
        ("alarms -f --json", "alarms", {"follow": True, "json": True}),
        ("alarms list -f", "alarms list", {"follow": True}),
        ("alarms --json list", "alarms list", {"json": True}),
        ("alarms mute spill-swap", "alarms mute", {"name": "spill-swap", "seconds": 0}),
        ("alarms mute spill-swap --for 8h", "alarms mute", {"seconds": 28_800}),
        ("alarms mute spill-swap --once", "alarms mute", {"once": True}),
        ("alarms unmute spill-swap --json", "alarms unmute", {"json": True}),
    ],
)
def test_lines_are_understood(line: str, command: str, fields: dict[str, object]) -> None:
    """With the second word or without."""
    asked = parse(line.split())

    assert asked.command == command
    assert {name: getattr(asked, name) for name in fields} == fields


@pytest.mark.parametrize(
    "line",
    [
        "alarms mute",
        "alarms mute a --for",
        "alarms mute a --for soon",
        "alarms mute a --for 8h --once",
        "alarms silence a",
        "alarms unmute a --once",
    ],
)
def test_mistakes_are_told(line: str) -> None:
    """In a sentence, not by doing something else."""
    with pytest.raises(UsageError):
        parse(line.split())
