"""A pinned pool as a setting of a start."""

import pytest

from studio.app.pin_overrides import PINNED, with_pin
from studio.app.settings import Pin
from studio.host.paths import Paths, bundled_root
from studio.presets.store import PresetStore
from tests.planner.plan_samples import card

PRESET = PresetStore(Paths(home=bundled_root() / "none", catalogue=bundled_root())).get("27b-mtp")
CARD = card(uuid="GPU-1")
PIN = Pin(bytes=5_000_000_000, runtime_id="r1", cards="GPU-1")


def test_a_pin_is_a_setting_unless_something_else_was_typed() -> None:
    """`--set` is about this start."""
    pins = {"27b-mtp": PIN}

    made = with_pin(pins, PRESET, {"max_num_seqs": "4"}, runtime_id="r1", cards=[CARD])
    typed = with_pin(pins, PRESET, {PINNED: "1G"}, runtime_id="r1", cards=[CARD])

    assert made == {"max_num_seqs": "4", PINNED: "5000000000"}
    assert typed == {PINNED: "1G"}


@pytest.mark.parametrize(
    ("runtime_id", "uuid"), [("r2", "GPU-1"), (None, "GPU-1"), ("r1", "GPU-2")]
)
def test_a_pin_is_of_one_runtime_and_its_cards(runtime_id: str | None, uuid: str) -> None:
    """Another engine takes other bytes beside the pool; another card has other ones to give."""
    made = with_pin({"27b-mtp": PIN}, PRESET, {}, runtime_id=runtime_id, cards=[card(uuid=uuid)])

    assert made == {}


def test_a_pin_of_two_cards_wants_both() -> None:
    """One of them missing is another start."""
    pins = {"27b-mtp": Pin(bytes=5, runtime_id="r1", cards="GPU-1+GPU-2")}

    assert with_pin(pins, PRESET, {}, runtime_id="r1", cards=[CARD]) == {}
    both = [CARD, card(index=1, uuid="GPU-2")]
    assert with_pin(pins, PRESET, {}, runtime_id="r1", cards=both) == {PINNED: "5"}


def test_without_a_pin_nothing_changes() -> None:
    """Nor for a preset that has no such knob."""
    demo = PresetStore(Paths(home=bundled_root() / "none", catalogue=bundled_root())).get(
        "v100-27b"
    )
    pins = {"v100-27b": PIN}

    assert with_pin({}, PRESET, {}, runtime_id="r1", cards=[CARD]) == {}
    if PINNED not in demo.knobs:
        assert with_pin(pins, demo, {}, runtime_id="r1", cards=[CARD]) == {}
