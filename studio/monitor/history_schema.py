"""The SQLite file of the history: its tables, how an older one is brought up to date."""

import contextlib
import sqlite3
from collections.abc import Callable, Iterator

_EVENTS = """
CREATE TABLE events (
    number INTEGER PRIMARY KEY,
    at REAL NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    detail TEXT NOT NULL
) STRICT
"""
_SERIES = """
CREATE TABLE series (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT
"""
_BLOCKS = """
CREATE TABLE blocks (
    tier INTEGER NOT NULL,
    series INTEGER NOT NULL,
    begins INTEGER NOT NULL,
    data BLOB NOT NULL,
    UNIQUE (tier, series, begins)
) STRICT
"""
_TAIL = """
CREATE TABLE tail (
    tier INTEGER NOT NULL,
    at INTEGER NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (tier, at)
) STRICT, WITHOUT ROWID
"""
_SPEEDS = """
CREATE TABLE speeds (
    preset TEXT NOT NULL,
    cards TEXT NOT NULL,
    runtime_id TEXT NOT NULL,
    band TEXT NOT NULL,
    day INTEGER NOT NULL,
    seconds REAL NOT NULL,
    tokens REAL NOT NULL,
    steps REAL NOT NULL,
    PRIMARY KEY (preset, cards, runtime_id, band, day)
) STRICT, WITHOUT ROWID
"""


def _first(connection: sqlite3.Connection) -> None:
    for table in (_EVENTS, _SERIES, _BLOCKS, _TAIL):
        connection.execute(table)


def _second(connection: sqlite3.Connection) -> None:
    connection.execute(_SPEEDS)


_STEPS: tuple[Callable[[sqlite3.Connection], None], ...] = (_first, _second)
"""From each version to the next; a released step never changes."""
VERSION = len(_STEPS)


def version_of(connection: sqlite3.Connection) -> int:
    """Return the version that the file has; 0 for a new one."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def bring_up(connection: sqlite3.Connection, to: int = VERSION) -> None:
    """Bring a file up to date in one transaction: a kill leaves the old version or the new one."""
    found = version_of(connection)
    if found >= to:
        return
    with transaction(connection):
        for step in _STEPS[found:to]:
            step(connection)
        connection.execute(f"PRAGMA user_version = {to}")


@contextlib.contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Do all of it, or nothing."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        with contextlib.suppress(sqlite3.Error):  # a full disk may have rolled it back already
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")
