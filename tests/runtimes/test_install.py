"""Installing: from nothing, after every kind of interruption, and against every kind of fault."""

import asyncio
import contextlib
import functools
import itertools
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from studio.domain.errors import Busy, Damaged, HostLacks, NetworkFailure, StudioError
from studio.domain.events import StageProgress, StageState
from studio.domain.manifests import InstalledRuntime
from studio.host.files import exclusive
from studio.runtimes import folder
from studio.runtimes.install import download_bytes, install
from tests.conftest import RealRuntime
from tests.fakes.waiting import BUSY_TRIES
from tests.fakes.wheels import make_wheel
from tests.runtimes import standin
from tests.runtimes.standin import StandIn

ROOT = Path(__file__).parents[2]
WAIT_S = 60.0

# Installs, and kills itself with SIGKILL at a chosen point. A point is anything that could leave a
# half-done state: a file opened for writing, a rename, a removal, a started process, a report.
VICTIM = """
import asyncio, os, signal, sys
from pathlib import Path
home, catalogue, last = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
from studio.host.paths import Paths
from studio.runtimes.catalog import Catalog
from studio.runtimes.install import install
points = 0
def point():
    global points
    points += 1
    if points == last:
        os.kill(os.getpid(), signal.SIGKILL)
EVENTS = {"os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.link", "os.symlink",
          "subprocess.Popen", "shutil.rmtree"}
def hook(event, arguments):
    if event in EVENTS or (event == "open" and isinstance(arguments[2], int)
                           and arguments[2] & (os.O_WRONLY | os.O_RDWR)):
        point()
paths = Paths(home=home, catalogue=catalogue)
recipe = Catalog(paths).recipe("tiny-1.0")
sys.addaudithook(hook)
asyncio.run(install(recipe, paths, lambda report: point()))
print(points)
"""


def run(stand_in: StandIn) -> InstalledRuntime:
    """Install and return the record."""
    return asyncio.run(install(stand_in.recipe, stand_in.paths, stand_in.reports.append))


def ask(stand_in: StandIn, code: str) -> str:
    """Return what the installed runtime prints."""
    record = folder.installed(stand_in.paths, stand_in.recipe)
    assert record is not None
    python = folder.python_of(stand_in.paths, record)
    done = subprocess.run([python, "-I", "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def assert_whole(stand_in: StandIn) -> None:
    """Check that the runtime works and that nothing half-done lies beside it."""
    record = folder.installed(stand_in.paths, stand_in.recipe)
    assert record is not None
    code = "import weirtiny, weirother, weirtiny.part7 as p; print(weirtiny.ANSWER, p.__cached__)"
    answer, cached = ask(stand_in, code).split(" ", 1)
    assert answer == "42"
    assert Path(cached).is_file()
    code = "import weirtiny.part7 as p, weirtiny.added as a; print(p.X, a.Z)"
    assert ask(stand_in, code) == "70 3"
    code = "from importlib.metadata import version, files; print(version('tiny-alias'))"
    assert ask(stand_in, code) == "1.0+cpu"
    inside = folder.folder_of(stand_in.paths, record)
    assert {path.name for path in inside.iterdir()} == {
        *("python", "journal.json", "patches.json", "manifest", "recipe.json", "runtime.json")
    }
    beside = {path.name for path in inside.parent.iterdir()}
    assert beside == {"install.lock", "current", "history", inside.name}


def helpers_of(home: Path) -> list[psutil.Process]:
    """Return living processes that work inside `home`."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            alive = process.status() != psutil.STATUS_ZOMBIE
            if alive and any(str(home) in part for part in process.cmdline()):
                found.append(process)
    return found


def test_from_nothing_to_a_runtime_that_runs(stand_in: StandIn) -> None:
    """The thread of it all, in a home with a blank and a foreign letter."""
    record = run(stand_in)

    assert_whole(stand_in)
    assert record.bytes is not None
    assert record.bytes > 10_000
    assert sys.version.split()[0].rpartition(".")[0] in record.interpreter
    assert record.runtime_id == folder.runtime_id(
        record.interpreter_build, record.lock_digest, record.patch_digest
    )
    assert record.patch_digest is not None
    assert stand_in.reports[-1].state is StageState.DONE
    assert {report.unit for report in stand_in.reports} == {None, "bytes"}
    assert any(report.note == "Compiling bytecode" for report in stand_in.reports)


def test_an_installed_runtime_is_recognised_without_starting_anything(stand_in: StandIn) -> None:
    """Every `weir up` asks; it may cost 20 ms and no process."""
    first = run(stand_in)
    recipe, started = stand_in.recipe, list[str]()
    taken_s: list[float] = []
    while not taken_s or (min(taken_s) >= 0.02 and len(taken_s) < BUSY_TRIES):
        with audited(started):
            begun = time.process_time()
            second = asyncio.run(install(recipe, stand_in.paths, stand_in.reports.append))
            taken_s.append(time.process_time() - begun)
        assert second == first

    assert started == []
    assert min(taken_s) < 0.02
    assert stand_in.reports[-1].state is StageState.SKIPPED
    assert download_bytes(recipe, stand_in.paths) == 0


_listeners: list[list[str]] = []


@functools.cache
def _listen() -> None:
    def hook(event: str, _arguments: tuple[object, ...]) -> None:
        if event in ("subprocess.Popen", "os.posix_spawn", "os.fork", "socket.connect"):
            for heard in _listeners:
                heard.append(event)

    sys.addaudithook(hook)


@contextlib.contextmanager
def audited(events: list[str]) -> Iterator[None]:
    """Collect started processes and opened connections."""
    _listen()
    _listeners.append(events)
    yield
    _listeners.remove(events)


def test_equal_inputs_give_equal_ids(stand_in: StandIn, tmp_path: Path) -> None:
    """Two machines with the same id run the same thing; a report can be trusted."""
    other = stand_in.elsewhere(tmp_path / "other")

    assert run(stand_in).runtime_id == run(other).runtime_id


def test_a_changed_lock_is_another_runtime(stand_in: StandIn) -> None:
    """And the old one stays until the new one is whole."""
    old = run(stand_in)
    line = make_wheel(stand_in.wheels, "weirmore", {"weirmore/__init__.py": b""})
    lock = stand_in.recipe_file.parent / "requirements.lock"
    lock.write_text(lock.read_text() + line + "\n")

    assert folder.installed(stand_in.paths, stand_in.recipe) is None
    new = run(stand_in)

    assert new.runtime_id != old.runtime_id
    assert folder.python_of(stand_in.paths, old).exists()
    assert ask(stand_in, "import weirmore; print('more')") == "more"


def victim(stand_in: StandIn, last: int) -> subprocess.CompletedProcess[str]:
    """Run an installation that dies at point `last`."""
    return subprocess.run(
        [sys.executable, "-c", VICTIM, stand_in.paths.home, stand_in.paths.catalogue, str(last)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=WAIT_S,
        check=False,
    )


def test_killed_anywhere_it_goes_on(stand_in: StandIn, tmp_path: Path) -> None:
    """Power cuts and impatient people choose their moment freely; so do these seeded kills."""
    whole = victim(stand_in.elsewhere(tmp_path / "counted"), 0)
    assert whole.returncode == 0, whole.stderr
    count = int(whole.stdout)
    assert count > 40

    for number, last in enumerate(sorted(random.Random(20261129).sample(range(1, count), 6))):
        here = stand_in.elsewhere(tmp_path / f"killed {number}")
        assert victim(here, last).returncode == -9
        psutil.wait_procs(helpers_of(here.paths.home), timeout=WAIT_S)
        assert helpers_of(here.paths.home) == []

        run(here)

        assert_whole(here)


def test_killed_between_files_and_bytecode_it_compiles_the_rest(stand_in: StandIn) -> None:
    """uv compiles nothing where all is installed, and the engine would boot at half its speed."""
    record = run(stand_in)
    inside = folder.folder_of(stand_in.paths, record)
    (inside / "runtime.json").unlink()
    steps = ["interpreter", "linked"]
    journal = {"runtime_id": record.runtime_id, "steps": steps}
    (inside / "journal.json").write_text(json.dumps(journal))
    for cached in inside.rglob("*.pyc"):
        cached.unlink()

    run(stand_in)

    assert_whole(stand_in)


async def test_ctrl_c_leaves_nothing_running_and_it_goes_on(stand_in: StandIn) -> None:
    """Cancelled while uv works: uv ends with us, and the lock is free again."""
    reached = asyncio.Event()

    def report(progress: StageProgress) -> None:
        if progress.note is not None and progress.note.startswith("Installing"):
            reached.set()

    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(install(stand_in.recipe, stand_in.paths, report))
        await asyncio.wait_for(reached.wait(), WAIT_S)
        task.cancel()

    assert task.cancelled()
    assert helpers_of(stand_in.paths.home) == []
    await install(stand_in.recipe, stand_in.paths, report)
    assert_whole(stand_in)


def test_two_at_once_do_not_collide(stand_in: StandIn) -> None:
    """The window and the terminal may both press Start."""
    home = folder.named_folder(stand_in.paths, standin.NAME)
    with exclusive(home / "install.lock") as is_ours:
        assert is_ours
        with pytest.raises(Busy) as caught:
            run(stand_in)

    assert caught.value.code == "install-running"
    run(stand_in)
    assert_whole(stand_in)


def test_a_wrong_hash_stops_it_and_the_right_file_heals_it(stand_in: StandIn) -> None:
    """A mirror with another file under the same name must not get into a runtime."""
    good = (stand_in.wheels / "weirtiny-1.0-py3-none-any.whl").read_bytes()
    make_wheel(stand_in.wheels, "weirtiny", {"weirtiny/__init__.py": b"ANSWER = 0\n"})

    with pytest.raises(Damaged) as caught:
        run(stand_in)

    assert caught.value.code == "package-hash"
    assert "weirtiny" in caught.value.message
    assert stand_in.reports[-1].state is StageState.FAILED
    assert folder.installed(stand_in.paths, stand_in.recipe) is None
    (stand_in.wheels / "weirtiny-1.0-py3-none-any.whl").write_bytes(good)
    run(stand_in)
    assert_whole(stand_in)


def test_without_network_it_says_which_files_to_bring(
    stand_in: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And with those files in the folder that the hint names, it completes."""
    monkeypatch.delenv("PIP_FIND_LINKS")

    with pytest.raises(NetworkFailure) as caught:
        run(stand_in)

    lock = folder.lock_file(stand_in.paths, stand_in.recipe)
    assert caught.value.code == "packages-unreachable"
    assert f"-r {lock}" in (caught.value.hint or "")
    monkeypatch.setenv("PIP_FIND_LINKS", stand_in.wheels.as_uri())
    run(stand_in)
    assert_whole(stand_in)


def test_too_little_disk_is_said_before_anything_is_fetched(stand_in: StandIn) -> None:
    """Half an installation helps nobody."""
    stand_in.edit("disk_bytes = 2_000_000", "disk_bytes = 9_000_000_000_000_000")

    with pytest.raises(HostLacks) as caught:
        run(stand_in)

    assert caught.value.code == "disk-space"
    assert not (stand_in.paths.cache / "uv").exists()


@pytest.mark.parametrize("size", ["64k", "160k", "600k"])
def test_a_disk_that_fills_up_is_named(stand_in: StandIn, tmp_path: Path, size: str) -> None:
    """Somebody else's download may take the space in the middle; afterwards it goes on."""
    small = tmp_path / "small disk"
    small.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(small)]
    if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("this user may not mount a small disk")
    try:
        here = stand_in.elsewhere(small / "home")
        here.edit("disk_bytes = 2_000_000", "disk_bytes = 1")
        line = make_wheel(here.wheels, "weirlarge", {"weirlarge/data": os.urandom(700_000)})
        lock = here.recipe_file.parent / "requirements.lock"
        lock.write_text(lock.read_text() + line + "\n")

        with pytest.raises(StudioError) as caught:
            run(here)

        assert caught.value.code == "disk-full", caught.value.evidence
        subprocess.run(["mount", "-o", "remount,size=90m", str(small)], check=True)
        run(here)
        assert_whole(here)
    finally:
        subprocess.run(["umount", str(small)], check=True)


def test_a_home_that_cannot_be_written_is_named(stand_in: StandIn, tmp_path: Path) -> None:
    """A file in the place of a folder, a read-only disk, another owner."""
    (tmp_path / "file").write_text("in the way")

    with pytest.raises(HostLacks) as caught:
        run(stand_in.elsewhere(tmp_path / "file" / "home"))

    assert caught.value.code == "not-writable"


def test_another_platform_is_refused_before_anything_is_written(stand_in: StandIn) -> None:
    """The wheels would not run here."""
    stand_in.edit('platforms = ["', 'platforms = ["plan9-68000", "not-')

    with pytest.raises(HostLacks) as caught:
        run(stand_in)

    assert caught.value.code == "platform-unsupported"
    assert "plan9-68000" in caught.value.message
    assert not stand_in.paths.home.exists()


def test_a_damaged_record_is_repaired(stand_in: StandIn) -> None:
    """Half-synced folders and bad disks must not lock a person out."""
    record = run(stand_in)
    inside = folder.folder_of(stand_in.paths, record)
    for name in ("runtime.json", "journal.json"):
        (inside / name).write_text("{half")

    assert run(stand_in).runtime_id == record.runtime_id
    assert_whole(stand_in)


def test_a_runtime_that_is_not_as_its_recipe_says_is_built_anew(stand_in: StandIn) -> None:
    """The probe has the last word, and its objection must not repeat for ever."""
    record = run(stand_in)
    inside = folder.folder_of(stand_in.paths, record)
    (inside / "runtime.json").unlink()
    packages = inside / "python" / "lib" / f"python{standin.SERIES}" / "site-packages"
    (packages / "weirtiny" / "__init__.py").unlink()
    for cached in (packages / "weirtiny" / "__pycache__").glob("*.pyc"):
        cached.unlink()

    with pytest.raises(Damaged) as caught:
        run(stand_in)

    assert caught.value.code == "runtime-probe"
    run(stand_in)
    assert_whole(stand_in)


def test_an_archive_from_a_mirror_is_unpacked_and_used(
    stand_in: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The interpreter of the recipe, from a folder on a stick, without this machine's Python."""
    mirror = tmp_path / "stick ü"
    mirror.mkdir()
    sha256 = standin.make_interpreter_archive(mirror / "cpython+1-linux-install_only.tar.gz")
    table = standin.archive_table(
        "https://weir.invalid/20990101/cpython%2B1-linux-install_only.tar.gz", sha256
    )
    stand_in.recipe_file.write_text(standin.recipe_text(table), "utf-8")
    monkeypatch.setenv("WEIR_PYTHON_MIRROR", str(mirror))

    record = run(stand_in)

    assert_whole(stand_in)
    assert record.interpreter_build == f"cpython-{standin.SERIES}.99+20990101-linux"
    assert "of this machine" not in record.interpreter


def test_an_archive_with_another_hash_is_refused(
    stand_in: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Falling back silently would hide an attack or a broken mirror."""
    standin.make_interpreter_archive(tmp_path / "cpython+1-linux-install_only.tar.gz")
    table = standin.archive_table(
        "https://weir.invalid/20990101/cpython%2B1-linux-install_only.tar.gz", "0" * 64
    )
    stand_in.recipe_file.write_text(standin.recipe_text(table), "utf-8")
    monkeypatch.setenv("WEIR_PYTHON_MIRROR", str(tmp_path))

    with pytest.raises(Damaged) as caught:
        run(stand_in)

    assert caught.value.code == "download-hash"


def test_another_interpreters_unfinished_folder_is_cleared_away(stand_in: StandIn) -> None:
    """First try with one interpreter, second with another: gigabytes must not stay behind."""
    left = folder.runtime_folder(stand_in.paths, standin.NAME, "0123456789abcdef")
    (left / "python").mkdir(parents=True)
    (left / "journal.json").write_text(json.dumps({"runtime_id": "0123456789abcdef"}))

    run(stand_in)

    assert_whole(stand_in)


@pytest.mark.real
def test_the_real_cpu_runtime_installs(real_runtime: RealRuntime) -> None:
    """The recipe that is shipped, from this machine's package sources; only the cache is kept."""
    paths, record = real_runtime.weir.paths, real_runtime.record
    reports = real_runtime.reports

    assert folder.installed(paths, real_runtime.recipe) == record
    assert record.bytes is not None
    assert record.bytes > 2_000_000_000
    assert reports[-1].state is StageState.DONE
    python = folder.python_of(paths, record)
    code = "import torch, sys; print(torch.__version__, torch.ones(2).sum().item())"
    done = subprocess.run([python, "-I", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["2.13.0+cpu", "2.0"]
    assert all(
        later.done >= earlier.done
        for earlier, later in itertools.pairwise(reports)
        if earlier.total == later.total and earlier.done is not None and later.done is not None
    )
