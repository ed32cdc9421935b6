"""The SQLite file of keys and their usage: one connection on one thread of its own.

What SQLite and the disk raise becomes what a person can act on.
"""

import asyncio
import contextlib
import errno
import json
import os
import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from studio.domain.errors import Damaged, HostLacks
from studio.host.files import from_os_error

SCHEMA_VERSION = 3

_KEYS = """
CREATE TABLE keys (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    prefix TEXT NOT NULL,
    sha256 TEXT NOT NULL UNIQUE,
    created_at TEXT NOT NULL,
    revoked_at TEXT,
    last_used_at TEXT,
    requests INTEGER NOT NULL DEFAULT 0,
    errors INTEGER NOT NULL DEFAULT 0,
    prompt_tokens INTEGER NOT NULL DEFAULT 0,
    cached_tokens INTEGER NOT NULL DEFAULT 0,
    generated_tokens INTEGER NOT NULL DEFAULT 0,
    limits TEXT NOT NULL DEFAULT '{}',
    last_address TEXT,
    rotated_at TEXT
) STRICT
"""
_USAGE = """
CREATE TABLE usage_hours (
    key_id TEXT NOT NULL,
    hour INTEGER NOT NULL,
    requests INTEGER NOT NULL,
    errors INTEGER NOT NULL,
    estimated INTEGER NOT NULL,
    prompt_tokens INTEGER NOT NULL,
    cached_tokens INTEGER NOT NULL,
    generated_tokens INTEGER NOT NULL,
    ttft TEXT NOT NULL,
    speed TEXT NOT NULL,
    PRIMARY KEY (key_id, hour)
) STRICT, WITHOUT ROWID
"""
_DAYS = """
CREATE TABLE usage_days (
    key_id TEXT NOT NULL,
    day TEXT NOT NULL,
    requests INTEGER NOT NULL,
    errors INTEGER NOT NULL,
    estimated INTEGER NOT NULL,
    prompt_tokens INTEGER NOT NULL,
    cached_tokens INTEGER NOT NULL,
    generated_tokens INTEGER NOT NULL,
    ttft TEXT NOT NULL,
    speed TEXT NOT NULL,
    PRIMARY KEY (key_id, day)
) STRICT, WITHOUT ROWID
"""
_REQUESTS = """
CREATE TABLE requests (
    number INTEGER PRIMARY KEY,
    at REAL NOT NULL,
    request_id TEXT NOT NULL,
    key_id TEXT,
    route TEXT NOT NULL,
    model TEXT,
    address TEXT,
    status INTEGER NOT NULL,
    code TEXT,
    is_stream INTEGER NOT NULL,
    has_client_left INTEGER NOT NULL,
    is_estimated INTEGER NOT NULL,
    ttft_s REAL,
    duration_s REAL NOT NULL,
    prompt_tokens INTEGER,
    cached_tokens INTEGER,
    generated_tokens INTEGER,
    reason TEXT,
    adjusted TEXT
) STRICT
"""
_BY_TIME = "CREATE INDEX requests_by_time ON requests (at)"
_BY_KEY = "CREATE INDEX requests_of_key_by_time ON requests (key_id, at)"
_TO_2 = (
    "ALTER TABLE keys ADD COLUMN limits TEXT NOT NULL DEFAULT '{}'",
    "ALTER TABLE keys ADD COLUMN last_address TEXT",
    "ALTER TABLE keys ADD COLUMN rotated_at TEXT",
)
_TO_3 = (
    "ALTER TABLE requests ADD COLUMN reason TEXT",
    "ALTER TABLE requests ADD COLUMN adjusted TEXT",
    "DROP INDEX IF EXISTS requests_of_key",
)

T = TypeVar("T")


class Database:
    """The file. Open it once in a process."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._connection: sqlite3.Connection | None = None
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="weir-keys")

    async def open(self) -> None:
        """Open the file; makes it (mode 0600) when there is none, and brings it up to date.

        An older file is copied first, beside itself: `studio.db.version-1`.
        Raises: Damaged (`keys-damaged`, `keys-too-new`), HostLacks (`not-writable`, `disk-full`).
        """
        await asyncio.wrap_future(self._thread.submit(self._open))

    async def close(self) -> None:
        """Close the file and end its thread."""
        connection, self._connection = self._connection, None
        if connection is not None:
            await asyncio.wrap_future(self._thread.submit(connection.close))
        self._thread.shutdown(wait=False)

    async def run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Do `work` in a transaction. Raises: Damaged, HostLacks; what `work` raises."""
        return await asyncio.wrap_future(self.submit(work))

    def submit(self, work: Callable[[sqlite3.Connection], T]) -> Future[T]:
        """Begin `work` in a transaction; whoever cares waits for it."""
        return self._thread.submit(self._run, work)

    # On the thread, the only one that touches SQLite

    def _run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        connection = self._connection
        assert connection is not None, "the key store is not open"
        with _translated(self.path), _transaction(connection):
            return work(connection)

    def _open(self) -> None:
        with _translated(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
            connection = sqlite3.connect(
                self.path, timeout=5.0, isolation_level=None, check_same_thread=False
            )
            self._connection = connection
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            version = int(connection.execute("PRAGMA user_version").fetchone()[0])
            if version > SCHEMA_VERSION:
                raise Damaged(
                    "keys-too-new",
                    f"{self.path} was written by a newer version of the Studio.",
                    hint="Use that version, or move the file away and make new keys.",
                )
            if version < SCHEMA_VERSION:
                if version:
                    self._copy(connection, version)
                with _transaction(connection):
                    _bring_up(connection, version)
                    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
            connection.execute("SELECT count(*) FROM keys").fetchone()

    def _copy(self, connection: sqlite3.Connection, version: int) -> None:
        """Keep the file as an older version of the Studio reads it."""
        copy = self.path.with_name(f"{self.path.name}.version-{version}")
        os.close(os.open(copy, os.O_RDWR | os.O_CREAT, 0o600))
        with contextlib.closing(sqlite3.connect(copy)) as target:
            connection.backup(target)


def _bring_up(connection: sqlite3.Connection, version: int) -> None:
    if version == 0:
        connection.execute(_KEYS)
    elif version == 1:
        for change in _TO_2:
            connection.execute(change)
        limited = "SELECT id, max_concurrent FROM keys WHERE max_concurrent IS NOT NULL"
        for key_id, most in connection.execute(limited).fetchall():
            limits = json.dumps({"max_concurrent": most})
            connection.execute("UPDATE keys SET limits = ? WHERE id = ?", (limits, key_id))
    if version < 2:
        for table in (_USAGE, _DAYS, _REQUESTS):
            connection.execute(table)
    else:
        for change in _TO_3:
            connection.execute(change)
    for index in (_BY_TIME, _BY_KEY):
        connection.execute(index)


@contextlib.contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


@contextlib.contextmanager
def _translated(path: Path) -> Iterator[None]:
    """Turn what SQLite and the disk raise into what a person can act on."""
    try:
        yield
    except OSError as error:
        raise from_os_error(error, path) from error
    except sqlite3.OperationalError as error:
        code = error.sqlite_errorcode & 0xFF
        if code == sqlite3.SQLITE_FULL:
            raise from_os_error(OSError(errno.ENOSPC, "disk full"), path) from error
        if code in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
            raise HostLacks(
                "keys-locked",
                f"{path} is held by another program.",
                hint="Close whatever has the file open, then try again.",
            ) from error
        raise from_os_error(OSError(errno.EIO, str(error)), path) from error
    except (sqlite3.DatabaseError, ValueError) as error:
        raise Damaged(
            "keys-damaged",
            f"{path} cannot be read: {error}.",
            hint="Move the file away; the Studio makes a new one, and keys must be made anew.",
        ) from error
