"""Small real disks in a file, for as long as a test needs one: of the kinds that clone blocks."""

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

_MAKE = {
    "btrfs": ("mkfs.btrfs", "-q", "-m", "single"),
    "xfs": ("mkfs.xfs", "-q", "-m", "reflink=1"),
}
_BYTES = 400 << 20
"""XFS makes none below 300 MB; the image has holes and takes a few."""


@contextlib.contextmanager
def cloning_disk(kind: str, place: Path) -> Iterator[Path]:
    """Mount an empty disk whose files can share blocks; skips where that is not possible."""
    image = place / f"{kind}.image"
    folder = place / f"a {kind} dïsk"
    folder.mkdir()
    image.write_bytes(b"")
    os.truncate(image, _BYTES)
    _or_skip(*_MAKE[kind], str(image))
    _or_skip("mount", "-o", "loop", str(image), str(folder))
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def subvolume(folder: Path) -> Path:
    """Make a part of a btrfs disk that no hard link reaches into from outside."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    _or_skip("btrfs", "subvolume", "create", str(folder))
    return folder


def free_bytes(folder: Path) -> int:
    """Return the room on a disk when all that was written is on it."""
    subprocess.run(["sync", "-f", str(folder)], check=True)
    found = os.statvfs(folder)
    return found.f_bavail * found.f_frsize


def _or_skip(*command: str) -> None:
    try:
        done = subprocess.run(command, capture_output=True, check=False)
    except FileNotFoundError:
        pytest.skip(f"this machine has no {command[0]}")
    if done.returncode != 0:
        pytest.skip(f"{command[0]} may not be used here")
