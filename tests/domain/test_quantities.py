"""Whole numbers as people type them."""

import pytest

from studio.domain.quantities import whole_number


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("4096", 4096),
        ("4_096", 4096),
        ("32k", 32_000),
        ("32K", 32_768),
        (" 150k ", 150_000),
        ("1g", 10**9),
        ("4G", 4 << 30),
        ("4GiB", 4 << 30),
        ("4gib", 4 << 30),
        ("5.2G", 5_583_457_485),
        ("-1", -1),
        ("", None),
        ("k", None),
        ("1.5", None),
        ("1 2", None),
        ("1e3", None),
        ("9" * 101, None),
    ],
)
def test_a_number_means_what_the_engine_reads(text: str, number: int | None) -> None:
    """`32k` that is 32,768 in one place and 32,000 in another plans another pool than it starts."""
    assert whole_number(text) == number
