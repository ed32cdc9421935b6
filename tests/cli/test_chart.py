"""A small chart: peaks stay, gaps are blank, zero is not."""

import pytest

from studio.cli.chart import BLOCKS, PLAIN, Point, chart


def drawn(
    values: list[float | None], *, width: int | None = None, marks: str = BLOCKS
) -> list[str]:
    """Return a chart of one value a second, without labels."""
    points: list[Point] = [(float(s), value, value, value) for s, value in enumerate(values)]
    return chart(
        points,
        since=0,
        until=float(len(values)),
        width=width or len(values) or 5,
        height=2,
        label=lambda _value: "",
        marks=marks,
    )


def test_a_rise_is_a_rise() -> None:
    """Rows from the top."""
    assert drawn([0, 1, 2, 3, 4]) == ["    ▄█".rstrip(), " ▁▄███"]


def test_a_gap_is_blank_and_zero_is_a_line() -> None:
    """They must never look alike."""
    assert drawn([4, None, 0, 4])[1] == " █ ▁█"


def test_a_peak_survives_in_a_narrow_chart() -> None:
    """People look for peaks."""
    top = drawn([1.0] * 50 + [9.0] + [1.0] * 49, width=10)[0]

    assert top.count("█") == 1


def test_points_that_are_far_apart_are_no_gaps() -> None:
    """Ten minutes of minutes on a screen of a hundred columns."""
    points: list[Point] = [(60.0 * n, 1.0, 1.0, 1.0) for n in range(10)]
    rows = chart(points, since=0, until=600, width=100, height=2, label=str)

    assert rows[0].count("█") == 100


@pytest.mark.parametrize("values", [[], [None, None]])
def test_nothing_known_is_no_chart(values: list[float | None]) -> None:
    """Not an empty frame."""
    assert drawn(values) == []


def test_values_that_do_not_move_and_negative_ones_are_drawn() -> None:
    """Without dividing by nothing."""
    assert drawn([5, 5])[0] == " ██"
    assert drawn([0, 0])[1] == " ▁▁"
    assert drawn([-4, 4])[1].startswith(" ▁")


def test_plain_marks_do_for_a_terminal_without_blocks() -> None:
    """Nothing beyond ASCII."""
    text = "".join(drawn([0, 2, None, 4], marks=PLAIN))

    assert text.isascii()
    assert "#" in text


def test_labels_stand_at_both_ends_of_the_scale() -> None:
    """The largest value at the top, zero at the foot."""
    rows = chart(
        [(0.0, 1.0, 1.0, 80.0)], since=0, until=1, width=3, height=3, label=lambda v: f"{v:g}"
    )

    assert rows[0].startswith("80 ")
    assert rows[2].startswith(" 0 ")
