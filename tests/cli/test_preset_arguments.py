"""What `weir presets …` and `weir argv` take."""

import pytest

from studio.cli.arguments import Invocation, parse
from studio.cli.mistakes import UsageError


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("presets", Invocation(command="presets")),
        ("presets --json", Invocation(command="presets", json=True)),
        ("presets --host a.json", Invocation(command="presets", host="a.json")),
        ("presets list --host x", Invocation(command="presets list", host="x")),
        ("presets --host x show p", Invocation(command="presets show", host="x", name="p")),
        ("presets show p --json", Invocation(command="presets show", name="p", json=True)),
        ("presets diff a", Invocation(command="presets diff", name="a")),
        ("presets diff a b", Invocation(command="presets diff", name="a", other="b")),
        (
            "presets copy a b --title T",
            Invocation(command="presets copy", name="a", other="b", title="T"),
        ),
        (
            "presets edit a --set max-num-seqs=3",
            Invocation(command="presets edit", name="a", overrides={"max_num_seqs": "3"}),
        ),
        (
            "argv p --format compose --gpus 1,0 --set x=1 --host h",
            Invocation(
                command="argv", preset="p", form="compose", gpus=(1, 0), overrides={"x": "1"},
                host="h",
            ),
        ),
    ],
)  # fmt: skip
def test_a_line_becomes_one_record(line: str, expected: Invocation) -> None:
    """Also where an option stands before the second word."""
    assert parse(line.split()) == expected


@pytest.mark.parametrize(
    "line", ["presets show", "presets copy a", "presets diff a b c", "argv p --format x"]
)
def test_a_line_that_says_too_little_or_too_much_is_refused(line: str) -> None:
    """With the help that explains it."""
    with pytest.raises(UsageError) as caught:
        parse(line.split())

    assert "--help" in caught.value.hint
