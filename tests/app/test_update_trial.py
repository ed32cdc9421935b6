"""What a service does about updates before it opens anything."""

import contextlib
import sqlite3
import subprocess
import time
from pathlib import Path

import pytest

from studio.app.state_copies import StateCopies
from studio.app.update_records import Failed, Ran, Records, Staged, Trial
from studio.app.update_trial import TRIAL_S, Trials
from studio.domain.self_update import Came
from studio.host import own_program, processes
from studio.host.own_program import Installed
from studio.host.paths import Paths, bundled_root
from tests.fakes import small_disk
from tests.fakes.waiting import is_alive, until


class Place:
    """A home and two versions in a prefix."""

    def __init__(self, folder: Path) -> None:
        self.paths = Paths(home=folder / "home", catalogue=bundled_root())
        self.versions = folder / "opt/weir-studio"
        for version in ("1.0.0", "1.1.0"):
            (self.versions / version).mkdir(parents=True)
            (self.versions / version / "weir").touch()
        (self.versions / "current").symlink_to("1.0.0")
        self.records = Records(self.paths)
        self.paths.home.mkdir()
        self.paths.settings_file.write_text('{"port": 1}', encoding="utf-8")

    def trials(self, version: str, came: Came = Came.RUN) -> Trials:
        """Return what a version does."""
        place = Installed(came, self.versions / version)
        return Trials(self.paths, version=version, installed=lambda: place)

    def trial(self, **changes: object) -> None:
        """Leave a trial of 1.1.0 by a process that is gone."""
        made = {"pid": 2**22 + 1, "process_started_at": 1.0, "began_at": time.time(), **changes}
        self.records.write(Trial(old="1.0.0", new="1.1.0", **made))


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Return a home of which 1.0.0 is in use."""
    return Place(tmp_path)


def test_without_an_update_a_service_just_starts(place: Place) -> None:
    """And keeps that it came up."""
    old = place.trials("1.0.0")

    assert old.before_service() is None
    old.came_up()

    assert place.records.ran() == Ran(version="1.0.0")
    assert not (place.paths.home / "copies").exists()


def test_a_staged_version_waits_until_it_is_wanted(place: Place) -> None:
    """Fetching is not applying."""
    place.records.write(Staged(version="1.1.0"))

    assert place.trials("1.0.0").before_service() is None


def test_a_wanted_version_takes_over_after_the_copy_is_made(place: Place) -> None:
    """And is in use when it has come up."""
    place.trials("1.0.0").came_up()
    place.records.write(Staged(version="1.1.0", wanted=True))

    program = place.trials("1.0.0").before_service()

    assert program == place.versions / "1.1.0/weir"
    assert StateCopies(place.paths).has("1.0.0")
    assert own_program.current(place.versions) == "1.0.0"
    new = place.trials("1.1.0")
    assert new.is_own()
    assert new.before_service() is None
    new.came_up()
    assert own_program.current(place.versions) == "1.1.0"
    assert place.records.ran() == Ran(version="1.1.0", previous="1.0.0")
    assert (place.records.trial(), place.records.staged()) == (None, None)


def test_a_trial_that_was_cut_off_is_taken_back(place: Place) -> None:
    """The person finds settings as they were, and why."""
    StateCopies(place.paths).make("1.0.0")
    place.records.write(Staged(version="1.1.0", wanted=True))
    place.trial()
    place.paths.settings_file.write_text('{"port": 2}', encoding="utf-8")

    assert place.trials("1.0.0").before_service() is None

    assert place.paths.settings_file.read_text(encoding="utf-8") == '{"port": 1}'
    failed = place.records.failed()
    assert failed is not None
    assert failed.error.code == "update-failed"
    assert "60 s" not in failed.error.message
    assert place.records.staged() == Staged(version="1.1.0")
    assert place.records.trial() is None


def test_a_cut_between_the_link_and_the_records_is_finished_by_the_new_version(
    place: Place,
) -> None:
    """Whoever starts through the link is the new one."""
    place.trial()
    own_program.switch(place.versions, "1.1.0")
    new = place.trials("1.1.0")

    assert new.before_service() is None
    new.came_up()

    assert place.records.trial() is None
    assert own_program.current(place.versions) == "1.1.0"


def test_a_trial_under_way_is_left_alone_and_a_late_one_ended(place: Place) -> None:
    """The kernel's number of a process is not enough: it may be somebody else's by now."""
    with subprocess.Popen(["sleep", "600"]) as running:
        try:
            started = processes.started_at(running.pid)
            place.trial(pid=running.pid, process_started_at=started)
            old = place.trials("1.0.0")
            assert old.is_under_way()
            old.end_hung()
            assert running.poll() is None

            place.trial(pid=running.pid, process_started_at=1.0, began_at=1.0)
            old.end_hung()
            assert running.poll() is None

            late = time.time() - TRIAL_S - 1
            place.trial(pid=running.pid, process_started_at=started, began_at=late)
            assert not old.is_under_way()
            old.end_hung()
            until(lambda: not is_alive(running.pid), "the end of what hangs")
        finally:
            running.kill()


def test_a_version_that_is_gone_or_cannot_be_started_changes_nothing(place: Place) -> None:
    """What went wrong is kept for `weir update`; the old version serves."""
    place.records.write(Staged(version="1.2.0", wanted=True))
    old = place.trials("1.0.0")
    assert old.before_service() is None
    failed = place.records.failed()
    assert failed is not None
    assert failed.error.code == "update-missing"
    assert place.records.staged() == Staged(version="1.2.0")

    place.records.write(Staged(version="1.1.0", wanted=True))
    assert old.before_service() is not None
    old.failed_to_become(OSError(8, "Exec format error"))
    failed = place.records.failed()
    assert failed is not None
    assert "Exec format error" in failed.error.message
    assert place.records.trial() is None


def test_a_full_disk_stops_the_update_and_not_the_service(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is no update without a copy."""
    place.records.write(Staged(version="1.1.0", wanted=True))
    monkeypatch.setattr("studio.host.files.free_bytes", lambda _path: 0)

    assert place.trials("1.0.0").before_service() is None

    failed = place.records.failed()
    assert failed is not None
    assert failed.error.code == "disk-space"
    assert place.records.trial() is None


def test_a_disk_that_fills_up_during_the_copy_stops_the_update(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Really full: it was free when it was asked for. The next try finds no half copy."""
    with small_disk.mounted(tmp_path / "disk", 3 << 20) as disk:
        place = Place(disk)
        place.records.write(Staged(version="1.1.0", wanted=True))
        with sqlite3.connect(place.paths.home / "studio.db") as database:
            database.execute("CREATE TABLE keys AS SELECT zeroblob(1800000)")
        monkeypatch.setattr("studio.host.files.free_bytes", lambda _path: 1 << 40)

        assert place.trials("1.0.0").before_service() is None

        failed = place.records.failed()
        assert failed is not None
        assert failed.error.code in ("disk-full", "copy-failed")
        assert (place.records.trial(), StateCopies(place.paths).all()) == (None, ())
        with sqlite3.connect(place.paths.home / "studio.db") as database:
            assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_a_version_that_crashes_soon_is_left_for_the_one_before(place: Place) -> None:
    """Three ends without a goodbye; a version that says goodbye stays."""
    place.trials("1.0.0").came_up()
    new = place.trials("1.1.0")
    own_program.switch(place.versions, "1.1.0")
    new.came_up()
    assert [new.before_service() for _ in range(2)] == [None, None]

    assert new.before_service() == place.versions / "1.0.0/weir"
    old = place.trials("1.0.0")
    assert old.is_own()
    old.came_up()

    failed = place.records.failed()
    assert failed is not None
    assert (failed.version, failed.error.code) == ("1.1.0", "update-unsteady")
    assert own_program.current(place.versions) == "1.0.0"
    assert old.before_service() is None


def test_without_the_version_before_a_crashing_one_goes_on(place: Place) -> None:
    """Somebody removed it, or apt installed this one: there is no way back by itself."""
    place.trials("1.0.0", Came.DEB).came_up()
    new = place.trials("1.1.0", Came.DEB)
    new.came_up()

    assert [new.before_service() for _ in range(5)] == [None] * 5


def test_what_the_new_version_lacked_is_told_by_the_old_one(place: Place) -> None:
    """In its words: an update that just did not come up helps nobody."""
    place.trial()

    place.trials("1.1.0").falls_short("it lists no presets")
    place.trials("1.0.0").before_service()

    failed = place.records.failed()
    assert failed is not None
    assert failed.error.message.startswith("Version 1.1.0 did not come up: it lists no presets.")


def test_a_way_back_that_failed_is_not_kept_as_if_it_were_a_newer_version(place: Place) -> None:
    """And what tries it again is named."""
    own_program.switch(place.versions, "1.1.0")
    place.records.write(Staged(version="1.0.0", wanted=True, is_rollback=True))
    assert place.trials("1.1.0").before_service() == place.versions / "1.0.0/weir"

    place.trials("1.1.0").before_service()

    assert place.records.staged() is None
    failed = place.records.failed()
    assert failed is not None
    assert failed.error.hint is not None
    assert "`weir update rollback` tries it again" in failed.error.hint


def test_a_copy_is_made_when_apt_exchanged_the_program(place: Place) -> None:
    """And put back, where it has to be, when apt goes back."""
    place.trials("1.0.0", Came.DEB).came_up()
    newer = place.trials("1.1.0", Came.DEB)

    assert newer.before_service() is None
    assert StateCopies(place.paths).has("1.0.0")
    newer.came_up()
    older = place.trials("1.0.0", Came.DEB)
    assert older.before_service() is None
    assert StateCopies(place.paths).has("1.1.0")


def schema(place: Place, change_to: int | None = None) -> int:
    """Return the form of the database, after another version has given it one."""
    with contextlib.closing(sqlite3.connect(place.paths.home / "studio.db")) as connection:
        if change_to is not None:
            connection.execute(f"PRAGMA user_version = {change_to}")
        return int(connection.execute("PRAGMA user_version").fetchone()[0])


def test_databases_come_back_from_a_version_that_never_came_up(place: Place) -> None:
    """It had changed their form before it died, twice: the copy is of before the first time."""
    schema(place, 3)
    old, newer = place.trials("1.0.0", Came.DEB), place.trials("1.1.0", Came.DEB)
    assert old.before_service() is None
    old.came_up()
    for _ in range(2):
        assert newer.before_service() is None
        schema(place, 99)

    assert old.before_service() is None

    assert schema(place) == 3
    assert StateCopies(place.paths).has("1.1.0")
    old.came_up()
    assert place.records.opening() is None


def test_a_window_of_an_older_version_starts_the_one_in_use(place: Place) -> None:
    """It knows its own file only."""
    own_program.switch(place.versions, "1.1.0")

    assert place.trials("1.0.0").before_service() == place.versions / "1.1.0/weir"
    assert place.records.trial() is None


def test_the_old_program_comes_back_past_one_that_does_not_start(place: Place) -> None:
    """It was asked to by hand: it takes over itself, with the databases that it knows."""
    place.trials("1.0.0").came_up()
    database = place.paths.home / "studio.db"
    with contextlib.closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA user_version = 3")
    StateCopies(place.paths).make("1.0.0")
    with contextlib.closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA user_version = 99")
    own_program.switch(place.versions, "1.1.0")
    place.records.write(Ran(version="1.1.0", previous="1.0.0"))
    place.records.write(Staged(version="1.0.0", wanted=True, is_rollback=True))
    old = place.trials("1.0.0")

    assert old.before_service() is None
    old.came_up()

    assert own_program.current(place.versions) == "1.0.0"
    assert place.records.staged() is None
    with contextlib.closing(sqlite3.connect(database)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (3,)


def test_damaged_records_are_none(place: Place) -> None:
    """A start must not fail for a note about updates."""
    place.records.folder.mkdir()
    for name in ("staged", "trial", "ran", "failed"):
        (place.records.folder / f"{name}.json").write_bytes(b"\xff{")

    assert place.trials("1.0.0").before_service() is None
    place.records.forget(Failed)
    assert place.records.staged() is None
