"""Readings into the file: by the second, and from those into everything coarser.

Stretches are appended to the tail of their tier; a tail becomes blocks when its span is over. All
that one batch changes is one transaction, and nothing needed is in memory only but the batch.
Where the clock was set back, the newest reading of a moment is the one that counts.
"""

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from studio.domain.history import HistoryEvent
from studio.monitor import tiers
from studio.monitor.tiers import MOST_SERIES, TIERS, Stretch, Tier

MOST_EVENTS = 20_000
MOST_BYTES = 256 << 20
"""The file never grows beyond it unless told otherwise; the oldest minutes go first."""
_TIDY_SLACK = 0.9

Connection = sqlite3.Connection


class Reading(NamedTuple):
    """What was known in one second, by the name of its series."""

    at: int
    values: Mapping[str, Stretch]


class Writer:
    """Adds readings to one open file. Everything of it runs in the caller's transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.series = {str(name): int(number) for number, name in _all_series(connection)}
        self._open: list[int | None] = [None] * len(TIERS)
        """Of each tier the begin of the stretch that is not over."""
        self._spans: list[int | None] = [None] * len(TIERS)
        """Of each tier the begin of the block that its tail becomes; None: not looked at yet."""
        self.is_tidy = True
        newest = newest_of(connection, 0)
        if newest is not None:
            # Go on where the last process ended, which may have been killed.
            self._open = [None, *(_begin(newest, tier.step_s) for tier in TIERS[1:])]

    def add(self, readings: Iterable[Reading]) -> None:
        """Write readings, in the order in which they were made."""
        for reading in readings:
            for index in range(1, len(TIERS)):
                begin = _begin(reading.at, TIERS[index].step_s)
                before = self._open[index]
                if before is not None and before != begin:
                    self._close(index, before)
                self._open[index] = begin
            numbered = self._numbered(reading.values)
            if numbered:
                self._append(0, reading.at, numbered)

    def note(self, events: Iterable[HistoryEvent]) -> None:
        """Write events; beyond `MOST_EVENTS` the oldest go."""
        rows = [(one.at, one.kind.value, one.name, one.detail) for one in events]
        if not rows:
            return
        self._connection.executemany(
            "INSERT INTO events (at, kind, name, detail) VALUES (?, ?, ?, ?)", rows
        )
        self._connection.execute(
            "DELETE FROM events WHERE number <= (SELECT max(number) FROM events) - ?",
            (MOST_EVENTS,),
        )

    def _numbered(self, values: Mapping[str, Stretch]) -> dict[int, Stretch]:
        found = {}
        for name, one in values.items():
            number = self.series.get(name)
            if number is None:
                if len(self.series) >= MOST_SERIES:
                    continue
                number = len(self.series) + 1
                put = "INSERT INTO series (number, name) VALUES (?, ?)"
                self._connection.execute(put, (number, name))
                self.series[name] = number
            found[number] = one
        return found

    def _append(self, index: int, at: int, values: Mapping[int, Stretch]) -> None:
        span = _begin(at, TIERS[index].block_s)
        if self._spans[index] != span:
            self._spans[index] = span
            self._compact_all_but(index, span)
        self._connection.execute(
            "INSERT OR REPLACE INTO tail (tier, at, data) VALUES (?, ?, ?)",
            (index, at, tiers.pack_row(values)),
        )

    def _close(self, index: int, begin: int) -> None:
        """Make the stretch of a coarser tier out of the finer ones."""
        parts = self._tail(index - 1, begin, begin + TIERS[index].step_s)
        values = tiers.merged_rows(parts.values())
        if values:
            self._append(index, begin, values)

    def _tail(self, index: int, since: int, until: int) -> dict[int, dict[int, Stretch]]:
        """Return the rows of a tail by moment."""
        rows = self._connection.execute(
            "SELECT at, data FROM tail WHERE tier = ? AND at >= ? AND at < ?",
            (index, since, until),
        )
        return {int(at): tiers.unpack_row(data) for at, data in rows}

    def _compact_all_but(self, index: int, span: int) -> None:
        """Turn into blocks what a tail holds of other spans than the present one."""
        tier = TIERS[index]
        others = self._connection.execute(
            "SELECT DISTINCT at - at % :block FROM tail"
            " WHERE tier = :tier AND at - at % :block <> :span",
            {"block": tier.block_s, "tier": index, "span": span},
        ).fetchall()
        for (other,) in others:
            self._compact(index, int(other))
        if others:
            drop_old(self._connection, index, tier.blocks)
            self.is_tidy = False

    def _compact(self, index: int, span: int) -> None:
        """Turn what the tail holds of a span into blocks, over what they may hold already."""
        tier = TIERS[index]
        columns: dict[int, dict[int, Stretch]] = {}
        for at, values in self._tail(index, span, span + tier.block_s).items():
            for series, one in values.items():
                columns.setdefault(series, {})[(at - span) // tier.step_s] = one
        for series, slots in columns.items():
            self._put(index, series, span, {**self._block(index, series, span), **slots})
        self._connection.execute(
            "DELETE FROM tail WHERE tier = ? AND at >= ? AND at < ?",
            (index, span, span + tier.block_s),
        )

    def _block(self, index: int, series: int, span: int) -> dict[int, Stretch]:
        row = self._connection.execute(
            "SELECT data FROM blocks WHERE tier = ? AND series = ? AND begins = ?",
            (index, series, span),
        ).fetchone()
        if row is None:
            return {}
        tier = TIERS[index]
        return dict(tiers.unpack_block(row[0], tier.slots).stretches(0, tier.slots))

    def _put(self, index: int, series: int, span: int, slots: Mapping[int, Stretch]) -> None:
        self._connection.execute(
            "INSERT OR REPLACE INTO blocks (tier, series, begins, data) VALUES (?, ?, ?, ?)",
            (index, series, span, tiers.pack_block(slots, TIERS[index].slots)),
        )


def tidy(connection: Connection, most_bytes: int = MOST_BYTES) -> None:
    """Give back what is free, and drop the oldest minutes while the file is too large.

    Not inside a transaction.
    """
    connection.executescript("PRAGMA incremental_vacuum")  # one step for each page
    index = TIERS.index(next(tier for tier in TIERS if tier.step_s == 60))
    while size_of(connection) > most_bytes * _TIDY_SLACK:
        kept = connection.execute(
            "SELECT count(DISTINCT begins) FROM blocks WHERE tier = ?", (index,)
        ).fetchone()[0]
        if not kept:
            return
        drop_old(connection, index, kept - max(1, kept // 20))
        connection.executescript("PRAGMA incremental_vacuum")  # one step for each page


def newest_of(connection: Connection, index: int, until: int = 1 << 60) -> int | None:
    """Return the newest moment in the tail of a tier, of those before `until`."""
    newest = "SELECT max(at) FROM tail WHERE tier = ? AND at < ?"
    found = connection.execute(newest, (index, until)).fetchone()[0]
    return None if found is None else int(found)


def size_of(connection: Connection) -> int:
    """Return how large the file is, without what waits beside it in the journal."""
    pages = int(connection.execute("PRAGMA page_count").fetchone()[0])
    return pages * int(connection.execute("PRAGMA page_size").fetchone()[0])


def drop_old(connection: Connection, index: int, kept: int) -> None:
    """Keep the `kept` spans of a tier that were written last.

    By the order of writing and not by age: a clock that is years ahead for an hour must neither
    empty the history nor take the place of what comes after it.
    """
    connection.execute(
        "DELETE FROM blocks WHERE tier = :tier AND begins IN (SELECT begins FROM blocks"
        " WHERE tier = :tier GROUP BY begins ORDER BY max(rowid) DESC LIMIT -1 OFFSET :kept)",
        {"tier": index, "kept": kept},
    )


def _all_series(connection: Connection) -> Sequence[tuple[int, str]]:
    return connection.execute("SELECT number, name FROM series").fetchall()


def _begin(at: int, step_s: int) -> int:
    return at - at % step_s


def tier_bound_bytes(tier: Tier) -> int:
    """Return what one series of a tier can take at most, when nothing of it can be deflated."""
    return (tier.blocks + 1) * (14 * tier.slots + 64)
