"""Disks that are full or cannot be written."""

import hashlib
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from studio.domain.errors import HostLacks
from studio.host.download import Wanted
from tests.fakes.hostile import Hostile
from tests.host.downloads import (
    LARGE,
    LARGE_SHA256,
    fetch,
    large,
    refused,
    wanted,
)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Mount a disk of four megabytes."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=4m", "weir-test", str(folder)]
    mounted = subprocess.run(command, capture_output=True, check=False)
    if mounted.returncode != 0:
        pytest.skip(f"mounting a tmpfs is not allowed here: {mounted.stderr.decode().strip()}")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


async def test_too_little_room_is_said_before_the_first_byte(
    server: Hostile, small_disk: Path
) -> None:
    """After an hour of fetching it would be late."""
    one = Wanted(url=server.url("/large"), sha256=LARGE_SHA256, bytes=len(LARGE))

    error = await refused(one, small_disk / "f")

    assert error.code == "disk-space"
    assert server.requests == []


async def test_too_little_room_is_said_as_soon_as_the_size_is_known(
    server: Hostile, small_disk: Path
) -> None:
    """The server says it with its first answer."""
    error = await refused(large(server), small_disk / "f")

    assert error.code == "disk-space"
    assert len(server.requests) == 1


async def test_a_disk_that_fills_up_leaves_what_came(server: Hostile, small_disk: Path) -> None:
    """Of an unknown size, or others write too; with room it goes on where it was."""
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(2_000_000))
    server.knows_ranges = server.says_length = False

    error = await refused(large(server), small_disk / "f")

    assert isinstance(error, HostLacks)
    assert error.code == "disk-full"
    server.knows_ranges = server.says_length = True
    server.files["/f"] = LARGE[:3_500_000]
    whole = Wanted(url=server.url("/f"), sha256=hashlib.sha256(LARGE[:3_500_000]).hexdigest())
    error = await refused(whole, small_disk / "f")
    assert error.code == "disk-space"
    ballast.unlink()
    assert await fetch(whole, small_disk / "f") == LARGE[:3_500_000]


@pytest.fixture
def read_only(tmp_path: Path) -> Iterator[Path]:
    """Return a folder in which nothing can be written, also by an administrator."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "ro", "weir-test", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("mounting a tmpfs is not allowed here")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


async def test_a_folder_that_cannot_be_written_is_named(server: Hostile, read_only: Path) -> None:
    """A share that is mounted read-only."""
    for target in (read_only / "f", read_only / "new" / "f"):
        error = await refused(wanted(server), target)
        assert error.code == "not-writable"
        assert str(read_only) in error.message

    assert server.requests == []
