"""Slow paths in the window: words for the eye, the pointer and the ear."""

from studio.domain.remedies import Badge, Remedy, RemedyKind
from studio.ui.viewmodels.badges import MOST_SIGNS, BadgesView, badges_view


def badge(number: int) -> Badge:
    """Return one of several."""
    return Badge(
        code=f"sign-{number}",
        title=f"Sign {number}",
        cost="It costs something that takes many words to say. " * 3,
        evidence="line",
        remedies=(Remedy(kind=RemedyKind.ADVICE, text="Do this."),),
    )


def test_nothing_is_shown_when_nothing_is_slow() -> None:
    """A strip without signs is the rule."""
    assert badges_view(()) == BadgesView()


def test_one_is_named_and_more_are_counted() -> None:
    """The dearest stands in words beside the signs."""
    assert badges_view([badge(0)]).text == "Sign 0"
    assert badges_view([badge(0), badge(1), badge(2)]).text == "Sign 0 +2"


def test_a_tooltip_says_cost_and_remedy_in_lines_that_fit() -> None:
    """A plain tooltip is not folded by itself and would leave the screen."""
    view = badges_view([badge(number) for number in range(9)])

    assert len(view.signs) == MOST_SIGNS
    assert view.signs[1].name == "Slow path: Sign 1"
    lines = view.signs[0].tooltip.splitlines()
    assert lines[0] == "Sign 0"
    assert lines[-1] == "To do: Do this."
    assert max(len(line) for line in lines) <= 72
    assert "Sign 8" in view.tooltip
