"""`weir service`, over the real parts and a stand-in for systemd."""

import dataclasses
import io
import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from studio.__main__ import LocalConnector
from studio.app.service_unit import ServiceUnit
from studio.app.studio import Studio
from studio.app.wiring import Parts
from studio.cli.console import Console
from studio.cli.main import run
from studio.control import launcher
from studio.control.client import ControlClient
from studio.control.router import Router
from studio.host.systemd import UserManager
from tests.cli.typed import Ran
from tests.fakes import fake_systemd
from tests.fakes.catalogue import PRESET
from tests.fakes.waiting import is_alive, until
from tests.fakes.weir import Weir as Home
from tests.fakes.weir import fake_weir


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Person(LocalConnector):
    """Reaches the home's service, and the stand-in systemd of a person who is not root."""

    home: Home
    state: Path
    environ: dict[str, str]
    uid: int = 4321

    async def connect(self, *, start: bool, hold: bool) -> ControlClient:
        """Return a client of the running service."""
        return await launcher.connect(self.home.paths, start=start, hold=hold)

    def offline(self, host: str | None = None) -> ControlClient:
        """Return a client that needs no service."""
        assert host is None

        async def nothing() -> None:
            return

        studio = Studio(Parts(self.home.paths))
        manager = UserManager(self.environ, root=self.state / "root", uid=self.uid)
        studio.life.unit = ServiceUnit(
            self.home.paths, drain_s=lambda: 20.0, environ=self.environ, manager=manager
        )
        return launcher.in_process(Router(studio, down=nothing), studio.close)


@pytest.fixture
def person(tmp_path: Path, weir_home: Home) -> Iterator[Person]:
    """Return a person with a systemd of their own; what it started is ended."""
    state = tmp_path / "state"
    fake_systemd.install(tmp_path / "bin", state)
    (tmp_path / "person").mkdir()
    environ = {
        "HOME": str(tmp_path / "person"),
        "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}",
        "WEIR_CATALOGUE": weir_home.environment["WEIR_CATALOGUE"],
    }
    yield Person(home=weir_home, state=state, environ=environ)
    if (state / "pid").exists() and is_alive(pid := int((state / "pid").read_text())):
        os.kill(pid, signal.SIGKILL)


@pytest.fixture
def weir_home(tmp_path: Path) -> Iterator[Home]:
    """Return a home over the fake engine; `weir` is the command line here."""
    with fake_weir(tmp_path) as made:
        yield made


def command(person: Person, *argv: str) -> Ran:
    """Run one command line in pipes."""
    out, err = io.StringIO(), io.StringIO()
    console = Console(out, err, json="--json" in argv, environ={})
    status = run(argv, person, console)
    return Ran(status, out.getvalue(), err.getvalue())


def test_install_status_and_uninstall_say_what_is(person: Person) -> None:
    """From nothing to nothing, each step in words."""
    assert "not installed" in command(person, "service", "status").out

    installed = command(person, "service", "install")
    assert installed.status == 0, installed.err
    assert "systemd keeps the service now" in installed.err
    assert "systemd, as process" in installed.out
    assert "enabled, active" in installed.out

    removed = command(person, "service", "uninstall")
    assert removed.status == 0
    assert "removed" in removed.out
    assert "There was no unit" in command(person, "service", "uninstall").out


def test_programs_get_documents(person: Person) -> None:
    """The same record everywhere."""
    installed = command(person, "service", "install", "--linger", "--json").document()

    assert installed["runs_as"] == "unit"
    assert installed["has_linger"] is True
    assert command(person, "service", "uninstall", "--json").document()["is_installed"] is False


def test_a_dry_run_prints_the_unit_and_changes_nothing(person: Person) -> None:
    """Also for root, who needs it for a unit of the whole machine."""
    root = dataclasses.replace(person, uid=0)

    ran = command(root, "service", "install", "--dry-run")

    assert ran.status == 0
    assert ran.out.startswith("# Made by")
    assert "ExecStart=" in ran.out
    assert not (Path(person.environ["HOME"]) / ".config").exists()
    assert command(root, "service", "install").status == 4


def test_an_edited_unit_is_shown_before_it_is_lost(person: Person) -> None:
    """The lines that would go, and the word that lets them go."""
    command(person, "service", "install")
    unit = Path(person.environ["HOME"]) / ".config/systemd/user/weir-studio.service"
    unit.write_text(unit.read_text().replace("KillMode=mixed", "KillMode=none"))

    refused = command(person, "service", "install")

    assert refused.status == 3
    assert "-KillMode=none" in refused.err
    assert "--force" in refused.err
    assert command(person, "service", "install", "--force").status == 0


def test_a_service_started_by_hand_is_handed_over_with_what_it_serves(person: Person) -> None:
    """Clients wait for one boot, and keep address and key."""
    up = person.home.json("up", PRESET, "--detach")
    by_hand = person.home.service_pid()
    told = command(person, "service", "install")
    assert "started by hand" in told.out
    assert is_alive(by_hand)

    handed = command(person, "service", "install", "--restart")

    assert handed.status == 0, handed.err
    assert "Handing the running service over" in handed.err
    assert not is_alive(by_hand)
    status = person.home.json("status")
    assert status["service"]["pid"] == int((person.state / "pid").read_text())
    assert (status["engine"]["state"], status["engine"]["preset"]) == ("ready", PRESET)
    assert status["gateway"]["base_url"] == up["base_url"]
    command(person, "service", "uninstall")
    assert person.home.engine_pids() == []


def test_without_systemd_the_words_say_what_to_do(person: Person) -> None:
    """Exit status 4, one sentence, one way out; and the status still tells the rest."""
    bare = dataclasses.replace(person, state=person.state / "none")

    refused = command(bare, "service", "install")

    assert refused.status == 4
    assert "systemd does not run on this machine" in refused.err
    assert "weir service run --autostart" in refused.err
    shown = command(bare, "service", "status")
    assert shown.status == 0
    assert "systemd does not run on this machine" in shown.out


def test_a_choice_is_kept_and_named(person: Person) -> None:
    """And what is still missing for it is said."""
    chosen = command(person, "service", "autostart", PRESET, "--set", "boot_s=0.01")

    assert chosen.status == 0
    assert f"{PRESET} starts with the service" in chosen.out
    assert "weir service install" in chosen.err
    shown = command(person, "service", "status").out
    assert f"`{PRESET}` --set boot_s=0.01, when systemd starts the service next" in shown
    assert "Nothing starts" in command(person, "service", "autostart", "off").out


def test_what_was_chosen_is_served_after_an_install(person: Person) -> None:
    """The unit passes on the word for it."""
    command(person, "service", "autostart", PRESET)

    command(person, "service", "install")

    until(lambda: person.home.engine_state() == "ready", "the engine", limit_s=60)
    assert json.loads((person.home.paths.home / "autostart.json").read_text())["preset"] == PRESET
    command(person, "service", "uninstall")


def test_the_policy_for_sleep_is_chosen_in_words(person: Person) -> None:
    """One of two; anything else is a mistake."""
    assert "stopped before" in command(person, "service", "sleep", "stop").out
    assert command(person, "service", "sleep", "never").status == 2
