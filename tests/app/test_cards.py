"""The cards that a person chose."""

import pytest

from studio.app import cards
from studio.app.settings import Settings
from studio.domain.errors import HostLacks, NotFound
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
