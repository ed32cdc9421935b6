"""Lines of a terminal, measured in columns."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio.cli.cells import Span, columns, cropped, fitted, line, padded, text_of, width_of


@pytest.mark.parametrize(
    ("text", "width"), [("abc", 3), ("显卡", 4), ("e\u0301", 1), ("", 0), ("█▁–", 3)]
)
def test_width_is_counted_in_columns(text: str, width: int) -> None:
    """A wide character takes two, a combining one none."""
    assert width_of(text) == width


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [
        ("abcdef", 4, "abc…"),
        ("abcd", 4, "abcd"),
        ("显卡显卡", 5, "显卡…"),
        ("显卡显卡", 4, "显…"),
        ("abc", 0, ""),
        ("a\x1b[31mb\tc\nd", 12, "a[31mb c d"),
    ],
)
def test_what_is_too_long_is_cut_and_marked(text: str, width: int, shown: str) -> None:
    """Never in the middle of a wide character, and never with what moves the cursor."""
    assert cropped(text, width) == shown


@given(st.text(max_size=40), st.integers(0, 30))
def test_nothing_is_ever_wider_than_it_may(text: str, width: int) -> None:
    """One column too many wraps, and the whole screen is off by a line."""
    assert width_of(cropped(text, width)) <= width
    assert width_of(padded(text, width)) == width
    assert width_of(text_of(fitted([Span(text), Span(text, "bad")], width))) <= width


def test_columns_stand_below_each_other() -> None:
    """The flexible one gives what the others need."""
    rows = [("#", "card", "busy"), ("0", "x" * 60, "98 %"), ("1", "显卡" * 9, "7 %")]

    lines = columns(rows, (True, False, True), 1, 40)

    assert [width_of(one) for one in lines] == [40, 40, 40]
    assert lines[1].endswith("…  98 %")
    assert columns([], (), 0, 40) == []


def test_columns_of_a_narrow_terminal_are_cut() -> None:
    """Rather than wrapped."""
    lines = columns([("a" * 30, "b" * 30)], (False, False), 0, 20)

    assert [width_of(one) for one in lines] == [20]


def test_a_line_is_made_of_texts_and_spans() -> None:
    """Most pieces have no style."""
    assert line("a", Span("b", "bad")) == (Span("a"), Span("b", "bad"))
