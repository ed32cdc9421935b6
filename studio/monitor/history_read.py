"""The file → points for a chart, rows for an export, events. Reads little, whatever the span."""

import itertools
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
At = tuple[int, float, float, float, int]
"""A moment, and what a `Stretch` holds: plain, since there may be ten thousand of them."""


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
    found: list[At] = []
    blocks = connection.execute(
        "SELECT begins, data FROM blocks WHERE tier = ? AND series = ? AND begins > ?"
        " AND begins < ? ORDER BY begins",
        (index, series, since - tier.block_s, until),
    )
    for begins, data in blocks:
        first = max(0, -((begins - since) // tier.step_s))
        last = min(tier.slots, -((begins - until) // tier.step_s))
        moments = range(begins + first * tier.step_s, begins + last * tier.step_s, tier.step_s)
        block = tiers.unpack_block(data, tier.slots)
        stretches = zip(
            moments,
            block.low[first:last],
            block.mean[first:last],
            block.high[first:last],
            block.readings[first:last],
            strict=True,
        )
        found += [one for one in stretches if one[4]]
    last_at, hint = found[-1][0] if found else -1, 0
    tail: list[At] = []
    rows = connection.execute(
        "SELECT at, data FROM tail WHERE tier = ? AND at >= ? AND at < ?", (index, since, until)
    )
    for at, data in rows:
        stretch, hint = tiers.value_in_row(data, series, hint)
        if stretch is not None:
            tail.append((at, *stretch))
    if tail and tail[0][0] <= last_at:  # the clock was set back: what was written last counts
        return sorted({one[0]: one for one in (*found, *tail)}.values())
    return found + tail


def _pointed(
    stretches: Sequence[At], begin: int, step_s: int
) -> Iterator[tuple[float, float | None, float | None, float | None]]:
    """Yield one point for each stretch of `step_s` that holds something, and one for each gap.

    In one pass over plain numbers: there may be ten thousand of them.
    """
    before = cell = -1
    low = high = total = 0.0
    count = 0
    for at, one_low, one_mean, one_high, readings in stretches:
        place = (at - begin) // step_s
        if place != cell:
            if count:
                yield from _point(before, cell, begin, step_s, low, total / count, high)
                before = cell
            cell, low, high, total, count = place, one_low, one_high, 0.0, 0
        elif one_low < low:
            low = one_low
        if one_high > high:
            high = one_high
        total += one_mean * readings
        count += readings
    if count:
        yield from _point(before, cell, begin, step_s, low, total / count, high)


def _point(
    before: int, cell: int, begin: int, step_s: int, low: float, mean: float, high: float
) -> Iterator[tuple[float, float | None, float | None, float | None]]:
    """Yield a point, after the gap between it and the one before, if there is one."""
    if 0 <= before < cell - 1:
        yield float(begin + (before + 1) * step_s), None, None, None
    yield float(begin + cell * step_s), low, min(max(mean, low), high), high


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
    begin = start(connection, index, int(since))
    if begin is None:
        return HistoryPage(step_s=tier.step_s, known=tuple(sorted(known)))
    begin -= begin % tier.step_s
    end = min(int(until) + 1, begin + PAGE_ROWS * tier.step_s)
    parts: dict[int, dict[str, list[Stretch]]] = {}
    for name in names.chosen(known, wanted):
        # What is not closed yet comes from a finer tier, several stretches for one row.
        stretches = points_of(connection, index, known[name], begin, end)
        for at, low, mean, high, readings in stretches:
            row = parts.setdefault(at - at % tier.step_s, {})
            row.setdefault(name, []).append(Stretch(low, mean, high, readings))
    following = _next(connection, index, end)
    return HistoryPage(
        step_s=tier.step_s,
        rows=tuple(HistoryRow(at=at, values=_whole(parts[at])) for at in sorted(parts)),
        next_at=following if following is not None and following < until else None,
        known=tuple(sorted(known)),
    )


def start(connection: Connection, index: int, since: int) -> int | None:
    """Return where an export begins that was asked for from `since` on; None: nothing is there."""
    near = _next(connection, index, since)
    if near is None or near <= since:
        return near
    return max(near, oldest(connection, index) or near)


def _next(connection: Connection, index: int, at: int) -> int | None:
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
    return max(at, min(found)) if found else None


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
    tail = connection.execute("SELECT min(at) FROM tail WHERE tier = ?", (index,)).fetchone()[0]
    found = [tail, _oldest_in_blocks(connection, index)]
    if index:
        found.append(oldest(connection, index - 1))
    return min((int(one) for one in found if one is not None), default=None)


def _oldest_in_blocks(connection: Connection, index: int) -> int | None:
    """Return the first known stretch of the oldest blocks, which begin before they hold one."""
    tier = TIERS[index]
    blocks = connection.execute(
        "SELECT begins, data FROM blocks WHERE tier = :tier"
        " AND begins = (SELECT min(begins) FROM blocks WHERE tier = :tier)",
        {"tier": index},
    )
    firsts = [
        begins + slot * tier.step_s
        for begins, data in blocks
        for slot, _one in itertools.islice(
            tiers.unpack_block(data, tier.slots).stretches(0, tier.slots), 1
        )
    ]
    return min(firsts, default=None)


def known_series(connection: Connection) -> dict[str, int]:
    """Return every series and its number."""
    return {str(n): int(number) for number, n in connection.execute("SELECT * FROM series")}
