"""Room that is taken before it is needed: never a longer file, never zeros written."""

import ctypes
import errno
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from studio.host import reserving
from studio.host.reserving import allocate

SIZE = 8 << 20


class _Library:
    """A C library whose call answers as told."""

    def __init__(self, number: int) -> None:
        self.asked: list[tuple[int, ...]] = []

        def call(*arguments: int) -> int:
            self.asked.append(arguments)
            ctypes.set_errno(number)
            return -1 if number else 0

        self.fallocate64: Callable[..., int] = call


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a file that holds five bytes."""
    path = tmp_path / "große datei"
    path.write_bytes(b"hello")
    return path


def answering(monkeypatch: pytest.MonkeyPatch, library: object) -> None:
    """Let another C library answer."""
    monkeypatch.setattr(reserving.ctypes, "CDLL", lambda *_args, **_named: library)


def taken(path: Path, size: int) -> bool:
    """Reserve, and return whether that worked."""
    with path.open("r+b") as opened:
        return allocate(opened.fileno(), size)


@pytest.mark.skipif(sys.platform != "linux", reason="fallocate is Linux's")
def test_the_file_keeps_its_length_and_content(file: Path) -> None:
    """A length is how much has come: a longer file would pass for a finished one."""
    is_taken = taken(file, SIZE)

    assert file.read_bytes() == b"hello"
    if is_taken:  # the disk of this test may be one that cannot
        assert file.stat().st_blocks * 512 >= SIZE


def test_taking_the_same_room_again_changes_nothing(file: Path) -> None:
    """Each resumption reserves anew."""
    taken(file, SIZE)
    before = file.stat().st_blocks
    taken(file, SIZE)

    assert (file.stat().st_blocks, file.read_bytes()) == (before, b"hello")


def test_the_call_is_told_to_keep_the_size(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Mode 1 from the start, on any file system."""
    library = _Library(0)
    answering(monkeypatch, library)

    assert taken(file, SIZE)
    assert [one[1:] for one in library.asked] == [(1, 0, SIZE)]


@pytest.mark.parametrize("number", [errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL, errno.EINTR])
def test_a_file_system_that_cannot_is_left_alone(
    number: int, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No fallback that writes zeros: 130 GB of them take longer than the download."""
    answering(monkeypatch, _Library(number))

    assert not taken(file, SIZE)
    assert file.read_bytes() == b"hello"


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_disk_that_is_full_is_said_at_once(
    number: int, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before hours of a download, not after."""
    answering(monkeypatch, _Library(number))

    with pytest.raises(OSError, match=os.strerror(number)) as caught:
        taken(file, SIZE)

    assert caught.value.errno == number


@pytest.mark.parametrize("size", [0, -1])
def test_nothing_is_asked_for_no_bytes(
    size: int, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The system calls that a mistake."""
    library = _Library(0)
    answering(monkeypatch, library)

    assert not taken(file, size)
    assert library.asked == []


def test_other_systems_and_libraries_are_not_asked(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A library without the call, and a system that has another one of that name."""
    answering(monkeypatch, object())
    assert not taken(file, SIZE)

    library = _Library(0)
    answering(monkeypatch, library)
    monkeypatch.setattr(reserving.sys, "platform", "darwin")
    assert not taken(file, SIZE)
    assert library.asked == []
