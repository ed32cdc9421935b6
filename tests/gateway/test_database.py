"""The file of keys: brought up to date without losing what it held."""

import contextlib
import hashlib
import sqlite3

import pytest

from studio.domain.errors import HostLacks
from studio.gateway.database import _DAYS, _TO_2, _USAGE, SCHEMA_VERSION, Database
from studio.gateway.keys import KeyStore

FIRST_SCHEMA = """
CREATE TABLE keys (
    id TEXT PRIMARY KEY, name TEXT NOT NULL, prefix TEXT NOT NULL, sha256 TEXT NOT NULL UNIQUE,
    created_at TEXT NOT NULL, revoked_at TEXT, last_used_at TEXT, max_concurrent INTEGER,
    requests INTEGER NOT NULL DEFAULT 0, errors INTEGER NOT NULL DEFAULT 0,
    prompt_tokens INTEGER NOT NULL DEFAULT 0, cached_tokens INTEGER NOT NULL DEFAULT 0,
    generated_tokens INTEGER NOT NULL DEFAULT 0
) STRICT
"""
SECRET = "sk-weir-of-an-older-version"


def old_file(path) -> None:
    """Write a file as the first version of the Studio did."""
    digest = hashlib.sha256(SECRET.encode()).hexdigest()
    with contextlib.closing(sqlite3.connect(path)) as made:
        made.execute("PRAGMA journal_mode = WAL")
        made.execute(FIRST_SCHEMA)
        made.execute(
            "INSERT INTO keys (id, name, prefix, sha256, created_at, max_concurrent, requests)"
            " VALUES ('a1', 'laptop', 'sk-weir-of-a', ?, '2026-01-01T00:00:00+00:00', 2, 7)",
            (digest,),
        )
        made.execute("PRAGMA user_version = 1")
        made.commit()


async def test_an_older_file_keeps_its_keys_and_a_copy_of_itself(tmp_path):
    """An update must not end in new keys for every client, and going back must be possible."""
    path = tmp_path / "studio.db"
    old_file(path)
    store = KeyStore(path)

    await store.open()

    key = store.verify(SECRET.encode())
    assert (key.name, key.requests, key.limits.max_concurrent) == ("laptop", 7, 2)
    copy = tmp_path / "studio.db.version-1"
    assert copy.stat().st_mode & 0o077 == 0
    with contextlib.closing(sqlite3.connect(copy)) as before:
        assert before.execute("PRAGMA user_version").fetchone()[0] == 1
        assert before.execute("SELECT name, max_concurrent FROM keys").fetchall() == [("laptop", 2)]
    await store.close()


async def test_an_update_that_fails_leaves_the_older_file(tmp_path, monkeypatch):
    """Killed or out of disk half-way: the next start tries again."""
    path = tmp_path / "studio.db"
    old_file(path)
    monkeypatch.setattr("studio.gateway.database._USAGE", "CREATE NONSENSE")
    failed = Database(path)
    with pytest.raises(HostLacks):
        await failed.open()
    await failed.close()
    monkeypatch.undo()

    with contextlib.closing(sqlite3.connect(path)) as file:
        assert file.execute("PRAGMA user_version").fetchone()[0] == 1
    store = KeyStore(path)
    await store.open()
    assert store.verify(SECRET.encode()) is not None
    await store.close()


async def test_work_that_fails_changes_nothing(tmp_path):
    """All of it or none."""
    database = Database(tmp_path / "studio.db")
    await database.open()

    def half(connection):
        connection.execute(
            "INSERT INTO keys (id, name, prefix, sha256, created_at) VALUES ('1','n','p','s','t')"
        )
        raise HostLacks("disk-full", "Full.")

    with pytest.raises(HostLacks):
        await database.run(half)

    count = await database.run(lambda c: c.execute("SELECT count(*) FROM keys").fetchone()[0])
    version = await database.run(lambda c: c.execute("PRAGMA user_version").fetchone()[0])
    assert (count, version) == (0, SCHEMA_VERSION)
    await database.close()


SECOND_REQUESTS = """
CREATE TABLE requests (
    number INTEGER PRIMARY KEY, at REAL NOT NULL, request_id TEXT NOT NULL, key_id TEXT,
    route TEXT NOT NULL, model TEXT, address TEXT, status INTEGER NOT NULL, code TEXT,
    is_stream INTEGER NOT NULL, has_client_left INTEGER NOT NULL, is_estimated INTEGER NOT NULL,
    ttft_s REAL, duration_s REAL NOT NULL, prompt_tokens INTEGER, cached_tokens INTEGER,
    generated_tokens INTEGER
) STRICT
"""


async def test_requests_of_the_second_version_stay_in_the_list(tmp_path):
    """What was served before an update is still looked up after it."""
    path = tmp_path / "studio.db"
    old_file(path)
    with contextlib.closing(sqlite3.connect(path)) as made:
        for change in _TO_2:
            made.execute(change)
        for table in (_USAGE, _DAYS, SECOND_REQUESTS):
            made.execute(table)
        made.execute("CREATE INDEX requests_of_key ON requests (key_id, number)")
        made.execute(
            "INSERT INTO requests (at, request_id, key_id, route, status, is_stream,"
            " has_client_left, is_estimated, duration_s) VALUES (1.0, 'r1', 'a1', '/v1/messages',"
            " 200, 0, 0, 0, 0.5)"
        )
        made.execute("PRAGMA user_version = 2")
        made.commit()
    store = KeyStore(path)

    await store.open()

    (entry,) = await store.requests(key_id="laptop", count=5, errors_only=False)
    assert (entry.request_id, entry.reason, entry.adjusted) == ("r1", None, ())
    assert (tmp_path / "studio.db.version-2").exists()
    await store.close()
