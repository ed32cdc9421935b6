"""The unit over a stand-in systemd that really starts what the unit says."""

import asyncio
import contextlib
import dataclasses
import json
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from studio.app.service_unit import ServiceUnit
from studio.domain.errors import StudioError
from studio.domain.service import RunsAs, UnitRequest
from studio.host import unit_file
from studio.host.systemd import UserManager
from tests.fakes import fake_systemd
from tests.fakes.waiting import is_alive, until, until_async
from tests.fakes.weir import Weir

PLAIN = UnitRequest()
FORCED = UnitRequest(force=True)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """A person's machine with the stand-in, and one home."""

    state: Path
    environ: dict[str, str]
    weir: Weir

    def unit(self, *, uid: int = 4321, home: Path | None = None, **more: str) -> ServiceUnit:
        """Return the unit of the home, as this person, or another one, sees it."""
        environ = {**self.environ, **more}
        paths = self.weir.paths
        if home is not None:
            paths = dataclasses.replace(paths, home=home)
        manager = UserManager(environ, root=self.state / "root", uid=uid)
        return ServiceUnit(paths, drain_s=lambda: 90.0, environ=environ, manager=manager)

    def calls(self) -> list[str]:
        """Return the verbs that changed something."""
        lines = (self.state / "calls").read_text(encoding="utf-8").splitlines()
        return [line for line in lines if " show " not in line]

    def files(self) -> set[str]:
        """Return everything below the person's folder for units."""
        base = Path(self.environ["HOME"]) / ".config"
        return {str(path.relative_to(base)) for path in base.rglob("*") if not path.is_dir()}


@pytest.fixture
def machine(tmp_path: Path, weir: Weir) -> Iterator[Machine]:
    """Return a machine; what the stand-in started is ended."""
    state = tmp_path / "state"
    fake_systemd.install(tmp_path / "bin", state)
    environ = {
        "HOME": str(tmp_path / "person"),
        "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}",
        "WEIR_CATALOGUE": weir.environment["WEIR_CATALOGUE"],
    }
    (tmp_path / "person").mkdir()
    yield Machine(state=state, environ=environ, weir=weir)
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        os.kill(int((state / "pid").read_text()), signal.SIGKILL)


@contextlib.contextmanager
def another_program() -> Iterator[int]:
    """Yield the process id of a program that waits, and is not ours."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        try:
            yield process.pid
        finally:
            process.kill()


async def code_of(call) -> str:
    """Return the code of the error that a call ends with."""
    with pytest.raises(StudioError) as caught:
        await call
    return caught.value.code


async def test_an_install_starts_the_service_and_a_removal_leaves_nothing(
    machine: Machine,
) -> None:
    """The whole way, with a home that has a blank and an accent in its name."""
    other = Path(machine.environ["HOME"]) / ".config/systemd/user/other.service"
    other.parent.mkdir(parents=True)
    other.write_text("[Service]\n")
    before = machine.files()

    found = await machine.unit().install(PLAIN)

    assert (found.is_installed, found.is_edited, found.is_outdated) == (True, False, False)
    assert (found.enabled, found.active, found.runs_as) == ("enabled", "active", RunsAs.UNIT)
    assert found.home == str(machine.weir.paths.home)
    assert found.pid == machine.weir.service_pid()
    assert "READY=1" in (machine.state / "said").read_text()
    assert any("weir service install --linger" in note for note in found.notes)

    gone = await machine.unit().uninstall(PLAIN)

    assert (gone.is_installed, gone.pid, gone.notes) == (False, None, ())
    assert machine.files() == before
    assert not is_alive(found.pid or 0)
    assert not (machine.weir.paths.home / "service-unit.json").exists()


async def test_an_install_twice_changes_nothing(machine: Machine) -> None:
    """Running it again is what people do when they are not sure."""
    first = await machine.unit().install(PLAIN)
    written = machine.unit().file.stat().st_mtime_ns

    second = await machine.unit().install(PLAIN)

    assert second.pid == first.pid
    assert machine.unit().file.stat().st_mtime_ns == written


async def test_an_older_unit_of_ours_is_written_anew_silently(machine: Machine) -> None:
    """An update must not ask about what nobody touched."""
    await machine.unit().install(PLAIN)
    moved = machine.unit(HTTPS_PROXY="http://proxy.test:3128")
    assert (await moved.info()).is_outdated

    await moved.install(PLAIN)

    assert "proxy.test" in moved.file.read_text()


async def test_what_a_person_changed_is_shown_and_kept(machine: Machine) -> None:
    """Their lines are their work; a yes has to be said."""
    unit = machine.unit()
    await unit.install(PLAIN)
    edited = unit.file.read_text().replace("KillMode=mixed", "KillMode=process")
    unit.file.write_text(edited)

    with pytest.raises(StudioError) as caught:
        await unit.install(PLAIN)

    assert caught.value.code == "unit-edited"
    assert "-KillMode=process" in caught.value.evidence
    assert await code_of(unit.uninstall(PLAIN)) == "unit-edited"
    assert unit.file.read_text() == edited
    assert any("changed by hand" in note for note in (await unit.info()).notes)
    assert not (await unit.install(FORCED)).is_edited


async def test_the_unit_of_another_folder_is_left_alone(machine: Machine, tmp_path: Path) -> None:
    """A person has one unit, and may have two homes."""
    await machine.unit().install(PLAIN)
    other = machine.unit(home=tmp_path / "other")

    assert await code_of(other.install(PLAIN)) == "unit-of-another-home"
    assert await code_of(other.uninstall(PLAIN)) == "unit-of-another-home"
    assert machine.unit().file.exists()


async def test_a_masked_unit_is_not_written_through(machine: Machine) -> None:
    """It is a link to /dev/null: writing there would look like success."""
    unit = machine.unit()
    unit.file.parent.mkdir(parents=True)
    unit.file.symlink_to(os.devnull)

    assert await code_of(unit.install(FORCED)) == "unit-is-link"
    assert await code_of(unit.uninstall(FORCED)) == "unit-is-link"
    assert unit.file.is_symlink()


async def test_an_appimage_is_refused_and_told_what_to_install(machine: Machine) -> None:
    """It is mounted somewhere else at each start, and what systemd sees is not the service."""
    unit = machine.unit(APPIMAGE="/home/zoë/Weir.AppImage")

    with pytest.raises(StudioError) as caught:
        await unit.install(FORCED)

    assert caught.value.code == "service-as-appimage"
    assert "/home/zoë/Weir.AppImage" in caught.value.message
    assert not unit.file.exists()


async def test_root_is_refused_and_told_the_other_way(machine: Machine) -> None:
    """A server for everybody with all rights is what nobody should get by accident."""
    unit = machine.unit(uid=0)

    with pytest.raises(StudioError) as caught:
        await unit.install(FORCED)

    assert caught.value.code == "service-as-root"
    assert "--dry-run" in (caught.value.hint or "")
    assert not unit.file.exists()
    assert "ExecStart=" in (await unit.text()).text


async def test_a_service_started_by_hand_is_not_disturbed(machine: Machine) -> None:
    """It may be answering somebody; the unit waits, and says so."""
    machine.weir.begin_service()
    by_hand = machine.weir.service_pid()

    found = await machine.unit().install(PLAIN)

    assert (found.runs_as, found.pid) == (RunsAs.HAND, by_hand)
    assert found.enabled == "enabled"
    assert not [call for call in machine.calls() if " start " in call]
    assert any(f"process {by_hand}" in note for note in found.notes)

    os.kill(by_hand, signal.SIGTERM)
    await until_async(lambda: not is_alive(by_hand), "its end")
    assert (await machine.unit().install(PLAIN)).runs_as is RunsAs.UNIT


async def test_the_files_of_a_killed_service_are_no_service(machine: Machine) -> None:
    """Its number may be anybody's by now."""
    service = machine.weir.paths.service
    service.mkdir(parents=True)
    with another_program() as pid:
        address = {"port": 1, "pid": pid, "version": "0", "started_at": 1.0}
        (service / "service.json").write_text(json.dumps(address))

        assert (await machine.unit().info()).pid is None


async def test_linger_is_asked_for_and_undone(machine: Machine) -> None:
    """Only what we switched on is switched off."""
    unit = machine.unit()

    assert not (await unit.install(PLAIN)).has_linger
    assert (await unit.install(UnitRequest(linger=True))).has_linger
    assert (await unit.uninstall(PLAIN)).has_linger is False


async def test_linger_that_was_there_before_stays(machine: Machine) -> None:
    """Other services of the person may live by it."""
    unit = machine.unit()
    mark = machine.state / "root/var/lib/systemd/linger" / (await unit.info()).user
    mark.parent.mkdir(parents=True)
    mark.touch()

    await unit.install(UnitRequest(linger=True))
    await unit.uninstall(PLAIN)

    assert mark.exists()


async def test_drop_ins_of_the_person_outlive_the_unit(machine: Machine) -> None:
    """They are not ours to remove; they are named."""
    unit = machine.unit()
    await unit.install(PLAIN)
    drop_in = unit.file.with_name(f"{unit_file.NAME}.d") / "mine.conf"
    drop_in.parent.mkdir()
    drop_in.write_text("[Service]\nNice=5\n")

    gone = await unit.uninstall(PLAIN)

    assert drop_in.exists()
    assert any(str(drop_in) in note for note in gone.notes)


async def test_a_password_of_a_proxy_is_kept_from_others(machine: Machine) -> None:
    """The unit needs it; nobody else may read it, and no output shows it."""
    unit = machine.unit(HTTPS_PROXY="http://me:s3cret@proxy.test:3128")
    await unit.install(PLAIN)

    assert "s3cret" in unit.file.read_text()
    assert stat.S_IMODE(unit.file.stat().st_mode) == 0o600
    assert "s3cret" not in (await unit.text()).text
    unit.file.write_text(unit.file.read_text() + "# mine\n")
    with pytest.raises(StudioError) as caught:
        await machine.unit().install(PLAIN)
    assert "s3cret" not in str(caught.value.evidence)


async def test_where_systemd_cannot_be_reached_the_file_can_still_go(machine: Machine) -> None:
    """Somebody cleans up over a shell that has no session."""
    unit = machine.unit()
    await unit.install(PLAIN)
    (machine.state / "no-session").touch()

    assert await code_of(unit.install(PLAIN)) == "no-user-session"
    gone = await unit.uninstall(PLAIN)

    assert not gone.is_installed
    assert machine.files() == set()
    assert gone.problem is not None
    assert gone.problem.code == "no-user-session"


async def test_a_start_that_fails_says_why(machine: Machine) -> None:
    """The unit is written and enabled; what systemd said is passed on."""
    (machine.state / "refuse").write_text("start")

    with pytest.raises(StudioError) as caught:
        await machine.unit().install(PLAIN)

    assert caught.value.code == "unit-not-started"
    assert any("refused by the test" in line for line in caught.value.evidence)
    assert (await machine.unit().info()).enabled == "enabled"


async def test_a_stop_by_systemd_ends_the_engine_first(machine: Machine) -> None:
    """SIGTERM at shutdown: the answers end, the engine is gone, within the unit's time."""
    found = await machine.unit().install(PLAIN)
    await asyncio.to_thread(machine.weir.json, "up", "--detach")
    assert machine.weir.engine_pids()

    await machine.unit().uninstall(PLAIN)

    assert machine.weir.engine_pids() == []
    assert not is_alive(found.pid or 0)
    log = (machine.weir.paths.logs / "service.log").read_text(encoding="utf-8")
    assert "signal SIGTERM" in log


async def test_a_restart_of_the_unit_takes_up_what_was_written(machine: Machine) -> None:
    """A new proxy counts from the next start on, which may be now."""
    before = await machine.unit().install(PLAIN)

    after = await machine.unit(HTTPS_PROXY="http://proxy.test:1").install(UnitRequest(restart=True))

    assert after.pid != before.pid
    environ = psutil.Process(after.pid or 0).environ()
    assert environ["HTTPS_PROXY"] == "http://proxy.test:1"
    until(lambda: machine.weir.service_pid() == after.pid, "the new service's address")
