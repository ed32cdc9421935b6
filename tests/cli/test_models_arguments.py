"""The words of `weir models list`, `show`, `verify`, `rm`, `import` and `roots`."""

import pytest

from studio.cli.arguments import parse
from studio.cli.mistakes import UsageError


@pytest.mark.parametrize(
    ("line", "command", "fields"),
    [
        ("models", "models", {"json": False}),
        ("models --json", "models", {"json": True}),
        ("models list --json", "models list", {"json": True}),
        ("models show o/n", "models show", {"name": "o/n"}),
        ("models verify", "models verify", {"reference": None, "forget": False}),
        ("models verify o/n --stop", "models verify", {"reference": "o/n", "forget": True}),
        ("models verify -d", "models verify", {"detach": True}),
        ("models rm o/n -y", "models rm", {"name": "o/n", "consent": True, "dry_run": False}),
        ("models rm o/n --dry-run", "models rm", {"dry_run": True}),
        ("models import /a", "models import", {"name": "/a", "form": "reference", "new_name": ""}),
        ("models import /a --by copy --name b", "models import", {"form": "copy", "new_name": "b"}),
        ("models roots", "models roots", {"action": "list", "reference": None}),
        ("models roots add /a", "models roots", {"action": "add", "reference": "/a"}),
    ],
)
def test_lines_are_understood(line: str, command: str, fields: dict[str, object]) -> None:
    """Each with the defaults that a person expects."""
    asked = parse(line.split())

    assert asked.command == command
    assert {name: getattr(asked, name) for name in fields} == fields


@pytest.mark.parametrize(
    "line",
    ["models show", "models rm", "models import", "models import /a --by magic", "models roots x",
     "models remove a", "models list --yes"],
)  # fmt: skip
def test_mistakes_are_told(line: str) -> None:
    """In a sentence, not by doing something else."""
    with pytest.raises(UsageError):
        parse(line.split())
