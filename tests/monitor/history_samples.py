"""A day and a year of readings, as a busy machine with one card makes them."""

import math
import random
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from studio.monitor import history_schema
from studio.monitor.history_write import Reading, Writer
from studio.monitor.tiers import Stretch

BEGIN = 1_780_000_800
"""A whole day of the epoch and a whole block of every tier are somewhere near, none is here."""


def one(value: float) -> Stretch:
    """Return a single reading."""
    return Stretch(value, value, value, 1)


def reading(at: int, **values: float) -> Reading:
    """Return what was known in one second."""
    return Reading(at, {name: one(value) for name, value in values.items()})


def load(begin: int, seconds: int, *, step_s: int = 1, seed: int = 7) -> Iterator[Reading]:
    """Yield readings of 36 series: half an hour of work in each hour, noise on what is measured."""
    chance = random.Random(seed)
    for at in range(begin, begin + seconds, step_s):
        works = at % 3_600 < 1_800
        wave = 0.5 + 0.5 * math.sin(at / 700)
        values = {
            "memory_bytes": 64e9,
            "memory_used_bytes": 2e10 + 1e6 * int(chance.random() * 100),
            "card0.memory_total_bytes": 24e9,
            "card0.power_limit_w": 250.0,
            "card0.power_w": 40 + 210 * works + chance.random() * 5,
            "card0.temperature_c": float(45 + int(25 * works * wave)),
            "spill_bytes": 0.0,
        }
        if works:
            values |= {
                "pool_tokens": 68_605.0,
                "pool_used_tokens": float(int(60_000 * wave)),
                "running": float(1 + int(3 * wave)),
                "decode_tokens_per_s": 100 + 30 * wave + chance.random() * 4,
            }
            values |= {f"more{n}_s": chance.random() for n in range(25)}
        yield Reading(at, {name: one(value) for name, value in values.items()})


def new_file(path: Path) -> sqlite3.Connection:
    """Return a file with empty tables, as the history's own."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = OFF")
    history_schema.bring_up(connection)
    return connection


def fill(connection: sqlite3.Connection, readings: Iterator[Reading]) -> Writer:
    """Write readings in one go."""
    writer = Writer(connection)
    with history_schema.transaction(connection):
        writer.add(readings)
    return writer
