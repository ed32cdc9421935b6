"""The file → points for a chart, rows for an export, events. Reads little, whatever the span."""

import sqlite3
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from studio.domain import series as names
from studio.domain.history import (
    MOST_POINTS,
    HistoryAnswer,
    HistoryEvent,
    HistoryEventKind,
    HistoryPage,
    HistoryRow,
    SeriesPoints,
)
from studio.monitor import tiers
from studio.monitor.history_write import newest_of
from studio.monitor.tiers import TIERS, Stretch

_MOST_EVENTS = 1_000
PAGE_ROWS = 1_440
_LATE_S = 60
"""A tier is as good as its reach, less what the open stretch may lack."""

Connection = sqlite3.Connection
At = tuple[int, Stretch]


class Question(NamedTuple):
    """What is asked for; seconds since the epoch."""

    wanted: tuple[str, ...]
    """Patterns of series."""
    since: float
    until: float
    now: float
    points: int = MOST_POINTS
    least_step_s: float = 1.0
    """How far readings are apart: finer than this everything would be full of gaps."""


def answer(connection: Connection, question: Question) -> HistoryAnswer:
    """Return what is known over a span, in at most `points` points a series."""
    since, until = int(question.since), max(int(question.until), int(question.since) + 1)
    known = known_series(connection)
    index, step_s = resolution(question, since, until)
    # A whole number of stretches, so that every one falls into one point.
    begin = since - since % step_s
    found = []
    for name in names.chosen(known, question.wanted):
        stretches = points_of(connection, index, known[name], begin, until)
        points = tuple(_pointed(stretches, begin, step_s))
        found.append(SeriesPoints(name=name, unit=names.unit_of(name), points=points))
    return HistoryAnswer(
        since=begin,
        until=until,
        step_s=step_s,
        series=tuple(found),
        events=tuple(events(connection, since, until)),
        known=tuple(sorted(known)),
    )


def resolution(question: Question, since: int, until: int) -> tuple[int, int]:
    """Return the tier that is read, and the seconds of one point.

    The finest tier that reaches back far enough and is not finer than the readings; of those that
    give at least half as many points as are wanted the coarsest, since it is the shortest to read.
    """
    points = max(2, min(question.points, MOST_POINTS)) - 1  # the first one begins before the span
    age_s = question.now - since
    index = len(TIERS) - 1
    for place, tier in enumerate(TIERS):
        if tier.kept_s + _LATE_S >= age_s and tier.step_s >= question.least_step_s:
            index = place
            break
    wide_s = (until - since) / points
    while index + 1 < len(TIERS) and TIERS[index + 1].step_s <= 2 * wide_s:
        index += 1
    step_s = TIERS[index].step_s
    return index, max(1, -(-(until - since) // (points * step_s))) * step_s


def points_of(connection: Connection, index: int, series: int, since: int, until: int) -> list[At]:
    """Return the stretches of one series; what a coarser tier has not made yet, from the finer."""
    found = _stored(connection, index, series, since, until)
    if index == 0:
        return found
    step_s = TIERS[index].step_s
    newest = max(found[-1][0] if found else 0, newest_of(connection, index, until) or 0)
    closed = newest + step_s if newest else since
    if closed < until:
        found += points_of(connection, index - 1, series, max(since, closed), until)
    return found


def _stored(connection: Connection, index: int, series: int, since: int, until: int) -> list[At]:
    tier = TIERS[index]
    slots: dict[int, Stretch] = {}
    blocks = connection.execute(
        "SELECT begins, data FROM blocks WHERE tier = ? AND series = ? AND begins > ?"
        " AND begins < ? ORDER BY begins",
        (index, series, since - tier.block_s, until),
    )
    for begins, data in blocks:
        first, last = (since - begins) // tier.step_s, -((begins - until) // tier.step_s)
        for slot, one in tiers.unpack_block(data, tier.slots).stretches(first, last):
            slots[begins + slot * tier.step_s] = one
    hint, last, is_behind = 0, max(slots, default=0), False
    tail = connection.execute(
        "SELECT at, data FROM tail WHERE tier = ? AND at >= ? AND at < ?", (index, since, until)
    )
    for at, data in tail:
        stretch, hint = tiers.value_in_row(data, series, hint)
        if stretch is not None:
            slots[at] = stretch
            is_behind = is_behind or at < last  # the clock was set back
    return sorted(slots.items()) if is_behind else list(slots.items())


def _pointed(
    stretches: Sequence[At], begin: int, step_s: int
) -> Iterator[tuple[float, float | None, float | None, float | None]]:
    """Yield one point for each stretch of `step_s` that holds something, and one for each gap."""
    cells: dict[int, list[Stretch]] = {}
    for at, one in stretches:
        cells.setdefault((at - begin) // step_s, []).append(one)
    before: int | None = None
    for cell, some in cells.items():
        if before is not None and cell > before + 1:
            yield float(begin + (before + 1) * step_s), None, None, None
        before = cell
        whole = some[0] if len(some) == 1 else tiers.merged(some)
        if whole is not None:
            yield float(begin + cell * step_s), whole.low, whole.mean, whole.high


def events(connection: Connection, since: float, until: float) -> Iterator[HistoryEvent]:
    """Yield what happened, oldest first; of too many the newest."""
    rows = connection.execute(
        "SELECT at, kind, name, detail FROM events WHERE at >= ? AND at < ?"
        " ORDER BY number DESC LIMIT ?",
        (since, until, _MOST_EVENTS),
    ).fetchall()
    for at, kind, name, detail in sorted(rows, key=lambda row: float(row[0])):
        if kind in set(HistoryEventKind):
            yield HistoryEvent(at=at, kind=HistoryEventKind(kind), name=name, detail=detail)


def rows(
    connection: Connection,
    wanted: tuple[str, ...],
    since: float,
    until: float,
    index: int,
) -> HistoryPage:
    """Return a part of an export in the resolution of a tier, beginning at `since`."""
    known = known_series(connection)
    tier = TIERS[index]
    first = oldest(connection, index)
    if first is None:
        return HistoryPage(step_s=tier.step_s, known=tuple(sorted(known)))
    begin = max(int(since), first)
    begin -= begin % tier.step_s
    end = min(int(until) + 1, begin + PAGE_ROWS * tier.step_s)
    parts: dict[int, dict[str, list[Stretch]]] = {}
    for name in names.chosen(known, wanted):
        # What is not closed yet comes from a finer tier, several stretches for one row.
        for at, one in points_of(connection, index, known[name], begin, end):
            row = parts.setdefault(at - at % tier.step_s, {})
            row.setdefault(name, []).append(one)
    return HistoryPage(
        step_s=tier.step_s,
        rows=tuple(HistoryRow(at=at, values=_whole(parts[at])) for at in sorted(parts)),
        next_at=_next(connection, index, end) if end < until else None,
        known=tuple(sorted(known)),
    )


def _next(connection: Connection, index: int, at: int) -> float | None:
    """Return where something is kept at or after a moment: years may lie between two pages."""
    block = connection.execute(
        "SELECT min(begins) FROM blocks WHERE tier = ? AND begins > ?",
        (index, at - TIERS[index].block_s),
    ).fetchone()[0]
    tail = connection.execute(
        "SELECT min(at) FROM tail WHERE tier = ? AND at >= ?", (index, at)
    ).fetchone()[0]
    finer = _next(connection, index - 1, at) if index else None
    found = [one for one in (block, tail, finer) if one is not None]
    return float(max(at, min(found))) if found else None


def _whole(row: dict[str, list[Stretch]]) -> dict[str, tuple[float, float, float]]:
    merged = {name: tiers.merged(some) for name, some in row.items()}
    return {name: (one.low, one.mean, one.high) for name, one in merged.items() if one is not None}


def export_tier(since: float, now: float, step_s: float | None, least_step_s: float) -> int:
    """Return the tier of an export: the one asked for, else the finest that reaches so far."""
    if step_s is not None:
        return max(place for place, tier in enumerate(TIERS) if tier.step_s <= max(step_s, 1))
    for place, tier in enumerate(TIERS):
        if tier.kept_s + _LATE_S >= now - since and tier.step_s >= least_step_s:
            return place
    return TIERS.index(next(tier for tier in TIERS if tier.step_s == 60))


def oldest(connection: Connection, index: int) -> int | None:
    """Return when the oldest stretch that a tier has begins."""
    found = [
        connection.execute("SELECT min(begins) FROM blocks WHERE tier = ?", (index,)).fetchone()[0],
        connection.execute("SELECT min(at) FROM tail WHERE tier = ?", (index,)).fetchone()[0],
        oldest(connection, index - 1) if index else None,
    ]
    return min((int(one) for one in found if one is not None), default=None)


def known_series(connection: Connection) -> dict[str, int]:
    """Return every series and its number."""
    return {str(n): int(number) for number, n in connection.execute("SELECT * FROM series")}
