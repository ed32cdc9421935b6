"""The verdict and what stands beside it."""

import pytest

from studio.domain.plans import HeadroomOutcome, HeadroomRung, PlanVerdict, Reduction
from studio.domain.units import MIB
from studio.planner import plan as plans
from studio.planner.outcome import Lack, Outcome
from studio.planner.plan import About
from tests.planner.plan_samples import outcome, short

ABOUT = About(model="A model", engine="vllm-0.32.0", host="a machine")


def giving(is_enough: bool | None) -> Reduction:
    """Return one reduction."""
    return Reduction(
        knob="vision", value="false", title="No images", costs="x", is_enough=is_enough
    )


@pytest.mark.parametrize(
    ("found", "given_up", "verdict"),
    [
        (outcome({}), (), PlanVerdict.FITS),
        (outcome({}, short(Lack.POOL)), (giving(True),), PlanVerdict.FITS_IF),
        (outcome({}, short(Lack.POOL)), (giving(False),), PlanVerdict.DOES_NOT_FIT),
        (outcome({}, short(Lack.RULE)), (), PlanVerdict.DOES_NOT_FIT),
        (outcome({}, unknown=("no card",)), (), PlanVerdict.UNKNOWN),
        (outcome({}, short(Lack.POOL), unknown=("x",)), (), PlanVerdict.DOES_NOT_FIT),
        (outcome({}, short(Lack.CARD, is_certain=False)), (), PlanVerdict.FITS),
        (outcome({}, short(Lack.POOL, is_certain=False)), (giving(True),), PlanVerdict.FITS_IF),
        (outcome({}, short(Lack.POOL, is_certain=False)), (), PlanVerdict.UNKNOWN),
        (outcome({}, short(Lack.POOL), unknown=("x",)), (giving(None),), PlanVerdict.DOES_NOT_FIT),
    ],
)
def test_the_verdict_follows_from_what_is_sure(
    found: Outcome, given_up: tuple[Reduction, ...], verdict: PlanVerdict
) -> None:
    """What is sure to be in the way counts more than what nobody knows."""
    assert plans.verdict(found, given_up) is verdict


def test_reasons_name_what_is_in_the_way_and_warnings_what_may_be() -> None:
    """A doubt among the reasons would read like a refusal."""
    found = plans.plan(
        ABOUT, outcome({}, short(Lack.POOL, 3), short(Lack.CARD, 2, is_certain=False))
    )

    assert found.reasons == ("3 of pool are missing.",)
    assert found.warnings == ("2 of card are missing.",)


def test_where_a_rule_is_broken_nothing_is_tried() -> None:
    """No shorter context makes a card appear."""

    def evaluate(_texts: object) -> Outcome:
        raise AssertionError

    broken = outcome({}, short(Lack.RULE), short(Lack.POOL))

    assert plans.must_give(broken, evaluate, {}, ()) == ()
    assert plans.must_give(outcome({}), evaluate, {}, ()) == ()


@pytest.mark.parametrize(
    ("size", "rate", "seconds"),
    [(None, 5.0, None), (0, None, 0.0), (100, None, None), (100, 50.0, 2.0)],
)
def test_a_download_takes_as_long_as_the_line_needs(
    size: int | None, rate: float | None, seconds: float | None
) -> None:
    """Without a known speed the time is not known, and not zero."""
    about = About(model="m", engine="e", host="h", download_bytes=size, download_bytes_per_s=rate)

    assert plans.plan(about, outcome({})).download_s == seconds


def test_too_little_left_is_warned_of() -> None:
    """The rung that killed an engine stands in the plan beside the figure."""
    rung = HeadroomRung(
        bytes=400 * MIB, outcome=HeadroomOutcome.DIES, case="a burst", source="a test"
    )
    about = About(model="m", engine="e", host="h", rungs=(rung,))

    assert plans.plan(about, outcome({}, headroom_bytes=500 * MIB)).warnings == ()
    assert "400.0 MiB left died" in plans.plan(about, outcome({}, headroom_bytes=1)).warnings[0]
