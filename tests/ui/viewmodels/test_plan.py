"""A plan in the window's words: figures are the planner's own, only shares are made here."""

import msgspec
import pytest

from studio.domain.errors import ErrorInfo
from studio.domain.plans import PlanVerdict, Reduction
from studio.ui.viewmodels.plan import plan_view
from studio.ui.viewmodels.words import Shape
from tests.ui.fake_serving import recorded_plan


def test_the_bar_is_as_long_as_the_card_and_headroom_comes_before_what_others_hold() -> None:
    """The line of spill would stand in the wrong place otherwise."""
    view = plan_view(recorded_plan("card-wsl2"), None, is_planning=False)

    (ledger,) = view.ledgers
    names = [segment.name for segment in ledger.segments]
    assert names[0] == "weights"
    assert names[-2:] == ["free", "not-ours"]
    assert [one.name for one in ledger.segments if one.is_free] == ["free"]
    before = sum(one.share for one in ledger.segments[:-1])
    assert ledger.line == pytest.approx(before, abs=0.001)
    assert sum(one.share for one in ledger.segments) == pytest.approx(1.0, abs=0.01)


def test_cards_alike_share_one_bar_and_an_error_bar_is_told() -> None:
    """Four bars that say the same would hide that they do."""
    view = plan_view(recorded_plan("four-cards"), None, is_planning=False)

    assert [one.title.split(",")[0] for one in view.ledgers] == ["Each of 4 cards"]
    assert dict(view.figures)["Pool"].text == "426,290 ± 77,582 tokens"


def test_cards_of_different_size_have_a_bar_each() -> None:
    """The smallest one decides; it has to be seen."""
    plan = recorded_plan("four-cards")
    small = msgspec.structs.replace(plan.cards[0], total_bytes=12 << 30)
    view = plan_view(
        msgspec.structs.replace(plan, cards=(small, *plan.cards[1:])), None, is_planning=False
    )

    assert [one.title[:6] for one in view.ledgers] == ["Card 0", "Card 1", "Card 2", "Card 3"]
    assert view.ledgers[0].line == pytest.approx((12 << 30) / sum_of(plan))


def sum_of(plan: object) -> int:
    """Return the bytes of the card's ledger."""
    return sum(one.bytes or 0 for one in plan.ledger if one.place == "card")


def test_without_a_card_the_memory_is_shown_without_a_line() -> None:
    """A processor spills nowhere that a plan knows."""
    (ledger,) = plan_view(recorded_plan("processor"), None, is_planning=False).ledgers

    assert ledger.title == "Memory"
    assert ledger.line is None


@pytest.mark.parametrize(
    ("verdict", "shape"),
    [
        (PlanVerdict.FITS, Shape.TICK),
        (PlanVerdict.FITS_IF, Shape.HALF),
        (PlanVerdict.DOES_NOT_FIT, Shape.CROSS),
        (PlanVerdict.UNKNOWN, Shape.RING),
    ],
)
def test_every_verdict_has_a_shape_and_its_reasons(verdict: PlanVerdict, shape: Shape) -> None:
    """Colour alone tells nobody with a red-green weakness."""
    change = Reduction(
        knob="max_model_len",
        value="1024",
        title="Shorter context: 1,024 tokens",
        costs="Longer talks are refused.",
        is_enough=True,
    )
    plan = msgspec.structs.replace(
        recorded_plan("processor"), verdict=verdict, reasons=("Too small.",), reductions=(change,)
    )

    view = plan_view(plan, None, is_planning=False)

    assert view.shape is shape
    assert view.notes == (
        "Too small.",
        "Shorter context: 1,024 tokens. Longer talks are refused.",
    )


def test_a_refusal_and_an_unknown_are_told_as_such() -> None:
    """Unknown is no zero, and a refused plan says why."""
    refused = plan_view(None, ErrorInfo(code="a", message="No.", hint="Do."), is_planning=False)
    bare = msgspec.structs.replace(recorded_plan("processor"), seats=None, pool_tokens=None)

    assert refused.notes == ("No.", "Do.")
    figures = dict(plan_view(bare, None, is_planning=False).figures)
    assert (figures["Pool"].text, figures["Seats"].text) == ("–", "–")
    assert figures["Seats"].tooltip != ""
