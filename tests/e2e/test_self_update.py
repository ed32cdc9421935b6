"""One version of the Studio takes over from another: real services, real kills."""

import json
import random
import signal
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from studio.app.update_records import Records, Staged
from studio.host.paths import Paths, bundled_root
from tests.cli.typed import Typed
from tests.fakes.versions import Releases, environment
from tests.fakes.waiting import until
from tests.fakes.weir import forget_sockets

LIMIT_S = 120.0
STEPS = {"1.0.0": 36, "1.1.0": 34}
"""So many steps on files of updates a version takes, at least, until the other one is in use."""


class Person:
    """Somebody with a prefix, a home, and commands to type."""

    def __init__(self, folder: Path) -> None:
        self.releases = Releases(folder)
        self.home = folder / "wéir home"
        self.environment = environment(self.home)
        self.started: list[subprocess.Popen[bytes]] = []

    def weir(self, *words: str, status: int = 0) -> str:
        """Type a command; return what it answers."""
        done = subprocess.run(
            [str(self.releases.program), *words], env=self.environment, capture_output=True,
            text=True, timeout=LIMIT_S, check=False,
        )  # fmt: skip
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout if status == 0 else done.stderr

    def serve(self, kill: str = "") -> subprocess.Popen[bytes]:
        """Start the service as a launcher does."""
        process = subprocess.Popen(
            [str(self.releases.program), "service", "run"],
            env={**self.environment, "WEIR_KILL": kill},
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self.started.append(process)
        return process

    def serving(self) -> str | None:
        """Return the version that serves."""
        try:
            known = json.loads((self.home / "service/service.json").read_bytes())
        except OSError:
            return None
        return str(known["version"]) if psutil.pid_exists(known["pid"]) else None

    def current(self) -> str:
        """Return the version that the link leads to."""
        return (self.releases.versions / "current").readlink().name

    @property
    def records(self) -> Records:
        """Return the records of updates."""
        return Records(Paths(home=self.home, catalogue=bundled_root()))

    def keys(self) -> tuple[int, list[str]]:
        """Return the schema of the keys' database and the names in it."""
        with sqlite3.connect(self.home / "studio.db") as connection:
            names = [row[0] for row in connection.execute("SELECT name FROM keys ORDER BY name")]
            return int(connection.execute("PRAGMA user_version").fetchone()[0]), names

    def end(self) -> None:
        """Kill what is left."""
        for process in psutil.process_iter():
            try:
                if process.environ().get("WEIR_HOME") == str(self.home):
                    process.kill()
            except (psutil.Error, OSError):
                continue
        for started in self.started:
            started.kill()
            started.wait()
        forget_sockets(Paths(home=self.home, catalogue=bundled_root()))


@pytest.fixture
def person(tmp_path: Path) -> Iterator[Person]:
    """Return a person with version 1.0.0 and a key."""
    made = Person(tmp_path)
    made.releases.install("1.0.0")
    Typed(made.home)("keys", "create", "zed")
    yield made
    made.end()


def staged(person: Person, fault: str) -> None:
    """Lay version 1.1.0 beside, to take over at the next start."""
    payload = person.releases.payload("1.1.0", fault)
    command = ["sh", str(payload / "install.sh"), "--prefix", str(person.releases.prefix)]
    subprocess.run([*command, "--stage"], check=True, capture_output=True)
    person.records.write(Staged(version="1.1.0", wanted=True))


def test_a_person_updates_over_a_running_service_and_goes_back(person: Person) -> None:
    """With a database that the newer version changes: back at the old one it is as it was."""
    person.releases.publish("1.1.0", "migrates")
    person.serve()
    until(lambda: person.serving() == "1.0.0", "the service")

    assert json.loads(person.weir("update", "check", "--json"))["offered"] == "1.1.0"
    assert json.loads(person.weir("update", "get", "--json"))["state"] == "staged"
    assert "--yes" in person.weir("update", "apply", status=4)
    assert person.serving() == "1.0.0"
    person.weir("update", "apply", "--yes")

    assert (person.serving(), person.current()) == ("1.1.0", "1.1.0")
    assert person.keys() == (99, ["zed"])
    person.weir("keys", "create", "new")

    person.weir("update", "rollback", "--yes")

    assert (person.serving(), person.current()) == ("1.0.0", "1.0.0")
    assert person.keys() == (3, ["zed"])
    found = json.loads(person.weir("update", "--json"))
    assert [one["version"] for one in found["copies"]] == ["1.1.0", "1.0.0"]
    assert "new" in _names(Path(found["copies"][0]["path"]) / "studio.db")


def _names(database: Path) -> list[str]:
    with sqlite3.connect(database) as connection:
        return [row[0] for row in connection.execute("SELECT name FROM keys")]


@pytest.mark.parametrize("fault", ["dies", "migrates and dies"])
def test_a_version_that_does_not_come_up_is_taken_back(person: Person, fault: str) -> None:
    """The person is told, the old one serves, the database is the old one's."""
    staged(person, fault)
    person.records.write(Staged(version="1.1.0"))
    person.serve()
    until(lambda: person.serving() == "1.0.0", "the service")

    said = person.weir("update", "apply", "--yes", status=4)

    assert "Version 1.1.0 did not come up" in said
    assert (person.serving(), person.current()) == ("1.0.0", "1.0.0")
    assert person.keys() == (3, ["zed"])
    assert json.loads(person.weir("update", "--json"))["failed"]["code"] == "update-failed"


def test_a_version_that_answers_but_loses_what_a_person_has_is_taken_back(person: Person) -> None:
    """An answer alone proves little: the one before had a preset that the new one does not find."""
    person.weir("presets", "copy", "cpu-demo", "mine")
    staged(person, "forgets")
    person.serve()
    until(
        lambda: _served_by(person) == "1.0.0" and person.records.trial() is None,
        "the old version",
    )  # fmt: skip

    failed = json.loads(person.weir("update", "--json"))["failed"]

    assert "does not find the preset `mine`" in failed["message"]
    assert person.current() == "1.0.0"


def test_a_version_that_crashes_after_it_was_proven_is_left_for_the_one_before(
    person: Person,
) -> None:
    """At first that is offered, then it is done; with databases as the old version wants them."""
    staged(person, "crashes")
    person.weir("update", "apply")
    assert person.current() == "1.1.0"

    for expected in (None, 1, 2):
        assert person.serve().wait(LIMIT_S) == 9
        assert json.loads(person.weir("update", "--json"))["ends"] == (expected or 0)
    assert "weir update rollback" in person.weir("update")
    person.serve()
    until(lambda: person.serving() == "1.0.0" and person.records.trial() is None, "the old version")

    found = json.loads(person.weir("update", "--json"))
    assert person.current() == "1.0.0"
    assert found["failed"]["code"] == "update-unsteady"
    assert found["ends"] is None


def test_a_version_that_hangs_is_ended_by_the_next_start(tmp_path: Path) -> None:
    """Also where nobody watched it."""
    person = Person(tmp_path)
    try:
        person.releases = Releases(tmp_path / "short", trial_s=0.5)
        person.releases.install("1.0.0")
        staged(person, "hangs")
        hung = person.serve()
        until(lambda: person.records.trial() is not None, "the trial")
        until(lambda: _is_late(person), "the end of its time")
        person.serve()

        until(lambda: _served_by(person) == "1.0.0", "the old version", limit_s=60.0)

        assert hung.wait(10) == -signal.SIGKILL
    finally:
        person.end()


def test_without_a_service_nothing_is_left_running(person: Person) -> None:
    """The trial started one; it is ended again."""
    staged(person, "none")

    person.weir("update", "apply")

    assert person.serving() is None
    assert person.current() == "1.1.0"
    assert person.weir("--version") == "weir 1.1.0\n"


def test_a_window_of_the_old_version_starts_the_new_service(person: Person) -> None:
    """It knows its own file only; that must not look like a downgrade."""
    staged(person, "none")
    person.weir("update", "apply")
    old = person.releases.versions / "1.0.0/weir"
    process = subprocess.Popen([str(old), "service", "run"], env=person.environment)
    person.started.append(process)

    until(lambda: person.serving() is not None, "a service")

    assert person.serving() == "1.1.0"


def _is_late(person: Person) -> bool:
    trial = person.records.trial()
    return trial is not None and time.time() - trial.began_at > 0.5


def killed(person: Person, version: str, step: int) -> None:
    """Let the update be killed at a step; then the old version or the new one starts, whole."""
    process = person.serve(f"{version}:{step}")
    until(
        lambda: process.poll() is not None
        or (person.records.trial() is None and person.serving() is not None
            and person.records.ran() is not None),
        "the kill or the end of the update", limit_s=LIMIT_S,
    )  # fmt: skip
    was_killed = process.poll() == -signal.SIGKILL
    if process.poll() is None:
        process.kill()
    process.wait()
    assert was_killed or process.returncode == -signal.SIGKILL

    until(lambda: _served_by(person) is not None, "a version that serves", limit_s=LIMIT_S)

    version = person.serving() or ""
    assert version in ("1.0.0", "1.1.0")
    until(lambda: person.records.trial() is None, "the end of the trial", limit_s=LIMIT_S)
    assert person.current() == version
    schema, names = person.keys()
    assert names == ["zed"]
    assert schema == (99 if version == "1.1.0" else 3)
    assert json.loads((person.home / "settings.json").read_bytes())["port"] == 12_345


def _served_by(person: Person) -> str | None:
    """Return who serves; starts the service where none runs, as a launcher does."""
    if person.serving() is None and all(one.poll() is not None for one in person.started[-1:]):
        person.serve()
    return person.serving()


def points(count: int, seed: int) -> list[tuple[str, int]]:
    """Return places to kill at: of the version that hands over, and of the one that takes over."""
    chosen = random.Random(seed)
    every = [(version, step) for version, most in STEPS.items() for step in range(1, most)]
    return sorted(chosen.sample(every, count))


@pytest.mark.parametrize(("version", "step"), points(5, 1))
def test_a_kill_leaves_the_old_version_or_the_new_one(
    person: Person, version: str, step: int
) -> None:
    """With databases of the version that starts."""
    (person.home / "settings.json").write_text('{"port": 12345}', encoding="utf-8")
    staged(person, "migrates")
    killed(person, version, step)


@pytest.mark.soak
@pytest.mark.parametrize(("version", "step"), points(50, 2))
def test_fifty_kills_leave_the_old_version_or_the_new_one(
    person: Person, version: str, step: int
) -> None:
    """And the update can be done afterwards."""
    (person.home / "settings.json").write_text('{"port": 12345}', encoding="utf-8")
    staged(person, "migrates")
    killed(person, version, step)
    if person.current() == "1.0.0":
        person.weir("update", "apply", "--yes")
    assert person.current() == "1.1.0"
