"""Two figures beside each other."""

import pytest

from studio.benchmark.differences import DECODE, TTFT, beside, share_of
from studio.domain.bench import BenchVerdict


@pytest.mark.parametrize(
    ("value", "other", "verdict"),
    [
        (100.0, 100.0, BenchVerdict.SAME),
        (104.0, 100.0, BenchVerdict.SAME),
        (106.0, 100.0, BenchVerdict.BETTER),
        (94.0, 100.0, BenchVerdict.WORSE),
    ],
)
def test_a_speed_is_judged(value: float, other: float, verdict: BenchVerdict) -> None:
    """More is better, and a little is nothing."""
    [found] = beside(DECODE, "p", "P", value, other, "then", 0.05)

    assert found.verdict is verdict


def test_a_time_is_judged_the_other_way_round() -> None:
    """Less is better."""
    assert beside(TTFT, "p", "P", 1.0, 2.0, "then", 0.05)[0].verdict is BenchVerdict.BETTER
    assert beside(TTFT, "p", "P", 2.0, 1.0, "then", 0.05)[0].verdict is BenchVerdict.WORSE


@pytest.mark.parametrize(("value", "other"), [(None, 1.0), (1.0, None), (1.0, 0.0)])
def test_an_unknown_is_beside_nothing(value: float | None, other: float | None) -> None:
    """And is never taken for zero."""
    assert beside(DECODE, "p", "P", value, other, "then", 0.05) == []
    assert share_of(value, other) is None
