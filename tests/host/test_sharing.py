"""One file under two names, on disks that can link and on those that cannot."""

import errno
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from studio.host import sharing
from studio.host.sharing import Way, is_leftover, share, share_over, way_of
from tests.fakes.disks import cloning_disk, free_bytes, subvolume

MANY_BYTES = 20 << 20


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Write a file that may be run and has a time of its own."""
    path = tmp_path / "sourçe file"
    path.write_bytes(b"content")
    path.chmod(0o755)
    os.utime(path, ns=(1_600_000_000_000_000_000, 1_600_000_000_123_456_789))
    return path


def refuse(monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    """Let every hard link fail."""

    def link(source: object, target: object, **_options: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "link", link)


def test_a_link_is_the_same_file(source: Path, tmp_path: Path) -> None:
    """Bytecode names the time of its source; a link has the same one, and takes no space."""
    assert share(source, tmp_path / "second") is Way.LINK
    assert (tmp_path / "second").samefile(source)
    assert way_of(tmp_path) is Way.LINK


@pytest.mark.parametrize("code", [errno.EXDEV, errno.EPERM, errno.EMLINK, errno.ENOTSUP])
def test_where_links_are_refused_it_is_a_copy_with_mode_and_time(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    """Another disk, vfat, the 65,001st name: content, mode and time are what counts."""
    refuse(monkeypatch, code)

    way = share(source, tmp_path / "second")

    assert way in (Way.CLONE, Way.COPY)
    found, wanted = (tmp_path / "second").stat(), source.stat()
    assert (tmp_path / "second").read_bytes() == b"content"
    assert (found.st_mode, found.st_mtime_ns) == (wanted.st_mode, wanted.st_mtime_ns)
    assert found.st_ino != wanted.st_ino
    assert way_of(tmp_path) is way
    assert {path.name for path in tmp_path.iterdir()} == {source.name, "second"}


@pytest.mark.parametrize("is_refused", [False, True])
def test_what_is_there_is_replaced_only_when_that_is_asked_for(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_refused: bool
) -> None:
    """Two installations may put one file in place at the same time."""
    if is_refused:
        refuse(monkeypatch, errno.EXDEV)
    target = tmp_path / "target"
    target.write_bytes(b"old")

    with pytest.raises(FileExistsError):
        share(source, target)
    assert target.read_bytes() == b"old"
    share_over(source, target)
    share_over(source, target)

    assert target.read_bytes() == b"content"
    assert {path.name for path in tmp_path.iterdir()} == {source.name, "target"}


def test_another_refusal_is_an_error_and_leaves_nothing(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk is no reason to try a copy, which takes more."""
    refuse(monkeypatch, errno.ENOSPC)

    with pytest.raises(OSError, match="No space"):
        share(source, tmp_path / "second")

    assert [path.name for path in tmp_path.iterdir()] == [source.name]


@pytest.fixture
def vfat(tmp_path: Path) -> Iterator[Path]:
    """Mount a disk of the kind that memory sticks have."""
    image, place = tmp_path / "image", tmp_path / "stick"
    place.mkdir()
    image.write_bytes(b"")
    os.truncate(image, 8 << 20)
    for command in (
        ["mkfs.vfat", str(image)],
        ["mount", "-o", "loop", str(image), str(place)],
    ):
        try:
            done = subprocess.run(command, capture_output=True, check=False)
        except FileNotFoundError:
            pytest.skip("this machine cannot make such a disk")
        if done.returncode != 0:
            pytest.skip("this user may not mount a small disk")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_a_stick_that_knows_no_links_gets_copies(vfat: Path) -> None:
    """The real thing, where it may be mounted."""
    (vfat / "a").write_bytes(b"content")

    assert way_of(vfat) is Way.COPY
    assert share(vfat / "a", vfat / "b") is Way.COPY
    assert (vfat / "b").read_bytes() == b"content"


@pytest.mark.parametrize("kind", ["btrfs", "xfs"])
def test_where_links_are_refused_blocks_are_shared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """The real thing, where it may be mounted: no room is taken, mode and time are kept."""
    with cloning_disk(kind, tmp_path) as disk:
        source = disk / "sourçe file"
        source.write_bytes(os.urandom(MANY_BYTES))
        source.chmod(0o755)
        os.utime(source, ns=(1_600_000_000_000_000_000, 1_600_000_000_123_456_789))
        assert way_of(disk) is Way.LINK
        refuse(monkeypatch, errno.EMLINK)
        before = free_bytes(disk)

        ways = {share(source, disk / f"second {number}") for number in range(4)}
        ways.add(share_over(source, disk / "second 0"))

        assert ways == {Way.CLONE}
        assert before - free_bytes(disk) < MANY_BYTES // 4
        found, wanted = (disk / "second 0").stat(), source.stat()
        assert (disk / "second 0").read_bytes() == source.read_bytes()
        assert (found.st_mode, found.st_mtime_ns) == (wanted.st_mode, wanted.st_mtime_ns)
        assert found.st_ino != wanted.st_ino
        (disk / "second 1").write_bytes(b"changed")
        assert source.stat().st_size == MANY_BYTES


def test_parts_of_one_disk_that_no_link_joins_share_blocks(tmp_path: Path) -> None:
    """Many distributions keep home folders on a subvolume of their own; nothing is faked here."""
    with cloning_disk("btrfs", tmp_path) as disk:
        first, second = subvolume(disk / "first"), subvolume(disk / "second")
        (first / "a").write_bytes(os.urandom(MANY_BYTES))
        before = free_bytes(disk)

        assert share(first / "a", second / "a") is Way.CLONE

        assert before - free_bytes(disk) < MANY_BYTES // 4
        assert (second / "a").read_bytes() == (first / "a").read_bytes()


def test_a_clone_is_asked_of_the_kernel_before_a_copy(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For machines that can mount no such disk: what is asked, and that no copy follows."""
    asked = []

    def ioctl(target: int, request: int, origin: int) -> int:
        asked.append(request)
        os.write(target, os.pread(origin, 99, 0))
        return 0

    refuse(monkeypatch, errno.EXDEV)
    monkeypatch.setattr(sharing.fcntl, "ioctl", ioctl)
    monkeypatch.setattr(sharing.shutil, "copyfile", None)

    assert share(source, tmp_path / "second") is Way.CLONE

    assert asked == [0x40049409]
    assert (tmp_path / "second").read_bytes() == b"content"
    assert (tmp_path / "second").stat().st_mtime_ns == source.stat().st_mtime_ns


def test_what_a_kill_leaves_is_known_by_its_name(source: Path) -> None:
    """A clean-up must know what is half done, and nothing else."""
    made = sharing._beside(source)

    assert is_leftover(made.name)
    assert not is_leftover(source.name)
