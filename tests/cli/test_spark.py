"""Charts of one line."""

import pytest

from studio.cli.spark import gauge, spark


def test_the_newest_value_stands_at_the_right() -> None:
    """Time goes from left to right, and now is the end."""
    assert spark([0.0, 4.0, 8.0], 5) == "  ▁▅█"
    assert spark([9.0, 0.0, 8.0], 2) == "▁█"


def test_unknown_is_a_gap_and_zero_is_a_line() -> None:
    """They are not the same."""
    assert spark([None, 0.0, None], 3) == " ▁ "
    assert spark([], 3) == "   "
    assert spark([1.0], 0) == ""


def test_a_scale_may_be_given() -> None:
    """A share is of one, however small it is."""
    assert spark([0.5], 1, most=1.0) == "▅"
    assert spark([2.0], 1, most=1.0) == "█"
    assert spark([0.0, 0.0], 2) == "▁▁"


def test_terminals_without_blocks_get_letters() -> None:
    """Latin-1 over SSH is not gone yet."""
    assert spark([0.0, 8.0], 2, is_plain=True) == "_#"
    assert gauge(0.5, 4, is_plain=True) == "##.."


@pytest.mark.parametrize(
    ("share", "shown"),
    [(0.0, "░░░░"), (0.01, "█░░░"), (0.5, "██░░"), (1.0, "████"), (7.0, "████"), (None, "    ")],
)
def test_a_gauge_is_filled_by_its_share(share: float | None, shown: str) -> None:
    """What is there shows, however little; what is not known is blank."""
    assert gauge(share, 4) == shown
    assert gauge(share, 0) == ""
