"""How `weir bench` may be typed."""

import pytest

from studio.cli.arguments import parse
from studio.cli.bench_arguments import with_verb
from studio.cli.mistakes import TextAsked, UsageError


@pytest.mark.parametrize(
    ("typed", "command", "preset"),
    [
        ("bench", "bench run", None),
        ("bench --quick", "bench run", None),
        ("bench 27b-mtp", "bench run", "27b-mtp"),
        ("bench --set a=b 27b-mtp", "bench run", "27b-mtp"),
        ("bench run list", "bench run", "list"),
        ("bench list", "bench list", None),
        ("bench list 27b-mtp", "bench list", "27b-mtp"),
        ("bench stop", "bench stop", None),
    ],
)
def test_the_verb_may_be_left_out(typed: str, command: str, preset: str | None) -> None:
    """`weir bench` is what people type."""
    found = parse(typed.split())

    assert (found.command, found.preset) == (command, preset)


def test_options_of_a_run() -> None:
    """Each may stand anywhere."""
    found = parse(
        [
            "bench",
            "p",
            "--quick",
            "--only",
            "copy",
            "--only",
            "turns",
            "--set",
            "a=1",
            "--gpus",
            "0,1",
            "-y",
            "--json",
        ]
    )

    assert found.quick
    assert found.kinds == ("copy", "turns")
    assert found.overrides == {"a": "1"}
    assert found.gpus == (0, 1)
    assert found.consent
    assert found.json


def test_runs_are_named_by_id_or_last() -> None:
    """Left out, the newest is meant."""
    assert parse(["bench", "show"]).name == "last"
    assert parse(["bench", "show", "2026"]).name == "2026"
    assert parse(["bench", "compare"]).other is None
    assert parse(["bench", "compare", "a", "b"]).other == "b"
    assert parse(["bench", "rm", "a", "b"]).runs == ("a", "b")


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("bench --only all", "--only"),
        ("bench rm", "RUN"),
        ("bench a b", "b"),
        ("bench --quik", "--quick"),
        ("bench compare a b c", "c"),
    ],
)
def test_mistakes_are_said(typed: str, said: str) -> None:
    """In one sentence."""
    with pytest.raises(UsageError) as caught:
        parse(typed.split())

    assert said in caught.value.sentence


@pytest.mark.parametrize("typed", ["bench --help", "bench -h", "bench run --help"])
def test_help_is_there(typed: str) -> None:
    """Of the whole and of each verb."""
    with pytest.raises(TextAsked) as asked:
        parse(typed.split())

    assert "weir bench" in asked.value.text


def test_other_commands_are_left_alone() -> None:
    """Only the bench has a verb that may be left out."""
    assert with_verb(["up", "bench"]) == ["up", "bench"]
    assert with_verb([]) == []
