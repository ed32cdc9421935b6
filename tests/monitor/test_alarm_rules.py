"""Limits: met at their value, easier while an alarm holds, never by what is not known."""

import pytest

from studio.monitor.alarm_rules import Limits
from tests.monitor.scenes import RULES

SWAP = next(rule for rule in RULES if rule.code == "spill-swap")
MEMORY = next(rule for rule in RULES if rule.code == "host-memory-low")


@pytest.mark.parametrize(
    ("share", "is_held", "holds"),
    [(1.0, False, True), (0.99, False, False), (0.6, True, True), (0.4, True, False)],
)
def test_what_is_too_much_eases_downwards(share: float, is_held: bool, holds: bool) -> None:
    """So that a figure at its limit does not flap."""
    limits = Limits(SWAP, is_held=is_held)

    assert limits.over("bytes", SWAP.limits["bytes"] * share) is holds


@pytest.mark.parametrize(
    ("share", "is_held", "holds"),
    [(1.0, False, True), (1.01, False, False), (1.3, True, True), (1.5, True, False)],
)
def test_what_is_too_little_eases_upwards(share: float, is_held: bool, holds: bool) -> None:
    """The other way round."""
    limits = Limits(MEMORY, is_held=is_held)

    assert limits.under("bytes", MEMORY.limits["bytes"] * share) is holds


def test_unknown_meets_no_limit() -> None:
    """Neither above nor below."""
    limits = Limits(MEMORY, is_held=True)

    assert not limits.over("bytes", None)
    assert not limits.under("bytes", None)
    assert limits.plain("bytes") == MEMORY.limits["bytes"]
