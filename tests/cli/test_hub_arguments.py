"""The words of `weir models` and `weir downloads`."""

import pytest

from studio.cli.arguments import parse
from studio.cli.mistakes import UsageError


@pytest.mark.parametrize(
    ("line", "command", "fields"),
    [
        ("models get a/b", "models get", {"name": "a/b", "include": (), "update": False}),
        ("models get a/b --include *.json --include x/ --exclude y", "models get",
         {"include": ("*.json", "x/"), "exclude": ("y",)}),
        ("models get a/b --hub modelscope --revision v1 --into f --update", "models get",
         {"hub": "modelscope", "revision": "v1", "to": "f", "update": True}),
        ("models login --token -", "models login", {"token": "-"}),
        ("models logout --hub modelscope", "models logout", {"hub": "modelscope"}),
        ("downloads", "downloads", {"action": "list"}),
        ("downloads pause a/b --json", "downloads", {"action": "pause", "reference": "a/b"}),
        ("downloads limit off", "downloads", {"action": "limit", "reference": "off"}),
    ],
)  # fmt: skip
def test_lines_are_understood(line: str, command: str, fields: dict[str, object]) -> None:
    """Patterns may be given several times."""
    asked = parse(line.split())

    assert asked.command == command
    assert {name: getattr(asked, name) for name in fields} == fields


@pytest.mark.parametrize(
    "line",
    ["models get", "models get a/b --hub github", "downloads stop x", "models login --update"],
)
def test_mistakes_are_told(line: str) -> None:
    """In a sentence, not by doing something else."""
    with pytest.raises(UsageError):
        parse(line.split())
