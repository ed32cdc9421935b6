"""Importing a runtime: the same one in another home, whatever happens on the way."""

import asyncio
import json
import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from studio.domain.errors import Busy, Damaged, HostLacks, NotFound, StudioError
from studio.domain.events import StageState
from studio.host import signing
from studio.host.files import exclusive
from studio.runtimes import (
    bundle_import,
    bundle_read,
    folder,
    history,
    repair,
    verify,
    versions,
)
from studio.runtimes.signers import forget, trust
from tests.runtimes.bundles import CARRY_NOTHING, Made, export, host, made, take, tree
from tests.runtimes.damage import SCRIPT, SITE
from tests.runtimes.standin import NAME, StandIn
from tests.runtimes.test_versions import engine_from

__all__ = ["made"]

ROOT = Path(__file__).parents[2]

VICTIM = (
    CARRY_NOTHING
    + """
import asyncio, os, signal, sys
from pathlib import Path
from studio.host.paths import Paths
from studio.runtimes import bundle_import
from studio.runtimes.catalog import Catalog
home, catalogue, file = map(Path, sys.argv[1:4])
last = int(sys.argv[4])
points = 0
EVENTS = {"os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.link", "os.symlink", "os.utime",
          "os.chmod", "subprocess.Popen", "shutil.rmtree"}
def hook(event, arguments):
    global points
    if event in EVENTS or (event == "open" and isinstance(arguments[2], int)
                           and arguments[2] & (os.O_WRONLY | os.O_RDWR)):
        points += 1
        if points == last:
            os.kill(os.getpid(), signal.SIGKILL)
paths = Paths(home=home, catalogue=catalogue)
recipe = Catalog(paths).recipe("tiny-1.0")
async def main():
    head = await bundle_import.read_head(file, paths, None)
    sys.addaudithook(hook)
    await bundle_import.install(file, head, recipe, paths, lambda report: None)
asyncio.run(main())
print(points)
"""
)


def ask(*command: str | Path) -> str:
    """Return what a program prints; it must end well."""
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def mounted(folder: Path, options: str) -> bool:
    """Mount a small disk, or mount it anew; tell whether this user may."""
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def victim(made: Made, there: StandIn, last: int) -> subprocess.CompletedProcess[str]:
    """Import in a child that kills itself at its `last` point."""
    arguments = [str(there.paths.home), str(there.paths.catalogue), str(made.file), str(last)]
    return subprocess.run(
        [sys.executable, "-c", VICTIM, *arguments],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip


async def refusal(there: StandIn, file: Path, trust: str | None = None) -> StudioError:
    """Return the error with which an import ends."""
    with pytest.raises(StudioError) as caught:
        await take(there, file, trust)
    return caught.value


async def assert_works(made: Made, there: StandIn) -> None:
    """Check that the imported runtime is the exported one, runs, and is whole by its own list."""
    record = folder.installed(there.paths, there.recipe)
    assert record is not None
    assert record.runtime_id == made.record.runtime_id
    root = folder.folder_of(there.paths, record)
    code = (
        "import weirtiny, weirtiny.part7 as p, weirtiny.added as a, os, sys;"
        "print(weirtiny.ANSWER, p.X, a.Z, os.path.exists(p.__cached__), sys.prefix)"
    )
    python = folder.python_of(there.paths, record)
    assert ask(python, "-I", "-c", code) == f"42 70 3 True {root / 'python'}"
    assert ask(root / SCRIPT) == "said"
    verdict = await verify.verify(there.paths, record, full=True, report=there.reports.append)
    assert verdict.differences == ()
    assert verdict.bytecode == 0
    beside = {path.name for path in root.parent.iterdir()}
    assert beside <= {"install.lock", "current", "history", root.name}
    assert str(made.stand_in.paths.home).encode() not in (root / SCRIPT).read_bytes()


@pytest.mark.parametrize("name", ["home", "my höme (2)", "中文/home with 'quotes'", "d" * 120])
async def test_the_same_runtime_runs_in_another_home(made: Made, tmp_path: Path, name: str) -> None:
    """Blanks, other scripts, a path too long for a first line; times stay, so bytecode counts."""
    there = made.home(tmp_path / name)

    said = await take(there, made.file)

    assert (said.runtime, said.runtime_id) == (NAME, made.record.runtime_id)
    assert (said.files, said.bytes) == (made.exported.files, made.exported.bytes)
    assert (said.fingerprint, said.signer) == (made.exported.fingerprint, "the other desk")
    assert said.is_catalogued
    assert not said.was_there
    await assert_works(made, there)
    assert there.reports[-1].state is StageState.DONE
    assert {one.note for one in there.reports} >= {"Unpacking", "Checking the finished runtime"}
    assert not (there.paths.cache / "uv").exists()


async def test_it_can_be_repaired_moved_and_exported_again(made: Made, tmp_path: Path) -> None:
    """An imported runtime is a runtime like any other."""
    there = made.home(tmp_path / "first")
    await take(there, made.file)
    shutil.move(tmp_path / "first", tmp_path / "moved höme")
    moved = made.home(tmp_path / "moved höme", trusts=False)
    await repair.repair(moved.recipe, moved.paths, moved.reports.append)
    await assert_works(made, moved)

    again = await export(moved, tmp_path)
    third = made.home(tmp_path / "third")
    await take(third, Path(again.path), again.fingerprint)

    await assert_works(made, third)


async def test_an_unknown_signer_is_refused_until_one_says_so(made: Made, tmp_path: Path) -> None:
    """Told once, it is remembered; forgotten, it is unknown again. Nothing is written before."""
    there = made.home(tmp_path / "home", trusts=False)
    mine = made.exported.fingerprint

    error = await refusal(there, made.file)

    assert isinstance(error, HostLacks)
    assert error.code == "signer-unknown"
    assert error.data["fingerprint"] == mine
    assert f"--trust {mine}" in (error.hint or "")
    assert not there.paths.runtimes.exists()
    assert (await refusal(there, made.file, "0" * 32)).code == "signer-differs"
    assert (await refusal(there, made.file, "typo")).code == "fingerprint-invalid"
    await take(there, made.file, mine.replace("-", " ").upper())
    assert (await take(there, made.file)).was_there
    forget(there.paths, mine)
    assert (await refusal(there, made.file)).code == "signer-unknown"
    assert folder.installed(there.paths, there.recipe) is not None


async def test_a_trusted_signer_does_not_stand_for_another(made: Made, tmp_path: Path) -> None:
    """`--trust` names who must have signed, also when that one is trusted already."""
    there = made.home(tmp_path / "home")
    trust(there.paths, "1" * 32)

    assert (await refusal(there, made.file, "1" * 32)).code == "signer-differs"


async def test_another_platform_or_an_older_system_is_refused_first(
    made: Made, tmp_path: Path
) -> None:
    """In words, before anything is written."""
    there = made.home(tmp_path / "home")
    head = await bundle_import.read_head(made.file, there.paths, None)
    elsewhere = msgspec.structs.replace(head.index, platform="plan9-68000")
    newer = msgspec.structs.replace(head.index, glibc="2.99")
    for index, code in ((elsewhere, "platform-unsupported"), (newer, "runtime-does-not-fit")):
        with pytest.raises(HostLacks) as caught:
            bundle_import.require_fit(msgspec.structs.replace(head, index=index), host(there.paths))
        assert caught.value.code == code
    assert not there.paths.runtimes.exists()


async def test_too_little_disk_is_said_before_anything_is_written(
    made: Made, tmp_path: Path
) -> None:
    """With both figures."""
    there = made.home(tmp_path / "home")
    head = await bundle_import.read_head(made.file, there.paths, None)
    large = msgspec.structs.replace(head.index.items[0], size=1 << 60)
    index = msgspec.structs.replace(head.index, items=(large, *head.index.items[1:]))

    with pytest.raises(HostLacks) as caught:
        await bundle_import.install(
            made.file,
            msgspec.structs.replace(head, index=index),
            there.recipe,
            there.paths,
            there.reports.append,
        )

    assert caught.value.code == "disk-space"
    assert folder.installed(there.paths, there.recipe) is None


async def test_a_disk_that_fills_up_is_named_and_it_goes_on(made: Made, tmp_path: Path) -> None:
    """Another home, another file system; a read-only one is named too."""
    small = tmp_path / "small disk"
    small.mkdir()
    if not mounted(small, "size=90m"):
        pytest.skip("this user may not mount a small disk")
    try:
        there = made.home(small / "home")
        assert (await refusal(there, made.file)).code == "disk-space"
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(bundle_import, "require_space", lambda *_arguments: None)
            (small / "filler").write_bytes(bytes(shutil.disk_usage(small).free - 64_000))
            assert (await refusal(there, made.file)).code == "disk-full"
            assert folder.installed(there.paths, there.recipe) is None
            assert mounted(small, "remount,ro")
            assert (await refusal(there, made.file)).code == "not-writable"
            assert mounted(small, "remount,rw,size=200m")
        await take(there, made.file)
        await assert_works(made, there)
    finally:
        ask("umount", str(small))


async def test_two_at_once_do_not_collide(made: Made, tmp_path: Path) -> None:
    """One imports, the other is told; so it is while an installation runs."""
    there = made.home(tmp_path / "home")

    outcomes = await asyncio.gather(
        take(there, made.file), take(there, made.file), return_exceptions=True
    )

    refused = [one for one in outcomes if isinstance(one, BaseException)]
    assert [type(one) for one in refused] == [Busy]
    await assert_works(made, there)
    with exclusive(folder.named_folder(there.paths, NAME) / "install.lock"):
        assert (await refusal(there, made.file)).code == "install-running"


async def test_killed_anywhere_it_goes_on(made: Made, tmp_path: Path) -> None:
    """The old runtime stays the one in use, nothing half is called installed, and gc finds all."""
    whole = victim(made, made.home(tmp_path / "whole"), 0)
    assert whole.returncode == 0, whole.stderr
    count = int(whole.stdout)
    assert count > 200
    points = random.Random(20261129).sample(range(1, count), 5)
    for last in sorted({*points, count - 4, count - 8, count - 12}):
        there = made.home(tmp_path / f"killed {last}")
        older = _older(there)

        assert victim(made, there, last).returncode == -signal.SIGKILL

        now = history.current(folder.named_folder(there.paths, NAME))
        assert now in (older, made.record.runtime_id)
        if now != older:
            assert folder.current(there.paths, NAME) is not None
        await take(there, made.file)
        _remove_older(there, older)
        await assert_works(made, there)


def _older(there: StandIn) -> str:
    """Write an installation of yesterday that is in use."""
    identity = "0123456789ab" + "0" * 52
    place = folder.runtime_folder(there.paths, NAME, identity)
    place.mkdir(parents=True)
    record = {"name": NAME, "runtime_id": identity, "python": "x", "interpreter": "x"}
    record |= {"interpreter_build": "x", "lock_digest": "x", "installed_at": "2026-01-01"}
    (place / folder.RECORD_FILE).write_text(json.dumps(record))
    history.activate(place.parent, identity)
    return identity


def _remove_older(there: StandIn, older: str) -> None:
    kept = {one.runtime_id for one in versions.kept(there.paths, NAME)}
    assert older in kept
    shutil.rmtree(folder.runtime_folder(there.paths, NAME, older))


async def test_what_a_kill_left_is_cleared_up(made: Made, tmp_path: Path) -> None:
    """Who gives up the import gets the disk back."""
    there = made.home(tmp_path / "home")
    assert victim(made, there, 150).returncode == -signal.SIGKILL
    home = folder.named_folder(there.paths, NAME)
    assert [path.name for path in home.iterdir() if path.is_dir()] != []

    done = versions.collect(there.paths, dry_run=False)

    assert done.bytes > 0
    assert [path.name for path in home.iterdir() if path.is_dir()] == []


async def test_a_whole_one_is_recognised_and_a_damaged_one_replaced(
    made: Made, tmp_path: Path
) -> None:
    """Without a network, importing again is the repair."""
    there = made.home(tmp_path / "home")
    await take(there, made.file)
    root = folder.folder_of(there.paths, made.record)
    before = tree(root)

    assert (await take(there, made.file)).was_there
    assert tree(root) == before
    (root / SITE / "weirtiny/part3.py").unlink()
    (root / "python/bin/python3").unlink()
    assert not (await take(there, made.file)).was_there

    await assert_works(made, there)


async def test_an_engine_that_runs_keeps_its_files(made: Made, tmp_path: Path) -> None:
    """It loads modules for as long as it lives, from a damaged runtime too."""
    there = made.home(tmp_path / "home")
    await take(there, made.file)
    root = folder.folder_of(there.paths, made.record)
    (root / SITE / "weirtiny/part3.py").unlink()

    with engine_from(there, made.record):
        error = await refusal(there, made.file)

    assert error.code == "engine-running"
    assert (root / "python/bin/python3").exists()
    assert not (await take(there, made.file)).was_there
    await assert_works(made, there)


async def test_back_and_forward_over_an_import(made: Made, tmp_path: Path) -> None:
    """An import is an update: the one before is kept, and one step away."""
    there = made.home(tmp_path / "home")
    older = _older(there)

    await take(there, made.file)

    assert versions.rollback(there.paths, NAME).runtime_id == older
    assert (await take(there, made.file)).was_there
    assert history.current(folder.named_folder(there.paths, NAME)) == made.record.runtime_id


async def test_a_runtime_that_does_not_run_here_is_not_used(made: Made, tmp_path: Path) -> None:
    """The probe has the last word; what ran before still does."""
    there = made.home(tmp_path / "home")
    older = _older(there)
    head = await bundle_import.read_head(made.file, there.paths, None)
    wants = msgspec.structs.replace(head.index.recipe.probe, imports=("weirnothing",))
    recipe = msgspec.structs.replace(head.index.recipe, probe=wants)
    index = msgspec.structs.replace(head.index, recipe=recipe)

    with pytest.raises(Damaged) as caught:
        await bundle_import.install(
            made.file,
            msgspec.structs.replace(head, index=index),
            there.recipe,
            there.paths,
            there.reports.append,
        )

    assert caught.value.code == "runtime-probe"
    assert "weirnothing is missing" in caught.value.message
    assert history.current(folder.named_folder(there.paths, NAME)) == older
    assert there.reports[-1].state is StageState.FAILED


async def test_a_file_that_is_exchanged_meanwhile_is_refused(made: Made, tmp_path: Path) -> None:
    """Trust was given to what was looked at."""
    there = made.home(tmp_path / "home")
    head = await bundle_import.read_head(made.file, there.paths, None)
    other = msgspec.structs.replace(head, digest="0" * 64)

    with pytest.raises(Damaged) as caught:
        await bundle_import.install(
            made.file, other, there.recipe, there.paths, there.reports.append
        )

    assert caught.value.code == "bundle-damaged"


async def test_a_broken_file_is_refused_and_a_good_one_then_taken(
    made: Made, tmp_path: Path
) -> None:
    """A second copy of the stick goes on where the bad one ended."""
    there = made.home(tmp_path / "home")
    broken = bytearray(made.file.read_bytes())
    broken[-5000] ^= 1
    (tmp_path / "broken").write_bytes(broken)

    error = await refusal(there, tmp_path / "broken")

    assert error.code in ("bundle-damaged", "bundle-signature")
    assert folder.installed(there.paths, there.recipe) is None
    await take(there, made.file)
    await assert_works(made, there)


async def test_the_head_says_who_signed_before_anything_is_believed(
    made: Made, tmp_path: Path
) -> None:
    """The file that is missing, and the signer's fingerprint of the key inside."""
    with bundle_read.opened(made.file) as opened:
        head = opened.head
    assert head.fingerprint == signing.fingerprint(bytes.fromhex(made.exported.public_key))
    there = made.home(tmp_path / "home")
    error = await refusal(there, tmp_path / "none")
    assert isinstance(error, NotFound)
    assert error.code == "file-missing"
