"""Exporting an installed runtime: all of it, only when it is whole, and the same each time."""

import asyncio
import json
import signal
import subprocess
import sys
import tarfile
import threading
from pathlib import Path
from typing import Any

import pytest

from studio.domain.bundles import Exported
from studio.domain.errors import BadInput, Busy, Damaged, NotFound, StudioError
from studio.domain.events import StageState
from studio.host import signing
from studio.host.files import exclusive
from studio.host.hashing import hash_file
from studio.runtimes import bundle_part, bundle_read, bundle_write, folder
from tests.runtimes.bundles import CARRY_NOTHING, Made, export, made
from tests.runtimes.damage import SITE
from tests.runtimes.standin import NAME

__all__ = ["made"]

ROOT = Path(__file__).parents[2]

VICTIM = (
    CARRY_NOTHING
    + """
import asyncio, os, signal, sys
from pathlib import Path
from studio.host.paths import Paths
from studio.runtimes import bundle_export
from studio.runtimes.catalog import Catalog
home, catalogue, to = map(Path, sys.argv[1:4])
last = int(sys.argv[4])
points = 0
def hook(event, arguments):
    global points
    if event in ("open", "os.rename", "os.remove", "subprocess.Popen"):
        points += 1
        if points == last:
            os.kill(os.getpid(), signal.SIGKILL)
paths = Paths(home=home, catalogue=catalogue)
recipe = Catalog(paths).recipe("tiny-1.0")
sys.addaudithook(hook)
asyncio.run(bundle_export.export(recipe, paths, lambda report: None, to=to))
print(points)
"""
)


def victim(made: Made, to: Path, last: int) -> subprocess.CompletedProcess[str]:
    """Export in a child that kills itself at its `last` point."""
    paths = made.stand_in.paths
    arguments = [str(paths.home), str(paths.catalogue), str(to), str(last)]
    return subprocess.run(
        [sys.executable, "-c", VICTIM, *arguments],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip


def names(place: Path) -> set[str]:
    """Return the names in a folder."""
    return {path.name for path in place.iterdir()}


async def refusal(made: Made, to: Path, key: Path | None = None) -> StudioError:
    """Return the error with which an export ends."""
    with pytest.raises(StudioError) as caught:
        await export(made.stand_in, to, key)
    return caught.value


async def test_what_it_says_is_what_it_wrote(made: Made) -> None:
    """Path, sizes, sha256: they are copied into tickets and compared on the other machine."""
    said = made.exported

    found = hash_file(said.path)
    assert found is not None
    assert (found.size, found.sha256.hex()) == (said.file_bytes, said.sha256)
    assert Path(said.path).name == f"{NAME}-{made.record.runtime_id[:12]}.weir.tar.gz"
    assert said.runtime_id == made.record.runtime_id
    assert said.is_new_key
    with bundle_read.opened(made.file) as opened:
        index = opened.head.index
    assert (said.files, said.bytes) == (len(index.items), index.bytes)
    assert index.record == made.record
    assert made.stand_in.reports[-1].state is StageState.DONE


async def test_it_holds_record_recipe_lock_patches_and_reports(made: Made) -> None:
    """Who asks later what runs on the offline box finds all of it in the file."""
    with tarfile.open(made.file) as tar:
        held = set(tar.getnames())
        index = json.load(tar.extractfile("weir-bundle.json"))

    assert index["record"]["runtime_id"] == made.record.runtime_id
    assert held >= {
        *("recipe/runtime.toml", "recipe/requirements.lock", "recipe/patches/0001-seventy.patch"),
        *("runtime/manifest", "runtime/patches.json", "runtime/journal.json"),
        f"runtime/{SITE}/weirtiny/part7.py",
    }
    assert "runtime/runtime.json" not in held
    assert any(name.endswith(".pyc") for name in held)


async def test_exported_again_it_is_equal_to_the_byte(made: Made, tmp_path: Path) -> None:
    """A second look at the same runtime gives the same sha256, with the same key."""
    again = await export(made.stand_in, tmp_path / "again")

    assert again.sha256 == made.exported.sha256
    assert not again.is_new_key


async def test_another_key_signs_when_it_is_named(made: Made, tmp_path: Path) -> None:
    """A team signs with its own; what is no key stops it before anything is read."""
    key = tmp_path / "team.pem"
    signing.own(key)

    said = await export(made.stand_in, tmp_path / "one", key)

    assert said.fingerprint != made.exported.fingerprint
    key.write_text("no key")
    assert (await refusal(made, tmp_path / "two", key)).code == "signing-key-invalid"


async def test_a_damaged_runtime_stays_at_home(made: Made, tmp_path: Path) -> None:
    """What it spreads would be signed, and whole by its own list."""
    place = folder.folder_of(made.stand_in.paths, made.record) / SITE / "weirtiny/part3.py"
    good = place.read_bytes()
    place.rename(place.with_suffix(".kept"))
    try:
        for content in (None, b"X = 4\n"):
            if content is not None:
                place.write_bytes(content)
            error = await refusal(made, tmp_path / "x")
            assert isinstance(error, Damaged)
            assert error.code == "runtime-damaged"
            assert f"{SITE}/weirtiny/part3.py" in error.evidence
            assert "repair" in (error.hint or "")
    finally:
        place.with_suffix(".kept").replace(place)
    assert place.read_bytes() == good
    assert names(tmp_path) == set()


async def test_where_it_cannot_go_is_said_first(made: Made, tmp_path: Path) -> None:
    """Before seconds are spent on reading everything."""
    (tmp_path / "there").write_text("mine")
    for to, kind, code in (
        (tmp_path / "there", BadInput, "file-exists"),
        (tmp_path / "no folder" / "x", NotFound, "folder-missing"),
        (Path("relative"), BadInput, "path-relative"),
    ):
        error = await refusal(made, to)
        assert isinstance(error, kind)
        assert error.code == code


async def test_what_is_not_installed_or_busy_is_said(made: Made, tmp_path: Path) -> None:
    """An installation under way would change what is packed."""
    empty = made.stand_in.elsewhere(tmp_path / "home")
    with pytest.raises(NotFound) as missing:
        await export(empty, tmp_path)
    lock = folder.named_folder(made.stand_in.paths, NAME) / "install.lock"
    with exclusive(lock):
        error = await refusal(made, tmp_path)

    assert missing.value.code == "runtime-not-installed"
    assert isinstance(error, Busy)
    assert error.code == "install-running"


async def test_killed_anywhere_the_next_export_is_whole(made: Made, tmp_path: Path) -> None:
    """And under the file's name there is never half of one."""
    whole = victim(made, tmp_path / "whole", 0)
    assert whole.returncode == 0, whole.stderr
    count = int(whole.stdout)
    assert count > 60
    content = (tmp_path / "whole").read_bytes()
    for last in (1, 5, count // 3, count // 2, count - 3, count - 1):
        to = tmp_path / f"killed {last}"

        assert victim(made, to, last).returncode == -signal.SIGKILL
        assert not to.exists() or to.read_bytes() == content
        to.unlink(missing_ok=True)
        await export(made.stand_in, to)

        assert to.read_bytes() == content
    assert not any(name.startswith(".") for name in names(tmp_path))


async def test_what_a_kill_left_is_gone_after_the_next_export(made: Made, tmp_path: Path) -> None:
    """Wherever that goes: gigabytes under a hidden name would stay on somebody's stick for good."""
    lost = tmp_path / "lost"
    lost.mkdir()
    whole = victim(made, tmp_path / "whole", 0)
    killed = victim(made, lost / "b", int(whole.stdout) - 3)
    assert killed.returncode == -signal.SIGKILL
    assert names(lost) == {".b.part"}

    await export(made.stand_in, tmp_path / "other")

    assert names(lost) == set()
    assert bundle_part.left(folder.named_folder(made.stand_in.paths, NAME)) == ()


async def test_one_that_is_stopped_too_late_leaves_no_file_either(
    made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is told that it was stopped; a whole file that nobody knows of would be litter."""
    loop, is_asked = asyncio.get_running_loop(), threading.Event()
    task: asyncio.Task[Exported] | None = None

    def stop() -> None:
        assert task is not None
        task.cancel()
        is_asked.set()

    def write(*arguments: Any) -> bundle_write.Written:
        done = written(*arguments)
        loop.call_soon_threadsafe(stop)
        is_asked.wait()
        return done

    written = bundle_write.write
    monkeypatch.setattr(bundle_write, "write", write)
    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(export(made.stand_in, tmp_path / "late"))

    assert task.cancelled()
    assert names(tmp_path) == set()
