"""The cards that a person chose."""

from typing import Any

import pytest

from studio.app import cards
from studio.app.settings import Settings
from studio.domain.control import UpRequest
from studio.domain.errors import HostLacks, NotFound
from studio.domain.plans import LedgerItem, LedgerPlace, Plan, PlannedCard, PlanVerdict
from tests.planner.plan_samples import card, host


def test_a_choice_is_kept_by_the_cards_own_ids() -> None:
    """Numbers move when a card is added; in the order that was given."""
    kept = cards.choice((1, 0), host(card(0), card(1)))

    assert kept["gpu_uuids"] == ("GPU-1", "GPU-0")
    assert kept["gpus"] == (1, 0)
    assert kept["gpu_names"] == {
        "GPU-0": "NVIDIA GeForce RTX 3090",
        "GPU-1": "NVIDIA GeForce RTX 3090",
    }


def test_cards_without_ids_are_kept_by_number() -> None:
    """It is the best that there is."""
    kept = cards.choice((0,), host(card(0, uuid=None)))

    assert kept == {"gpus": (0,), "gpu_uuids": None, "gpu_names": {}}
    assert cards.choice(None, host(card(0)))["gpu_uuids"] is None


def test_a_choice_follows_its_cards() -> None:
    """Card 0 of yesterday is card 1 today."""
    settings = Settings(gpus=(0,), gpu_uuids=("GPU-b",))

    moved = host(card(0, uuid="GPU-a"), card(1, uuid="GPU-b"))

    assert cards.remembered(settings, moved) == (1,)


def test_no_choice_is_no_choice() -> None:
    """The planner takes the best ones."""
    assert cards.remembered(Settings(), host(card(0))) is None
    assert cards.remembered(Settings(gpus=(0,)), host(card(0))) == (0,)


def test_a_card_that_is_gone_is_named_with_those_that_are_here() -> None:
    """Its cable, its power, or the machine it was moved to."""
    settings = Settings(gpu_uuids=("GPU-x",), gpu_names={"GPU-x": "Tesla V100"})

    with pytest.raises(HostLacks) as caught:
        cards.remembered(settings, host(card(0)))

    assert "Tesla V100 (GPU-x)" in caught.value.message
    assert "0 NVIDIA GeForce RTX 3090" in (caught.value.hint or "")


def test_a_number_that_no_card_has_is_named() -> None:
    """With the numbers that there are."""
    cards.require_known(None, host(card(0)))
    cards.require_known((0,), host(card(0)))
    with pytest.raises(NotFound) as caught:
        cards.require_known((0, 3), host(card(0)))

    assert "no card 3" in caught.value.message
    assert caught.value.code == "gpu-unknown"


def _plan(*items: LedgerItem, cards: tuple[int, ...] = (0, 1)) -> Plan:
    return Plan(
        model="27b",
        engine="vllm-0.31.0",
        host="two cards",
        verdict=PlanVerdict.FITS,
        cards=tuple(PlannedCard(index=index, name="RTX 4090") for index in cards),
        ledger=items,
    )


def _item(name: str, size: int | None, **more: Any) -> LedgerItem:
    return LedgerItem(name=name, title=name, bytes=size, source="a test", **more)


def test_what_a_start_needs_of_each_card_is_what_is_certain() -> None:
    """A start is refused for memory that it needs for certain, and for no guess."""
    plan = _plan(
        _item("weights", 100, error_bytes=10),
        _item("kv-pool", 50, gpu=1),
        _item("graphs", None),
        _item("free", 999),
        _item("not-ours", 999),
        _item("files", 999, place=LedgerPlace.DISK),
    )

    assert cards.needs(plan, UpRequest()) == {0: 90, 1: 140}


def test_a_start_that_may_spill_needs_nothing_for_certain() -> None:
    """And one without cards, or without figures, neither."""
    plan = _plan(_item("weights", 100))

    assert cards.needs(plan, UpRequest(allow_spill=True)) == {}
    assert cards.needs(_plan(_item("weights", 100), cards=()), UpRequest()) == {}
    assert cards.needs(_plan(_item("graphs", None)), UpRequest()) == {}
