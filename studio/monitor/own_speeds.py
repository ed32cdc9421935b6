"""How fast a preset was on this machine before: sums by day, in the history's file.

Only of one request alone with a short conversation, which is what speeds can be compared on.
"""

import sqlite3
from typing import NamedTuple

from studio.domain.speed import SpeedFigure

BAND = "one-short"
KEPT_DAYS = 400
LEAST_S = 120.0
"""Less than this of the past is no figure."""
_DAY_S = 86_400


class Served(NamedTuple):
    """What was measured."""

    preset: str
    cards: str
    """Names and power limits."""
    runtime_id: str


class Sums(NamedTuple):
    """What adds up."""

    seconds: float = 0.0
    tokens: float = 0.0
    steps: float = 0.0

    def plus(self, seconds: float, decode: float, tokens_per_step: float | None) -> "Sums":
        """Return the sums with some seconds more."""
        tokens = seconds * decode
        return Sums(
            self.seconds + seconds,
            self.tokens + tokens,
            self.steps + tokens / (tokens_per_step or 1.0),
        )


def add(connection: sqlite3.Connection, served: Served, sums: Sums, now: float) -> None:
    """Add to today's row; drops what is too old, by the number of days."""
    connection.execute(
        "INSERT INTO speeds (preset, cards, runtime_id, band, day, seconds, tokens, steps)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET"
        " seconds = seconds + excluded.seconds, tokens = tokens + excluded.tokens,"
        " steps = steps + excluded.steps",
        (*served, BAND, int(now // _DAY_S), *sums),
    )
    connection.execute(
        "DELETE FROM speeds WHERE day <= (SELECT day FROM speeds GROUP BY day"
        " ORDER BY day DESC LIMIT 1 OFFSET ?)",
        (KEPT_DAYS,),
    )


def before(connection: sqlite3.Connection, served: Served, now: float) -> Sums:
    """Return the sums of earlier days; of today, where there are none.

    Other runtimes count too: a figure outlives an update, which is what shows that one made it
    slower.
    """
    today = int(now // _DAY_S)
    for first, last in ((0, today - 1), (today, today)):
        row = connection.execute(
            "SELECT sum(seconds), sum(tokens), sum(steps) FROM speeds"
            " WHERE preset = ? AND cards = ? AND band = ? AND day BETWEEN ? AND ?",
            (served.preset, served.cards, BAND, first, last),
        ).fetchone()
        if row[0] is not None and row[0] >= LEAST_S:
            return Sums(float(row[0]), float(row[1]), float(row[2]))
    return Sums()


def figure(sums: Sums, served: Served) -> SpeedFigure | None:
    """Return what was before as a figure; None where that is too little."""
    if sums.seconds < LEAST_S or sums.steps <= 0:
        return None
    per_step = sums.tokens / sums.steps
    decode = sums.tokens / sums.seconds
    return SpeedFigure(
        decode_tokens_per_s=decode,
        tokens_per_step=per_step if per_step > 1.0 + 1e-6 else None,
        step_s=per_step / decode,
        is_published=False,
        card=served.cards,
        source=f"{sums.seconds / 60:,.0f} min on this machine",
    )
