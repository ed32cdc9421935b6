"""Percentiles that may be added up."""

from hypothesis import given
from hypothesis import strategies as st

from studio.gateway.histogram import Histogram

values = st.lists(st.floats(1e-4, 1e6), min_size=1, max_size=200)


def filled(numbers) -> Histogram:
    """Return a histogram of some values."""
    made = Histogram()
    for number in numbers:
        made.add(number)
    return made


@given(values, st.sampled_from([0.05, 0.5, 0.95, 1.0]))
def test_a_percentile_is_at_most_5_percent_off(numbers, share):
    """Enough to compare an evening with the one before."""
    ordered = sorted(numbers)
    exact = next(one for n, one in enumerate(ordered, 1) if n >= share * len(ordered))

    assert abs(filled(numbers).quantile(share) / exact - 1) < 0.051


@given(values, values)
def test_two_hours_added_are_as_one(first, second):
    """That is what they are kept for."""
    both = filled(first)
    both.merge(filled(second))

    assert both.text() == filled([*first, *second]).text()


@given(values)
def test_what_is_written_is_read_again(numbers):
    """Through the database and back."""
    made = filled(numbers)

    assert Histogram.read(made.text()).text() == made.text()


def test_nothing_has_no_percentile_and_nonsense_is_no_value():
    """An unknown is no zero."""
    assert Histogram().quantile(0.5) is None
    assert filled([-1.0, float("nan"), float("inf")]).quantile(0.5) is None
