"""Moments and days in words."""

import datetime

import pytest

from studio.ui.viewmodels import moments

NOON = datetime.datetime.fromisoformat("2026-11-29T12:00").astimezone().timestamp()
DAY_S = 86_400.0


@pytest.mark.parametrize(
    ("span_s", "texts"),
    [
        (60.0, ("11:59:00", "11:59:30", "12:00:00")),
        (900.0, ("11:45", "11:50", "11:55", "12:00")),
        (4 * 3_600.0, ("08:00", "10:00", "12:00")),
        (2 * DAY_S, ("28 Nov", "29 Nov")),
    ],
)
def test_marks_stand_at_round_local_times(span_s: float, texts: tuple[str, ...]) -> None:
    """A mark at 11:47:13 would have to be read; one at 11:45 is seen."""
    step_s, found = moments.mark_places(NOON - span_s, NOON, 3)

    assert tuple(moments.mark_words(at, step_s) for at in found) == texts
    assert all(NOON - span_s <= at <= NOON for at in found)


@pytest.mark.parametrize("most", [0, 1, 3, 40])
@pytest.mark.parametrize("span_s", [0.5, 60.0, 3_600.0, 90 * DAY_S])
def test_there_are_never_more_marks_than_there_is_room_for(span_s: float, most: int) -> None:
    """Texts that overlap are worse than none."""
    assert len(moments.mark_places(NOON - span_s, NOON, most)[1]) <= max(1, most) + 1


def test_a_span_names_its_second_day_only_where_there_is_one() -> None:
    """And seconds only where they tell two marks apart."""
    assert moments.span_words(NOON - 900, NOON) == "29 Nov, 11:45 – 12:00"
    assert moments.span_words(NOON - 60, NOON) == "29 Nov, 11:59:00 – 12:00:00"
    assert moments.span_words(NOON - DAY_S, NOON) == "28 Nov, 12:00 – 29 Nov, 12:00"


def test_what_is_no_instant_is_unknown() -> None:
    """As everywhere."""
    assert moments.parsed("yesterday") is None
    assert moments.moment_words(None) == "–"
    assert moments.year_words(None) == "–"
    assert moments.year_words(moments.local(NOON)) == "29 Nov 2026"
