"""Quantiles from two readings of a histogram, against values that are known."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio.domain.histograms import Histogram
from studio.monitor import quantiles

BOUNDS = (0.01, 0.025, 0.05, 0.075, 0.1, math.inf)


def counted(values: list[float], bounds: tuple[float, ...] = BOUNDS) -> Histogram:
    """Return the histogram of these values."""
    counts = tuple(float(sum(value <= bound for value in values)) for bound in bounds)
    return Histogram(bounds=bounds, counts=counts, sum=sum(values))


def test_values_are_spread_evenly_inside_a_bucket() -> None:
    """As Prometheus does: four values between 10 and 25 ms, half of them in the lower half."""
    values = counted([0.011, 0.012, 0.02, 0.024])

    assert quantiles.quantile(0.5, values) == pytest.approx(0.0175)
    assert quantiles.quantile(1.0, values) == pytest.approx(0.025)


def test_the_first_bucket_begins_at_zero() -> None:
    """Not at its upper bound, nor below zero."""
    assert quantiles.quantile(0.5, counted([0.001, 0.002])) == pytest.approx(0.005)


def test_a_value_beyond_every_bound_counts_as_the_last_bound() -> None:
    """How far beyond is not told, and infinity is no answer."""
    assert quantiles.quantile(0.95, counted([5.0, 7.0])) == 0.1


def test_nothing_has_no_quantile() -> None:
    """Unknown, not zero."""
    assert quantiles.quantile(0.5, counted([])) is None
    assert quantiles.quantile(0.5, Histogram(bounds=(math.inf,), counts=(3.0,))) is None


def test_only_what_came_between_two_readings_counts() -> None:
    """A slow hour ago must not hide a fast minute."""
    old = counted([0.09] * 1000)
    new = counted([0.09] * 1000 + [0.011] * 10)

    between = quantiles.between(old, new)

    assert between is not None
    assert between.count == 10
    assert between.sum == pytest.approx(0.11)
    assert quantiles.quantile(0.95, between) == pytest.approx(0.02425)


def test_a_restart_and_other_bounds_are_not_comparable() -> None:
    """Counts that fell; buckets of another version."""
    assert quantiles.between(counted([0.02, 0.02]), counted([0.02])) is None
    assert quantiles.between(counted([0.02], (0.05, math.inf)), counted([0.02, 0.03])) is None


def test_buckets_that_were_read_a_moment_apart_still_rise() -> None:
    """The engine counts on while it prints: a later bucket may lack what an earlier one has."""
    old = Histogram(bounds=(1.0, 2.0, math.inf), counts=(0.0, 0.0, 0.0))
    new = Histogram(bounds=(1.0, 2.0, math.inf), counts=(5.0, 4.0, 5.0))

    between = quantiles.between(old, new)

    assert between is not None
    assert between.counts == (5.0, 5.0, 5.0)


@given(
    st.lists(st.floats(0.0001, 0.2), min_size=1, max_size=200),
    st.floats(0.01, 1.0),
)
def test_a_quantile_is_never_further_off_than_its_bucket(values: list[float], share: float) -> None:
    """That is all that such a histogram can promise."""
    found = quantiles.quantile(share, counted(values))
    exact = sorted(values)[max(0, math.ceil(share * len(values)) - 1)]
    edges = (0.0, *BOUNDS[:-1])
    lower = max(edge for edge in edges if edge < exact)
    upper = min((edge for edge in BOUNDS if edge >= exact), default=math.inf)

    assert found is not None
    assert lower <= found <= min(upper, BOUNDS[-2]) + 1e-12


def test_quantiles_rise_with_their_share() -> None:
    """p95 below p50 would be seen at once."""
    chance = random.Random(5)
    values = counted([chance.expovariate(30) for _ in range(500)])

    found = [quantiles.quantile(share / 100, values) or 0.0 for share in range(1, 101)]

    assert found == sorted(found)
