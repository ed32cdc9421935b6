"""Points for charts and rows for exports: bounded, quick, and honest about what is not known."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio.domain.history import MOST_POINTS, HistoryAnswer, SeriesPoints
from studio.monitor import history_read
from studio.monitor.history_read import Question
from studio.monitor.tiers import TIERS
from tests.monitor.history_samples import BEGIN, fill, new_file, reading

DAY = 86_400
HOUR = BEGIN - BEGIN % 3_600


@pytest.fixture
def file(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """Return an empty file."""
    connection = new_file(tmp_path / "history.db")
    yield connection
    connection.close()


def ask(
    file: sqlite3.Connection,
    since: float,
    until: float,
    *,
    now: float | None = None,
    points: int = MOST_POINTS,
    wanted: tuple[str, ...] = ("running",),
    least_step_s: float = 1.0,
) -> HistoryAnswer:
    """Return an answer."""
    question = Question(wanted, since, until, now or until, points, least_step_s)
    return history_read.answer(file, question)


def one(answer: HistoryAnswer) -> SeriesPoints:
    """Return the only series of an answer."""
    (found,) = answer.series
    return found


def test_the_last_minutes_come_second_by_second(file: sqlite3.Connection) -> None:
    """What a chart of the present shows."""
    fill(file, (reading(HOUR + s, running=float(s)) for s in range(900)))

    found = one(ask(file, HOUR + 300, HOUR + 900))

    assert [point[0] for point in found.points] == [float(HOUR + s) for s in range(300, 900)]
    assert [point[2] for point in found.points] == [float(s) for s in range(300, 900)]


def test_what_is_not_known_is_a_gap_and_zero_is_zero(file: sqlite3.Connection) -> None:
    """A chart that falls to zero where nothing was measured lies."""
    known = [*range(100), *range(200, 300)]
    fill(file, (reading(HOUR + s, running=0.0) for s in known))

    points = one(ask(file, HOUR, HOUR + 300)).points

    assert [point[1:] for point in points if point[0] == HOUR + 100] == [(None, None, None)]
    assert [point for point in points if point[1] is None] == [(HOUR + 100, None, None, None)]
    assert {point[2] for point in points if point[1] is not None} == {0.0}


def test_a_series_that_was_not_known_among_others_is_a_gap(file: sqlite3.Connection) -> None:
    """The engine did not answer; the machine's memory was known all the time."""
    fill(
        file,
        (
            reading(HOUR + s, memory=1.0, **({} if 50 <= s < 60 else {"running": 3.0}))
            for s in range(100)
        ),
    )

    assert len([p for p in one(ask(file, HOUR, HOUR + 100)).points if p[1] is None]) == 1
    whole = one(ask(file, HOUR, HOUR + 100, wanted=("memory",)))
    assert [p for p in whole.points if p[1] is None] == []


def test_a_peak_of_one_second_shows_in_any_span(file: sqlite3.Connection) -> None:
    """Coarser stretches keep the smallest and the largest value."""
    fill(file, (reading(HOUR + s, running=99.0 if s == 5_000 else 1.0) for s in range(9_000)))

    for span in (4_100, 9_000):
        points = one(ask(file, HOUR + 9_000 - span, HOUR + 9_000, points=100)).points
        assert len(points) <= 100
        assert max(point[3] or 0 for point in points) == 99
        assert min(point[1] or 0 for point in points) == 1


def test_what_a_coarse_tier_has_not_closed_comes_from_the_finer(
    file: sqlite3.Connection,
) -> None:
    """A chart of a month must not end an hour ago."""
    fill(file, (reading(HOUR + s, running=2.0) for s in range(0, 5_000, 5)))

    points = one(ask(file, HOUR - 30 * DAY, HOUR + 5_000)).points

    assert points[-1][0] + ask(file, HOUR - 30 * DAY, HOUR + 5_000).step_s > HOUR + 4_995
    assert {point[2] for point in points if point[1] is not None} == {2.0}


def test_readings_that_are_far_apart_are_no_row_of_gaps(file: sqlite3.Connection) -> None:
    """With a reading every ten seconds, a second without one says nothing."""
    fill(file, (reading(HOUR + s, running=1.0) for s in range(0, 900, 10)))

    points = one(ask(file, HOUR + 100, HOUR + 900, least_step_s=10.0)).points

    assert [point for point in points if point[1] is None] == []


@given(
    span=st.integers(1, 420 * DAY),
    age=st.integers(0, 420 * DAY),
    points=st.integers(2, 5_000),
    least=st.floats(0.2, 10),
)
def test_no_question_gets_more_points_than_allowed_or_reads_much(
    span: int, age: int, points: int, least: float
) -> None:
    """Whatever is asked: at most 2,000 points, and at most some ten thousand stretches read."""
    now = BEGIN + 1_000 * DAY
    until = now - age
    since = until - span
    question = Question(("x",), since, until, now, points, least)

    index, step_s = history_read.resolution(question, since, until)

    cells = (until - (since - since % step_s) - 1) // step_s + 1
    assert cells <= min(max(points, 2), MOST_POINTS)
    assert step_s % TIERS[index].step_s == 0
    assert span / TIERS[index].step_s <= 12_000


def test_an_export_comes_in_parts_that_leave_nothing_out(file: sqlite3.Connection) -> None:
    """Also across blocks and what is not closed yet."""
    fill(file, (reading(HOUR + s, running=float(s // 60)) for s in range(0, 3 * DAY, 20)))
    rows, since, parts = [], 0.0, 0

    while True:
        page = history_read.rows(file, ("*",), since, HOUR + 3 * DAY, 2)
        rows += page.rows
        parts += 1
        if page.next_at is None:
            break
        since = page.next_at

    assert parts == 3
    assert [row.at for row in rows] == [HOUR + 60.0 * minute for minute in range(3 * 1_440)]
    assert [row.values["running"][1] for row in rows] == [float(m) for m in range(3 * 1_440)]


def test_an_export_leaps_over_years_without_anything(file: sqlite3.Connection) -> None:
    """A clock that begins in 1970 at each start of the machine must not cost 20,000 questions."""
    fill(file, (reading(3_600 + s, running=1.0) for s in range(0, 7_200, 20)))
    fill(file, (reading(HOUR + s, running=2.0) for s in range(0, 7_200, 20)))
    rows, since, parts = [], 0.0, 0

    while parts < 10:
        page = history_read.rows(file, ("*",), since, HOUR + 7_300, 2)
        rows += page.rows
        parts += 1
        if page.next_at is None:
            break
        since = page.next_at

    assert parts == 2
    assert [row.values["running"][1] for row in rows] == [1.0] * 120 + [2.0] * 120


def test_a_clock_set_back_leaves_points_in_order(file: sqlite3.Connection) -> None:
    """What was written again lies in the tail, what comes after it in a block."""
    fill(file, (reading(HOUR + s, running=1.0) for s in range(1_300)))
    fill(file, (reading(HOUR + 500 + s, running=9.0) for s in range(40)))

    points = one(ask(file, HOUR, HOUR + 1_300, now=HOUR + 1_300)).points

    assert [point[0] for point in points] == sorted(point[0] for point in points)
    assert [point for point in points if point[1] is None] == []
    assert len([point for point in points if point[2] == 9.0]) == 40


@pytest.mark.parametrize(
    ("age_s", "step_s", "tier"),
    [(600, None, 0), (7_200, None, 1), (90 * DAY, None, 2), (900 * DAY, None, 2), (60, 700, 3)],
)
def test_an_export_is_as_fine_as_what_is_kept(age_s: int, step_s: int | None, tier: int) -> None:
    """Or as it is asked for."""
    assert history_read.export_tier(BEGIN - age_s, BEGIN, step_s, 1.0) == tier


def test_the_oldest_is_what_is_known_and_not_where_its_block_begins(
    file: sqlite3.Connection,
) -> None:
    """A block of hours begins up to fifty days before anything in it."""
    fill(file, (reading(HOUR + s, running=1.0) for s in range(0, 7_300, 20)))

    assert history_read.oldest(file, 2) == HOUR
    assert history_read.oldest(file, 4) == HOUR


def test_an_empty_file_has_nothing_to_say(file: sqlite3.Connection) -> None:
    """And does not fail on it."""
    assert ask(file, 0, 100).series == ()
    assert history_read.rows(file, ("*",), 0, 100, 2).rows == ()
    assert history_read.oldest(file, 4) is None
