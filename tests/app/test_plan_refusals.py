"""How a start is refused that does not fit."""

import msgspec
import pytest

from studio.app import plan_refusals
from studio.domain.errors import BadInput
from studio.domain.plans import PlannedCard, PlanRequest
from studio.domain.units import GIB
from tests.cli.plan_samples import FITS_IF, FITS_NOT
from tests.planner.plan_samples import card, host


def test_what_must_give_is_the_hint() -> None:
    """To be pasted after `weir up`."""
    error = plan_refusals.refusal(FITS_IF)

    assert error.code == "plan-does-not-fit"
    assert "One request takes 605 blocks" in error.message
    assert "`--set max_model_len=49152`" in (error.hint or "")
    assert error.data["settings"] == "--set max_model_len=49152"


def test_where_nothing_helps_no_setting_is_named() -> None:
    """Steps that are not enough are no advice."""
    error = plan_refusals.refusal(FITS_NOT)

    assert "--set" not in (error.hint or "")
    assert error.data["settings"] is None


def test_a_spill_has_a_code_and_a_way_of_its_own() -> None:
    """Only there may one insist."""
    spilling = msgspec.structs.replace(
        FITS_IF,
        headroom_bytes=-GIB,
        cards=(PlannedCard(index=0, name="x", line_bytes=22 * GIB),),
    )

    error = plan_refusals.refusal(spilling)

    assert error.code == "plan-spills"
    assert "--allow-spill" in (error.hint or "")


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        (PlanRequest(preset="a", model="b"), "plan-of-both"),
        (PlanRequest(engine="vllm-0.26.0"), "plan-without-model"),
        (PlanRequest(drafter="x"), "plan-without-model"),
        (PlanRequest(download_bytes_per_s=0.0), "request-invalid"),
    ],
)
def test_contradictions_are_named(request_: PlanRequest, code: str) -> None:
    """Which of the two should count is the person's to say."""
    with pytest.raises(BadInput) as caught:
        plan_refusals.check(request_)

    assert caught.value.code == code


def test_more_room_on_any_card_is_more_room() -> None:
    """An engine gives its cards back one after the other."""
    before = host(card(0, free=GIB), card(1, free=GIB))

    assert plan_refusals.has_more_room(host(card(0, free=GIB), card(1, free=2 * GIB)), before)
    assert not plan_refusals.has_more_room(before, before)
