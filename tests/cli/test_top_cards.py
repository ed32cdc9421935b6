"""Cards as rows."""

from studio.cli.cells import text_of, width_of
from studio.cli.top_cards import cards_lines, faults_lines
from studio.domain.cards import CardSample
from tests.cli.top_samples import card


def test_a_wide_terminal_shows_links_and_errors_too() -> None:
    """PCIe, memory clock and ECC matter to few, and then much."""
    narrow = "\n".join(text_of(line) for line in cards_lines((card(),), 80, 9))
    wide = "\n".join(text_of(line) for line in cards_lines((card(),), 140, 9))

    assert "PCIe" not in narrow
    for words in ("9501", "120.0 MiB/s", "3.0 MiB/s", "sw-power-cap"):
        assert words in wide


def test_what_the_driver_does_not_tell_is_a_dash() -> None:
    """Also half a pair."""
    bare = CardSample(index=0, name="card", memory_used_bytes=1 << 30, power_limit_w=250.0)

    shown = text_of(cards_lines((bare,), 80, 9)[1])

    assert "1.0/–" in shown
    assert "–/250" in shown
    assert shown.endswith("–")
    nothing = text_of(cards_lines((CardSample(index=0, name="card"),), 140, 9)[1])
    assert nothing.split()[2:] == ["–"] * 11


def test_a_card_that_is_held_back_by_nothing_says_so() -> None:
    """Which is not the same as not knowing."""
    assert text_of(cards_lines((card(throttle=()),), 80, 9)[1]).endswith("nothing")


def test_a_lost_card_is_said_in_words_and_marked() -> None:
    """Colour alone tells nothing."""
    row = cards_lines((card(is_lost=True),), 120, 9)[1]

    assert "lost: it answers no more" in text_of(row)
    assert row[0].style == "bad"
    assert cards_lines((card(ecc_uncorrected=2),), 120, 9)[1][0].style == "bad"


def test_a_long_name_gives_way_to_the_figures() -> None:
    """They are why one looks."""
    row = text_of(cards_lines((card(name="显卡" * 40),), 80, 9)[1])

    assert width_of(row) <= 80
    assert "22.1/24.0" in row


def test_faults_are_told_by_card() -> None:
    """In the driver's own words."""
    assert faults_lines((card(3, faults=("power: not supported",)),)) == ["3: power: not supported"]
    assert faults_lines(None) == []
