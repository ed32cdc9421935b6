"""Slow paths on the terminal."""

from studio.cli.badges_text import badge_pairs
from studio.cli.render import labelled
from studio.domain.remedies import Badge, Remedy, RemedyKind

EAGER = Badge(
    code="eager-mode",
    title="Eager mode",
    cost="Each small kernel is launched by itself, which takes longer than most of them run.",
    evidence="Enforce eager set",
    remedies=(
        Remedy(
            kind=RemedyKind.RESTART_WITH,
            text="Restart with graphs.",
            settings={"enforce_eager": "false"},
        ),
        Remedy(kind=RemedyKind.COMMAND, text="Look.", command="weir doctor"),
        Remedy(kind=RemedyKind.ADVICE, text="Or wait."),
    ),
)


def test_each_says_what_it_costs_and_what_to_type() -> None:
    """Settings that were asked for stay, so that the command gives the same engine, faster."""
    pairs = badge_pairs([EAGER], "my preset", {"max_model_len": "4k"}, 66)

    assert labelled(pairs).splitlines() == [
        "  Slow paths  Eager mode",
        "                Each small kernel is launched by itself, which takes longer than",
        "                most of them run.",
        "                To do: Restart with graphs. `weir switch 'my preset' --set",
        "                max_model_len=4k --set enforce_eager=false`",
        "                To do: Look. `weir doctor`",
        "                To do: Or wait.",
    ]


def test_nothing_is_said_when_nothing_is_slow() -> None:
    """No label without a value."""
    assert badge_pairs([], "preset", {}, 66) == []


def test_without_a_preset_no_command_is_made_up() -> None:
    """An adopted engine has none."""
    pairs = badge_pairs([EAGER], None, {}, 66)

    assert "weir switch" not in labelled(pairs)
