"""Numbers become words here and nowhere else, so every edge is a case."""

import pytest

from studio.domain import units
from studio.domain.units import GIB, KIB, MIB, UNKNOWN


@pytest.mark.parametrize(
    "text",
    [
        units.bytes_text,
        units.tokens_text,
        units.rate_text,
        units.percent_text,
        units.latency_text,
        units.duration_text,
    ],
)
def test_what_is_not_known_is_a_dash_and_never_zero(text) -> None:
    """A pool of `0 tokens` means trouble; one that nobody asked yet does not."""
    assert text(None) == UNKNOWN
    assert text(0) != UNKNOWN


@pytest.mark.parametrize(
    ("n", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (KIB, "1.0 KiB"),
        (8 * KIB, "8.0 KiB"),
        (MIB - 1, "1.0 MiB"),
        (93.4 * MIB, "93.4 MiB"),
        (GIB - 1, "1.00 GiB"),
        (5.2 * GIB, "5.20 GiB"),
        (1500 * GIB, "1,500.00 GiB"),
        (-3 * MIB, "-3.0 MiB"),
    ],
)
def test_bytes_never_show_1024_of_a_unit(n: float, text: str) -> None:
    """`1024.0 KiB` under a progress bar looks like a mistake of ours, and is one."""
    assert units.bytes_text(n) == text


@pytest.mark.parametrize(
    ("rate", "text"),
    [
        (0.0, "0.0 tok/s"),
        (0.04, "0.0 tok/s"),
        (31.25, "31.2 tok/s"),
        (99.94, "99.9 tok/s"),
        (99.96, "100 tok/s"),
        (131.6, "132 tok/s"),
        (12_345.0, "12,345 tok/s"),
    ],
)
def test_rates_have_three_digits_that_mean_something(rate: float, text: str) -> None:
    """A figure that jumps between `100.0` and `100` draws the eye for nothing."""
    assert units.rate_text(rate) == text


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0, "0 %"),
        (0.0004, "<1 %"),
        (0.00999, "<1 %"),
        (0.01, "1 %"),
        (0.425, "42 %"),
        (1, "100 %"),
    ],
)
def test_a_little_is_told_from_nothing(share: float, text: str) -> None:
    """One request in a large pool is not `0 %`."""
    assert units.percent_text(share) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0.0 s"),
        (4.25, "4.2 s"),
        (59.94, "59.9 s"),
        (59.96, "1 min 00 s"),
        (60, "1 min 00 s"),
        (82, "1 min 22 s"),
        (3599.4, "59 min 59 s"),
        (3599.6, "1 h 00 min"),
        (7500, "2 h 05 min"),
        (360_000, "100 h 00 min"),
    ],
)
def test_spans_never_show_sixty_of_a_unit(seconds: float, text: str) -> None:
    """`60.0 s` and `1 min 60 s` are how clocks of beginners look."""
    assert units.duration_text(seconds) == text


def test_tokens_and_latencies_are_read_at_a_glance() -> None:
    """The pool has six digits."""
    assert units.tokens_text(68_605) == "68,605 tokens"
    assert units.latency_text(0.1666) == "0.17 s"


def test_few_things_are_counted_in_words() -> None:
    """`4 card(s)` is no language of anybody."""
    assert units.counted(1, "card", "cards") == "one card"
    assert units.counted(4, "card", "cards") == "four cards"
    assert units.counted(0, "card", "cards") == "no cards"
    assert units.counted(1600, "card", "cards") == "1,600 cards"
