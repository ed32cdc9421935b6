"""Verifying: a sample in no time, every byte on demand, and no false alarms."""

import asyncio
import os
import random
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from studio.domain.errors import HostLacks
from studio.domain.events import StageState
from studio.domain.integrity import DifferenceKind, Verdict
from studio.host.hashing import Hashed, Wanted
from studio.runtimes import folder, manifest, verify
from studio.runtimes.install import install
from tests.runtimes import damage
from tests.runtimes.damage import SITE
from tests.runtimes.standin import StandIn

TURNS = 20
"""Of the event loop: a cancellation has reached whoever waits by then."""


@pytest.fixture
def root(stand_in: StandIn) -> Path:
    """Install and return the runtime's folder."""
    damage.add_script(stand_in)
    record = asyncio.run(install(stand_in.recipe, stand_in.paths, stand_in.reports.append))
    stand_in.reports.clear()
    return folder.folder_of(stand_in.paths, record)


def ask(stand_in: StandIn, *, full: bool) -> Verdict:
    """Verify the present installation."""
    record = folder.current(stand_in.paths, stand_in.recipe.name)
    assert record is not None
    return asyncio.run(
        verify.verify(stand_in.paths, record, full=full, report=stand_in.reports.append)
    )


def test_differences_are_named_by_kind(stand_in: StandIn, root: Path) -> None:
    """Who repairs wants to know whether it was the antivirus or the disk."""
    site = root / SITE
    (site / "weirtiny/part1.py").unlink()
    (site / "weirtiny/part2.py").chmod(0o755)
    os.truncate(site / "weirother/data.bin", 7)
    (site / "weirtiny/new.py").write_text("")

    verdict = ask(stand_in, full=True)

    assert {(one.path.rpartition("/")[2], one.kind) for one in verdict.differences} == {
        ("part1.py", DifferenceKind.MISSING),
        ("part2.py", DifferenceKind.MODE),
        ("data.bin", DifferenceKind.CHANGED),
        ("new.py", DifferenceKind.EXTRA),
    }
    assert verdict.is_full
    assert verdict.is_known
    assert verdict.files > 30
    assert verdict.bytes > 4000
    assert stand_in.reports[-1].state is StageState.DONE
    assert "differ" in (stand_in.reports[-1].note or "")


def test_python_may_compile_for_itself(stand_in: StandIn, root: Path) -> None:
    """Bytecode of another optimisation or another time is Python's own business."""
    cached = root / SITE / "weirtiny" / "__pycache__"
    (cached / "part1.cpython-399.opt-2.pyc").write_bytes(b"other")
    next(cached.glob("part2.*.pyc")).unlink()
    (root / SITE / "weirtiny" / "sourceless.pyc").write_bytes(b"stray")

    verdict = ask(stand_in, full=True)

    assert [one.path for one in verdict.differences] == [f"{SITE}/weirtiny/sourceless.pyc"]
    assert verdict.bytecode == 1


def test_other_times_are_no_damage_and_hidden_changes_are(stand_in: StandIn, root: Path) -> None:
    """A synced home has new times; a changed file of the same size has one too."""
    path = root / SITE / "weirtiny" / "__init__.py"
    for file in root.rglob("*.py"):
        os.utime(file, (1, 1))
    assert ask(stand_in, full=False).is_whole
    assert ask(stand_in, full=True).is_whole

    fresh = path.with_name("fresh")
    fresh.write_bytes(path.read_bytes().replace(b"42", b"43"))
    fresh.replace(path)

    for full in (False, True):
        kinds = [(one.path, one.kind) for one in ask(stand_in, full=full).differences]
        assert kinds == [(f"{SITE}/weirtiny/__init__.py", DifferenceKind.CHANGED)]


def test_a_sample_costs_next_to_nothing_and_sees_what_matters(
    stand_in: StandIn, root: Path
) -> None:
    """It is part of every start."""
    began = time.process_time()
    assert ask(stand_in, full=False).is_whole
    assert time.process_time() - began < 0.05

    for harm in ("package removed", "metadata removed", "interpreter removed"):
        damage.DAMAGES[harm](root)
        assert not ask(stand_in, full=False).is_whole, harm


def test_samples_differ_from_start_to_start(tmp_path: Path) -> None:
    """What one start misses another finds."""
    entries = tuple(
        manifest.Entry(f"python/part{number}", 0, 1, 0, b"0" * 32) for number in range(4096)
    )
    listed = manifest.Manifest(
        runtime_id="a", root=str(tmp_path), owners=(), entries=entries, lock=None
    )
    manifest.write(tmp_path / manifest.MANIFEST_FILE, listed)
    seen = set[str]()
    choice = random.Random(20261129)

    for _ in range(60):
        with manifest.opened(tmp_path) as reader:
            assert reader is not None
            found = verify.look(tmp_path, reader, choice=choice)
        assert len(found.findings) == 512
        seen |= {finding.path for finding in found.findings}

    assert len(seen) == len(entries)


def test_a_runtime_without_a_list_is_not_called_damaged_at_a_start(
    stand_in: StandIn, root: Path
) -> None:
    """It is older than lists; who asks for certainty is told that there is none."""
    (root / manifest.MANIFEST_FILE).unlink()

    sampled, full = ask(stand_in, full=False), ask(stand_in, full=True)

    assert sampled.is_whole
    assert not sampled.is_known
    assert [(one.path, one.kind) for one in full.differences] == [
        (manifest.MANIFEST_FILE, DifferenceKind.MISSING)
    ]


def test_what_cannot_be_read_is_changed_or_named(stand_in: StandIn, root: Path) -> None:
    """A pipe in a file's place, a link in a file's place, a list that is a folder."""
    for number, path in enumerate(sorted((root / SITE / "weirtiny").glob("part1?.py"))[:2]):
        path.unlink()
        if number:
            os.mkfifo(path)
        else:
            path.symlink_to("/etc/hostname")

    kinds = {one.kind for one in ask(stand_in, full=True).differences}
    (root / manifest.MANIFEST_FILE).unlink()
    (root / manifest.MANIFEST_FILE).mkdir()
    with pytest.raises(HostLacks) as caught:
        ask(stand_in, full=True)

    assert kinds == {DifferenceKind.CHANGED}
    assert caught.value.code == "not-readable"


def test_a_check_that_breaks_off_says_so(
    stand_in: StandIn, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who watches it from a window would wait for its end for good."""

    def refuse(*_all: object, **_named: object) -> object:
        raise HostLacks("not-readable", "A folder cannot be read.")

    monkeypatch.setattr(verify, "examine", refuse)

    with pytest.raises(HostLacks):
        ask(stand_in, full=True)

    assert stand_in.reports[-1].state is StageState.FAILED


async def test_who_stops_waits_for_no_more_than_is_being_read(
    stand_in: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tens of gigabytes on a slow disk take minutes, which nobody who cancelled wants to wait."""
    record = await install(stand_in.recipe, stand_in.paths, lambda _progress: None)
    loop, begun = asyncio.get_running_loop(), asyncio.Event()
    is_over, went_on = threading.Event(), threading.Event()

    def slow(wanted: Sequence[Wanted], *, on_bytes: Callable[[int], None]) -> list[Hashed | None]:
        loop.call_soon_threadsafe(begun.set)
        while not is_over.is_set():
            on_bytes(1)
        on_bytes(1)  # what was asked for before it was over ends it here at the latest
        went_on.set()
        return [None for _one in wanted]

    monkeypatch.setattr(verify, "hash_files", slow)
    async with asyncio.TaskGroup() as tasks:
        reading = tasks.create_task(
            verify.verify(stand_in.paths, record, full=True, report=lambda _progress: None)
        )
        await begun.wait()
        reading.cancel()
        for _turn in range(TURNS):
            await asyncio.sleep(0)
        is_over.set()

    assert reading.cancelled()
    assert not went_on.is_set()
