"""Starting a service of a home, where none answers."""

import subprocess
import sys
from pathlib import Path

import pytest

from studio.app.update_records import Records
from studio.control import starting
from studio.control.client import ControlClient
from studio.domain.errors import ServiceUnreachable
from studio.host.paths import Paths, bundled_root


async def nobody() -> ControlClient | None:
    """Find no service."""
    return None


def stand_in(monkeypatch: pytest.MonkeyPatch, program: str) -> None:
    """Let `program` be what is started in place of the service."""
    monkeypatch.setattr(starting.detach, "own_command", lambda: [sys.executable, "-c", program])
    monkeypatch.setenv("XDG_CONFIG_HOME", "/nowhere")  # no systemd unit of this machine's


async def test_a_service_that_ends_at_once_is_told_with_its_last_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody should have to look for the log to learn what it said."""
    paths = Paths(home=tmp_path / "Jörg's home", catalogue=bundled_root())
    stand_in(monkeypatch, "import sys; print('no room', file=sys.stderr); sys.exit(3)")

    with pytest.raises(ServiceUnreachable) as caught:
        await starting.start(paths, nobody, hold=False)

    assert caught.value.code == "service-not-started"
    assert caught.value.evidence == ("no room",)
    assert str(paths.logs / "service-start.log") in str(caught.value.hint)


async def test_who_finds_the_home_taken_tries_again_until_time_is_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another one is just ending: its lock is held, and then it is not."""
    paths = Paths(home=tmp_path, catalogue=bundled_root())
    mark = tmp_path / "tries"
    stand_in(monkeypatch, f"open({str(mark)!r}, 'a').write('x')")
    asked = 0

    async def late() -> ControlClient | None:
        nonlocal asked
        asked += 1
        is_there = mark.exists() and len(mark.read_text()) >= 2
        return ControlClient("http://127.0.0.1:9", "none") if is_there else None

    client = await starting.start(paths, late, hold=True)

    assert client.started is None
    assert asked > 2
    await client.close()


def test_who_finds_a_service_loads_nothing_of_how_one_is_started() -> None:
    """Updates, units and runtimes: a hundred modules for nothing."""
    asked = "import studio.control.launcher, sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)

    loaded = set(done.stdout.split())
    assert "studio.control.launcher" in loaded
    assert loaded.isdisjoint({"studio.control.starting", "studio.app.unit_start"})
    assert not [name for name in loaded if name.startswith("studio.runtimes")]


async def test_the_end_of_a_version_on_trial_is_kept_for_the_one_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It crashes while it is loaded, and the log that has its words is the next one's."""
    paths = Paths(home=tmp_path / "höme", catalogue=bundled_root())
    program = f"""
import os, pathlib, sys, time
sys.path.insert(0, {str(bundled_root())!r})
from studio.app.update_records import Records, Trial
from studio.host.paths import Paths, bundled_root
records = Records(Paths(home=pathlib.Path({str(paths.home)!r}), catalogue=bundled_root()))
if records.trial() is None:
    records.write(Trial(old="1", new="2", pid=os.getpid(), process_started_at=None, began_at=1.0))
    sys.exit("no libfoo")
"""
    stand_in(monkeypatch, program)
    said: list[str] = []

    async def told() -> ControlClient | None:
        trial = Records(paths).trial()
        if trial is None or trial.shortcoming is None:
            return None
        said.append(trial.shortcoming)
        return ControlClient("http://127.0.0.1:9", "none")

    client = await starting.start(paths, told, hold=False)
    await client.close()

    assert said == ["it ended with status 1, and its last line was: no libfoo"]
