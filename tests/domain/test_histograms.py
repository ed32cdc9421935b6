"""Histograms as records."""

import math

import msgspec

from studio.domain.histograms import Histogram


def test_the_last_bound_counts_all() -> None:
    """Everything is at most infinite."""
    assert Histogram(bounds=(0.1, math.inf), counts=(2.0, 5.0)).count == 5.0


def test_what_is_not_told_of_a_sum_is_not_zero() -> None:
    """A mean of it would be zero too."""
    found = msgspec.convert({"bounds": [1.0], "counts": [3.0]}, Histogram)

    assert found.sum is None
