"""Starting the service through its unit, where there is one, and what keeps it from that."""

import os
from pathlib import Path

import pytest

from studio.app import unit_start
from studio.control import launcher
from studio.domain.service import RunsAs, UnitStart
from studio.host import unit_file
from studio.host.systemd import UserManager
from tests.app.test_service_unit import PLAIN, Machine, machine

__all__ = ["machine"]


def manager(machine: Machine) -> UserManager:
    """Return the person's manager."""
    return UserManager(machine.environ, root=machine.state / "root", uid=4321)


async def start(machine: Machine) -> UnitStart | None:
    """Start the home's service through its unit."""
    return await unit_start.start(
        machine.weir.paths, environ=machine.environ, manager=manager(machine)
    )


async def installed(machine: Machine) -> None:
    """Install the unit, and end the service that this starts."""
    await machine.unit().install(PLAIN)
    await manager(machine).stop()
    (machine.state / "calls").write_text("")


async def test_without_a_unit_nothing_is_asked(machine: Machine) -> None:
    """Most people have none, and calling systemctl takes its time."""
    assert await start(machine) is None
    assert not (machine.state / "calls").exists()


async def test_a_unit_of_ours_is_used(machine: Machine) -> None:
    """Whoever installed it wants the service kept, logged and started again by it."""
    await installed(machine)

    found = await start(machine)

    assert found == UnitStart(is_started=True)
    info = await machine.unit().info()
    assert info.runs_as is RunsAs.UNIT
    assert not (machine.weir.paths.service / "asked-for").exists(), "the service took it up"


async def test_one_that_is_switched_off_is_not_wanted(machine: Machine) -> None:
    """`systemctl --user disable` is a person's word."""
    await installed(machine)
    await manager(machine).disable()

    assert await start(machine) is None


async def test_one_of_another_home_is_not_ours(machine: Machine) -> None:
    """A trial in a folder of its own must not start the one that is kept."""
    await installed(machine)
    text = machine.unit().file.read_text()
    machine.unit().file.write_text(text.replace("WEIR_HOME=", "WEIR_HOME=/elsewhere"))

    assert await start(machine) is None


async def test_a_trial_with_another_catalogue_is_no_matter_of_the_units(machine: Machine) -> None:
    """The unit would serve from the catalogue that it was installed with."""
    await installed(machine)
    machine.environ["WEIR_CATALOGUE"] = "/elsewhere"

    assert await start(machine) is None


async def test_one_that_was_changed_by_hand_is_named(machine: Machine) -> None:
    """Nobody knows what it does now; whoever changed it can say so in a drop-in."""
    await installed(machine)
    file = machine.unit().file
    file.write_text(file.read_text() + "# mine\n")

    found = await start(machine)

    assert found is not None
    assert not found.is_started
    assert found.problem is not None
    assert found.problem.code == "unit-edited"
    assert str(file) in found.problem.message


@pytest.mark.parametrize(
    ("trouble", "code"), [("no-session", "no-user-session"), ("refuse", "unit-not-started")]
)
async def test_what_keeps_systemd_from_it_is_told(
    machine: Machine, trouble: str, code: str
) -> None:
    """After `su`, or in a container: the service is needed all the same."""
    await installed(machine)
    (machine.state / trouble).write_text("start")

    found = await start(machine)

    assert found is not None
    assert found.problem is not None
    assert found.problem.code == code
    assert not (machine.weir.paths.service / "asked-for").exists()


async def test_the_launcher_starts_through_it_and_else_by_hand(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What `weir up` and the window call; with a unit the caller's end is not the service's."""
    await installed(machine)
    for name, value in {**machine.weir.environment, **machine.environ}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(unit_start, "UserManager", lambda *_a, **_k: manager(machine))
    paths = machine.weir.paths

    client = await launcher.connect(paths, start=True, hold=True)
    assert client.started == UnitStart(is_started=True)
    assert (await client.status()).service.pid == int((machine.state / "pid").read_text())
    await client.close()
    await manager(machine).stop()

    (machine.state / "refuse").write_text("start")
    client = await launcher.connect(paths, start=True, hold=True)
    assert client.started is not None
    assert client.started.problem is not None
    await client.status()
    await client.down()
    await client.close()


def test_a_mark_counts_once_and_not_for_long(machine: Machine) -> None:
    """Without it the service would start what starts at login, in the way of what is wanted."""
    paths = machine.weir.paths
    assert not unit_start.was_asked_for(paths)
    mark = paths.service / "asked-for"
    mark.parent.mkdir(parents=True, exist_ok=True)
    mark.touch()

    assert unit_start.was_asked_for(paths)
    assert not unit_start.was_asked_for(paths)
    mark.touch()
    os.utime(mark, (1.0, 1.0))
    assert not unit_start.was_asked_for(paths)
    assert not mark.exists()


async def test_the_unit_that_root_prints_has_nothing_of_roots_own(machine: Machine) -> None:
    """`User=` will name somebody else, who cannot read /root and has programs of their own."""
    own = machine.environ["HOME"]
    unit = machine.unit(uid=0, SSL_CERT_FILE=f"{own}/ca.pem", HTTPS_PROXY="http://proxy:3128")

    text = (await unit.text()).text

    assert own not in text
    assert "PATH=" not in text
    assert "HTTPS_PROXY=http://proxy:3128" in text
    assert str(machine.weir.paths.home) in text, "a folder that was chosen for it stays"
    assert unit_file.is_ours(text)
    assert f'"PATH={machine.environ["PATH"]}"' in (await machine.unit().text()).text
    below = await machine.unit(uid=0, home=Path(own) / ".local/share/weir").text()
    assert "WEIR_HOME" not in below.text
