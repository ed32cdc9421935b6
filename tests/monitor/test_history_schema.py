"""The file's version: every older one is brought up to date, in one piece."""

import sqlite3
from pathlib import Path

import pytest

from studio.monitor import history_schema


def tables(connection: sqlite3.Connection) -> set[str]:
    """Return the names of all tables."""
    return {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}


@pytest.mark.parametrize("version", range(history_schema.VERSION))
def test_every_older_version_is_brought_up_with_what_it_holds(tmp_path: Path, version: int) -> None:
    """People update; their history goes with them."""
    connection = sqlite3.connect(tmp_path / "old.db", isolation_level=None)
    history_schema.bring_up(connection, version)
    if version:
        connection.execute("INSERT INTO series VALUES (1, 'running')")

    history_schema.bring_up(connection)

    assert history_schema.version_of(connection) == history_schema.VERSION
    assert {"events", "series", "blocks", "tail", "speeds"} <= tables(connection)
    assert len(connection.execute("SELECT * FROM series").fetchall()) == bool(version)
    connection.close()


def test_an_update_that_fails_leaves_the_old_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half an update would be a file of no version."""
    connection = sqlite3.connect(tmp_path / "old.db", isolation_level=None)
    history_schema.bring_up(connection, 1)

    def breaks(to: sqlite3.Connection) -> None:
        to.execute("CREATE TABLE half (one INTEGER)")
        to.execute("nonsense")

    monkeypatch.setattr(history_schema, "_STEPS", (history_schema._first, breaks))
    with pytest.raises(sqlite3.OperationalError):
        history_schema.bring_up(connection, 2)

    assert history_schema.version_of(connection) == 1
    assert "half" not in tables(connection)
    connection.close()
