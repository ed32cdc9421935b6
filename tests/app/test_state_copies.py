"""Copies of databases and settings: whole or absent, and back again."""

import sqlite3
from pathlib import Path

import pytest

from studio.app import state_copies
from studio.app.state_copies import StateCopies
from studio.domain.errors import Damaged, HostLacks
from studio.host.paths import Paths, bundled_root


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    """Return a home with two databases, settings and a preset."""
    made = Paths(home=tmp_path / "wéir home", catalogue=bundled_root())
    made.home.mkdir()
    for path, schema in ((made.database, 3), (made.history, 2)):
        write(path, schema, "first")
    made.settings_file.write_text('{"port": 1}', encoding="utf-8")
    made.user_presets.mkdir()
    (made.user_presets / "mine.toml").write_text("mine", encoding="utf-8")
    (made.models / "large").mkdir(parents=True)
    (made.models / "large/weights").write_bytes(b"x" * 5_000)
    return made


def write(path: Path, schema: int, text: str) -> None:
    """Write one row into a database of some schema."""
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE IF NOT EXISTS rows (text TEXT)")
        connection.execute("INSERT INTO rows VALUES (?)", (text,))
        connection.execute(f"PRAGMA user_version = {schema}")
    connection.close()


def rows(path: Path) -> list[str]:
    """Return what is in a database."""
    with sqlite3.connect(path) as connection:
        found = [row[0] for row in connection.execute("SELECT text FROM rows")]
    connection.close()
    return found


def test_a_copy_holds_what_is_small_and_nothing_of_models(paths: Paths) -> None:
    """With the newest rows, also those that SQLite has not written home yet."""
    open_still = sqlite3.connect(paths.database)
    open_still.execute("INSERT INTO rows VALUES ('in the log')")
    open_still.commit()

    copies = StateCopies(paths)
    copies.make("1.0.0")
    open_still.close()

    [copy] = copies.all()
    folder = Path(copy.path)
    assert copy.version == "1.0.0"
    assert rows(folder / "studio.db") == ["first", "in the log"]
    assert (folder / "presets/mine.toml").read_text(encoding="utf-8") == "mine"
    assert (folder / "settings.json").is_file()
    assert not list(folder.rglob("weights"))
    assert (folder / "studio.db").stat().st_mode & 0o077 == 0
    assert folder.parent.stat().st_mode & 0o077 == 0


def test_everything_comes_back_after_an_update_that_failed(paths: Paths) -> None:
    """Also what the new version left beside its database."""
    copies = StateCopies(paths)
    copies.make("1.0.0")
    write(paths.database, 9, "of the new version")
    paths.settings_file.write_text('{"port": 2}', encoding="utf-8")

    names = copies.restore("1.0.0", only_changed=False)

    assert {"studio.db", "history.db", "settings.json"} <= set(names)
    assert rows(paths.database) == ["first"]
    assert paths.settings_file.read_text(encoding="utf-8") == '{"port": 1}'
    copies.restore("1.0.0", only_changed=False)
    assert rows(paths.database) == ["first"]


def test_a_later_way_back_keeps_what_the_newer_version_had_not_changed(paths: Paths) -> None:
    """Keys of a month are not given up for a schema that is the same."""
    copies = StateCopies(paths)
    copies.make("1.0.0")
    write(paths.database, 3, "a key of later")
    write(paths.history, 8, "a chart of later")

    assert copies.restore("1.0.0", only_changed=True) == ("history.db",)

    assert rows(paths.database) == ["first", "a key of later"]
    assert rows(paths.history) == ["first"]


def test_a_copy_that_was_cut_off_is_none(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    """The one before it stays until the new one is whole."""
    copies = StateCopies(paths)
    copies.make("1.0.0")
    write(paths.database, 3, "second")

    def cut(*_words: object, **_more: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(state_copies.shutil, "copytree", cut)
    with pytest.raises(HostLacks) as caught:
        copies.make("1.0.0")

    assert caught.value.code == "disk-full"
    [copy] = copies.all()
    assert rows(Path(copy.path) / "studio.db") == ["first"]
    monkeypatch.undo()
    copies.make("1.0.0")
    assert [path.name for path in (paths.home / "copies").iterdir()] == ["1.0.0"]


def test_a_damaged_database_stops_an_update_and_is_named(paths: Paths) -> None:
    """Who updates over it loses the last chance to look."""
    paths.database.write_bytes(b"SQLite format 3\0" + b"\xff" * 5_000)

    with pytest.raises(Damaged) as caught:
        StateCopies(paths).make("1.0.0")

    assert caught.value.code == "copy-failed"
    assert StateCopies(paths).all() == ()


def test_a_damaged_database_does_not_stop_the_way_back(paths: Paths) -> None:
    """That is what the copy is for."""
    copies = StateCopies(paths)
    copies.make("1.0.0")
    paths.database.write_bytes(b"\xff" * 5_000)

    copies.restore("1.0.0", only_changed=True)

    assert rows(paths.database) == ["first"]


def test_the_newest_copies_are_kept_and_a_missing_one_is_named(paths: Paths) -> None:
    """Three of them: the disk does not fill."""
    copies = StateCopies(paths)
    for version in ("1.0.0", "1.1.0", "1.2.0", "1.3.0"):
        copies.make(version)

    assert [one.version for one in copies.all()] == ["1.3.0", "1.2.0", "1.1.0"]
    assert not copies.has("1.0.0")
    with pytest.raises(Damaged) as caught:
        copies.restore("1.0.0", only_changed=True)
    assert caught.value.code == "copy-missing"


def test_an_empty_home_has_an_empty_copy(tmp_path: Path) -> None:
    """A first start writes nothing that could be copied."""
    copies = StateCopies(Paths(home=tmp_path / "new", catalogue=bundled_root()))
    copies.make("1.0.0")

    assert copies.restore("1.0.0", only_changed=False) == ()
