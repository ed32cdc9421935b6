"""Conditions over facts and settings: what is not known holds for nothing."""

from typing import Any

import msgspec
import pytest

from studio.domain.rules import Condition, Facts, Value
from studio.presets import conditions
from studio.presets.conditions import Settings

FACTS = Facts(
    runtime="cu13",
    gpus=(0, 1),
    is_wsl=False,
    card_bytes=24_000,
    compute_capability="8.6",
    has_nvlink=False,
    has_desktop=True,
    has_nvcc=False,
    memory_bytes=64_000,
)
VALUES: dict[str, Value] = {
    "tokens": 15, "block": 448, "interval": 896, "on": True, "dtype": "fp8", "bytes": 10,
}  # fmt: skip
SETTINGS = Settings(
    value=VALUES.get, default={**VALUES, "tokens": 7}.get, overrides={"tokens": 15, "on": True}
)


def holds(facts: Facts = FACTS, **condition: Any) -> bool:
    """Evaluate a condition as a file would say it."""
    return conditions.holds(msgspec.convert(condition, Condition), facts, SETTINGS)


def test_no_condition_always_holds() -> None:
    """A rule without `when` is for everybody."""
    assert holds()


@pytest.mark.parametrize(
    ("condition", "is_met"),
    [
        ({"wsl": False}, True),
        ({"wsl": True}, False),
        ({"cards": [2, 4]}, True),
        ({"cards": [1]}, False),
        ({"min_card_bytes": 24_000}, True),
        ({"min_card_bytes": 24_001}, False),
        ({"max_card_bytes": 24_000}, True),
        ({"max_card_bytes": 23_999}, False),
        ({"compute_capabilities": ["8.0", "8.6"]}, True),
        ({"compute_capabilities": ["8.9"]}, False),
        ({"min_compute_capability": "8.6", "max_compute_capability": "8.6"}, True),
        ({"min_compute_capability": "8.9"}, False),
        ({"max_compute_capability": "10.0"}, True),
        ({"nvlink": False}, True),
        ({"desktop": True, "nvcc": False}, True),
        ({"desktop": True, "nvcc": True}, False),
        ({"min_memory_bytes": 64_000}, True),
        ({"max_memory_bytes": 63_999}, False),
        ({"runtimes": ["cu13", "cu14"]}, True),
        ({"runtimes": ["sm70"]}, False),
    ],
)
def test_facts_are_compared(condition: dict[str, object], is_met: bool) -> None:
    """8.6 is less than 10.0 although the text is not."""
    assert holds(**condition) is is_met


@pytest.mark.parametrize(
    "condition",
    [
        {"wsl": True}, {"wsl": False}, {"nvlink": True}, {"nvlink": False}, {"desktop": False},
        {"nvcc": False}, {"nvcc": True}, {"min_card_bytes": 0}, {"max_card_bytes": 1 << 60},
        {"compute_capabilities": ["8.6"]}, {"min_compute_capability": "1.0"},
        {"min_memory_bytes": 0}, {"max_memory_bytes": 1 << 60},
    ],
)  # fmt: skip
def test_what_is_not_known_holds_for_nothing(condition: dict[str, object]) -> None:
    """A rule must never act on a guess, in neither direction."""
    assert not holds(Facts(runtime="cu13"), **condition)


@pytest.mark.parametrize(
    ("name", "test", "is_met"),
    [
        ("tokens", {"equals": 15}, True),
        ("tokens", {"equals": 7}, False),
        ("on", {"equals": True}, True),
        ("on", {"equals": 1}, False),
        ("tokens", {"one_of": [7, 15]}, True),
        ("tokens", {"none_of": [0, 7]}, True),
        ("tokens", {"none_of": [15]}, False),
        ("tokens", {"above": 7}, True),
        ("tokens", {"above": 15}, False),
        ("tokens", {"below": 16}, True),
        ("tokens", {"below": 15}, False),
        ("tokens", {"above": 7, "below": 9}, False),
        ("dtype", {"above": 1}, False),
        ("on", {"above": 0}, False),
        ("tokens", {"above_default": True}, True),
        ("bytes", {"above_default": True}, False),
        ("bytes", {"above_default": False}, True),
        ("dtype", {"above_default": True}, False),
        ("tokens", {"changed": True}, True),
        ("on", {"changed": True}, False),
        ("bytes", {"changed": False}, True),
        ("interval", {"no_multiple_of": "block"}, False),
        ("tokens", {"no_multiple_of": "block"}, True),
        ("tokens", {"no_multiple_of": "missing"}, False),
        ("tokens", {"given": True}, True),
        ("tokens", {"given": False}, False),
        ("missing", {"given": False}, True),
        ("missing", {"given": True}, False),
        ("missing", {"none_of": [1]}, False),
        ("missing", {"equals": 1}, False),
        ("missing", {"given": False, "equals": 1}, False),
        ("missing", {"changed": False}, False),
    ],
)
def test_settings_are_compared(name: str, test: dict[str, object], is_met: bool) -> None:
    """A setting without a value is asked nothing but whether it is there."""
    assert holds(settings={name: test}) is is_met
