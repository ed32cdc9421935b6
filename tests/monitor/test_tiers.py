"""Stretches and blocks: what goes in comes out, and sums stay exact."""

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio.monitor import tiers
from studio.monitor.tiers import TIERS, Stretch

FLOATS = st.floats(min_value=-(2.0**100), max_value=2.0**100, width=32)


def stretches() -> st.SearchStrategy[Stretch]:
    """Return stretches whose mean lies between their ends."""
    return st.builds(
        lambda a, b, c, n: Stretch(*sorted((a, b, c)), n),
        FLOATS,
        FLOATS,
        FLOATS,
        st.integers(1, 65_535),
    )


@given(st.dictionaries(st.integers(1, 256), stretches(), max_size=40))
def test_a_row_comes_back_as_it_was(values: dict[int, Stretch]) -> None:
    """Every series of it, and each of them alone from any hint."""
    data = tiers.pack_row(values)

    assert tiers.unpack_row(data) == values
    hint = 7
    for series, one in values.items():
        found, hint = tiers.value_in_row(data, series, hint)
        assert found == one
    assert tiers.value_in_row(data, 300, hint)[0] is None


@given(st.dictionaries(st.integers(0, 359), stretches(), max_size=60))
def test_a_block_comes_back_as_it_was(slots: dict[int, Stretch]) -> None:
    """Also which of its slots nothing is known of."""
    columns = tiers.unpack_block(tiers.pack_block(slots, 360), 360)

    assert dict(columns.stretches(0, 360)) == slots
    assert dict(columns.stretches(-5, 10)) == {s: one for s, one in slots.items() if s < 10}
    assert dict(columns.stretches(350, 900)) == {s: one for s, one in slots.items() if s >= 350}


@pytest.mark.parametrize("data", [b"", b"nonsense", tiers.pack_block({}, 10)])
def test_what_is_no_block_is_said_to_be_none(data: bytes) -> None:
    """A damaged file must be noticed, not drawn."""
    with pytest.raises(ValueError, match="a block"):
        tiers.unpack_block(data, 360)


def test_a_mean_of_means_is_weighted() -> None:
    """Nine readings of 10 and one of 100 are 19, not 55."""
    merged = tiers.merged([Stretch(10, 10, 10, 9), Stretch(100, 100, 100, 1)])

    assert merged == Stretch(10, 19, 100, 10)


@given(st.lists(stretches(), min_size=1, max_size=20))
def test_a_merged_mean_stays_between_its_ends(parts: list[Stretch]) -> None:
    """Rounding must not put a mean above the largest value ever seen."""
    merged = tiers.merged(parts)

    assert merged is not None
    assert merged.low == min(one.low for one in parts)
    assert merged.high == max(one.high for one in parts)
    assert merged.low <= merged.mean <= merged.high


def test_nothing_merged_is_nothing() -> None:
    """A gap stays a gap."""
    assert tiers.merged([]) is None
    assert tiers.merged_rows([]) == {}


def test_numbers_too_large_for_four_bytes_are_the_largest_that_fit() -> None:
    """A counter gone mad must not stop the history."""
    huge = tiers.unpack_row(tiers.pack_row({1: Stretch(-1e300, math.inf, 1e300, 10**9)}))[1]

    assert huge.low == pytest.approx(-3.4e38)
    assert huge.high == pytest.approx(3.4e38)
    assert huge.readings == 65_535


def test_the_tiers_fit_into_one_another() -> None:
    """Each stretch is made of whole ones of the tier before, and lies in one block."""
    for finer, coarser in itertools.pairwise(TIERS):
        assert coarser.step_s % finer.step_s == 0
        assert finer.kept_s >= 2 * coarser.step_s
    for tier in TIERS:
        assert tier.block_s % tier.step_s == 0
    assert [tier.kept_s for tier in TIERS[:3]] == [3_600, 86_400, 400 * 86_400]
