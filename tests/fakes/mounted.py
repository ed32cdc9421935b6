"""Real disks of a few megabytes, mounted for one test: one that knows no links, one that gets full.

Mounting is a right that not everybody has: who has not is told why the test is left out.
"""

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

_LEAST_FREE = 4096


@contextlib.contextmanager
def without_links(folder: Path, mebibytes: int = 48) -> Iterator[Path]:
    """Mount a disk such as sticks have: exFAT or FAT by the kernel, or exFAT by its FUSE program.

    Skips where none of them can be made and mounted here.
    """
    ways = (
        ("mkfs.exfat", ("mount", "-t", "exfat")),
        ("mkfs.vfat", ("mount", "-t", "vfat", "-o", "utf8")),
        ("mkfs.exfat", ("mount.exfat-fuse",)),
    )
    said: list[str] = []
    for make, mount in ways:
        if shutil.which(make) is None or shutil.which(mount[0]) is None:
            said.append(f"{make} or {mount[0]} is not installed")
            continue
        with _disk(folder, mebibytes, (make,), mount) as problem:
            if problem is None:
                yield folder
                return
            said.append(problem)
    pytest.skip(f"no disk without links can be mounted here: {'; '.join(said)}")


@contextlib.contextmanager
def small_ext4(folder: Path, mebibytes: int = 24) -> Iterator[Path]:
    """Mount a disk that is soon full, of the kind that most machines have. Skips as above."""
    with _disk(
        folder, mebibytes, ("mkfs.ext4", "-q", "-m", "0"), ("mount", "-t", "ext4")
    ) as problem:
        if problem is not None:
            pytest.skip(f"no small disk can be mounted here: {problem}")
        yield folder


def fill(folder: Path, *, but: int = 0) -> Path:
    """Take all room of a disk but so many bytes; return the file that takes it."""
    ballast = folder / "ballast"
    piece = bytes(_LEAST_FREE)
    with contextlib.suppress(OSError), ballast.open("ab", buffering=0) as file:
        free = os.statvfs(folder)
        room = free.f_bavail * free.f_frsize
        with contextlib.suppress(OSError):
            os.posix_fallocate(file.fileno(), 0, max(0, room - (256 << 10)))
        file.seek(0, os.SEEK_END)
        while file.write(piece) == len(piece):
            pass
    if but:
        os.truncate(ballast, max(0, ballast.stat().st_size - but))
    return ballast


@contextlib.contextmanager
def _disk(
    folder: Path, mebibytes: int, make: Sequence[str], mount: Sequence[str]
) -> Iterator[str | None]:
    """Yield None with a disk on `folder`, or else why there is none."""
    image = folder.with_name(f"{folder.name}.image")
    with image.open("wb") as file:
        file.truncate(mebibytes << 20)
    folder.mkdir(exist_ok=True)
    attached = ""
    problem: str | None = None
    try:
        for command in ((*make, str(image)), ("losetup", "--find", "--show", str(image))):
            attached = _said(command)
        _said((*mount, attached, str(folder)))
    except (OSError, subprocess.CalledProcessError) as error:
        output = getattr(error, "stderr", None) or str(error)
        problem = f"{mount[0]}: {str(output).strip().splitlines()[0]}"
    try:
        yield problem
    finally:
        if problem is None:
            subprocess.run(["umount", str(folder)], check=True, capture_output=True)
        if attached.startswith("/dev/"):
            subprocess.run(["losetup", "--detach", attached], check=False, capture_output=True)
        image.unlink()


def _said(command: Sequence[str]) -> str:
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)
    return done.stdout.strip()
