"""Regions of shared memory: stale ones go, everything that is in use or somebody else's stays."""

import mmap
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from studio.host import shm
from tests.fakes.waiting import until

HOLD = (
    "import mmap, os, sys\n"
    "fd = os.open(sys.argv[1], os.O_RDWR)\n"
    "region = mmap.mmap(fd, 4096)\n"
    "os.close(fd) if sys.argv[2] == 'mapped' else region.close()\n"
    "print('up', flush=True); sys.stdin.read()"
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder in the place of /dev/shm."""
    made = tmp_path / "shm"
    made.mkdir()
    return made


def region(folder: Path, name: str) -> Path:
    """Make a region of one page."""
    path = folder / name
    path.write_bytes(b"\0" * 4096)
    return path


@pytest.fixture(params=["mapped", "open"])
def holder(request: pytest.FixtureRequest, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Return a process that uses `vllm_offload_1.mmap` in one of two ways."""
    path = region(folder, "vllm_offload_1.mmap")
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path), request.param],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stdout.readline()
    yield process
    process.kill()
    process.communicate()


def test_what_a_killed_engine_left_is_removed(folder: Path) -> None:
    """Gigabytes of memory, until somebody does."""
    region(folder, "vllm_offload_0b1c.mmap")

    removed = shm.remove_stale(folder=folder)

    assert [(one.name, one.bytes) for one in removed] == [("vllm_offload_0b1c.mmap", 4096)]
    assert list(folder.iterdir()) == []


def test_what_somebody_uses_stays(folder: Path, holder: subprocess.Popen[bytes]) -> None:
    """An engine that was started by hand works with it."""
    assert shm.remove_stale(folder=folder) == []

    holder.kill()
    holder.wait(20)

    assert [one.name for one in shm.remove_stale(folder=folder)] == ["vllm_offload_1.mmap"]


def test_other_programs_regions_are_not_touched(folder: Path) -> None:
    """Python's own `psm_` regions may belong to any program of the person."""
    names = ["psm_1a2b", "sem.mp-x", "vllm_offload_.txt", "xvllm_offload_1.mmap", "pulse-shm-1"]
    for name in names:
        region(folder, name)

    assert shm.remove_stale(folder=folder) == []
    assert sorted(path.name for path in folder.iterdir()) == sorted(names)


def test_what_our_engine_was_seen_to_use_goes_too(folder: Path) -> None:
    """Its names are known, whatever they are; a name with a path in it is none."""
    region(folder, "psm_ours")
    outside = region(folder.parent, "outside")

    removed = shm.remove_stale(("psm_ours", "../outside", ""), folder)

    assert [one.name for one in removed] == ["psm_ours"]
    assert outside.exists()


def test_links_and_folders_are_no_regions(folder: Path) -> None:
    """A link under that name may lead anywhere."""
    target = region(folder.parent, "target")
    (folder / "vllm_offload_1.mmap").symlink_to(target)
    (folder / "vllm_offload_2.mmap").mkdir()

    assert shm.remove_stale(folder=folder) == []
    assert target.exists()


def test_what_a_process_uses_is_known_by_name(folder: Path) -> None:
    """Mapped or open; what was removed meanwhile is not named any more."""
    mapped, opened, gone = (region(folder, name) for name in ("ä mapped", "opened", "gone"))
    handles = [os.open(path, os.O_RDWR) for path in (mapped, opened, gone)]
    views = [mmap.mmap(handles[index], 4096) for index in (0, 2)]
    os.close(handles[0])
    gone.unlink()
    try:
        assert shm.used_by([os.getpid()], folder) == {"ä mapped", "opened"}
    finally:
        for view in views:
            view.close()
        for handle in handles[1:]:
            os.close(handle)


def test_a_machine_without_shared_memory_has_nothing_to_remove(folder: Path) -> None:
    """And a process that is gone uses nothing."""
    assert shm.remove_stale(folder=folder / "none") == []
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait(20)
    until(lambda: not Path(f"/proc/{process.pid}").exists(), "its end")
    assert shm.used_by([process.pid], folder) == frozenset()
