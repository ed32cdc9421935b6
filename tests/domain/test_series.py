"""Names of series, and the words that people type for them."""

import pytest

from studio.domain import series

KNOWN = ("pool_used_tokens", "spill_bytes", "decode_tokens_per_s", "card0.power_w", "card1.power_w")


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("decode_tokens_per_s", "tok/s"),
        ("pool_used_tokens", "tokens"),
        ("card0.power_w", "W"),
        ("card0.pcie_rx_bytes_per_s", "B/s"),
        ("spill.swap.bytes", "B"),
        ("ttft_s", "s"),
        ("card3.temperature_c", "°C"),
        ("card3.sm_clock_mhz", "MHz"),
        ("pool_used_share", "share"),
        ("tokens_per_step", "tok/step"),
        ("running", ""),
    ],
)
def test_the_unit_stands_in_the_name(name: str, unit: str) -> None:
    """So that a series that is added later needs no table."""
    assert series.unit_of(name) == unit


def test_words_names_and_patterns_choose_series_in_the_order_typed() -> None:
    """Each once, however often it is meant."""
    wanted = series.patterns(["tok/s", "POWER", "spill_bytes", "card*", "decode"])

    assert series.chosen(KNOWN, wanted) == (
        "decode_tokens_per_s",
        "card0.power_w",
        "card1.power_w",
        "spill_bytes",
    )


def test_a_typing_mistake_is_understood() -> None:
    """Words and names alike."""
    assert series.near("spil", KNOWN) == "spill"
    assert series.near("decode_tokens_per_", KNOWN) == "decode_tokens_per_s"
    assert series.near("xyzzy", KNOWN) is None
    assert series.is_word("tok/s")
    assert not series.is_word("spill_bytes")
