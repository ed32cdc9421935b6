"""The words of `weir models missing` and `weir models prepare`."""

import pytest

from studio.cli.arguments import parse
from studio.cli.mistakes import UsageError


@pytest.mark.parametrize(
    ("line", "command", "fields"),
    [
        ("models missing 27b", "models missing", {"name": "27b", "json": False}),
        ("models prepare 27b --dry-run", "models prepare", {"dry_run": True, "consent": False}),
        ("models prepare 27b -y --json", "models prepare", {"consent": True, "json": True}),
    ],
)
def test_lines_are_understood(line: str, command: str, fields: dict[str, object]) -> None:
    """As for other commands that fetch."""
    asked = parse(line.split())

    assert asked.command == command
    assert {name: getattr(asked, name) for name in fields} == fields


@pytest.mark.parametrize("line", ["models missing", "models missing a --yes", "models prepare"])
def test_what_makes_no_sense_is_refused(line: str) -> None:
    """Before anything is asked of anybody."""
    with pytest.raises(UsageError):
        parse(line.split())
