"""Bytes at places, also where a place has to be sought first."""

import os
from pathlib import Path

import pytest

from studio.host.transfer import places


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return where a file of ours is to be."""
    return tmp_path / "tëst.part"


def test_both_ways_write_and_read_the_same(path: Path) -> None:
    """What Windows seeks, POSIX does in one call; there `os.O_CLOEXEC` is no attribute at all."""
    file = places.open_file(path)
    try:
        assert places.write_at(file, b"b" * 10, 10) == 10
        assert places.write_seeking(file, memoryview(b"a\r\n\x1a" * 2), 2) == 8
        for read in (places.read_at, places.read_seeking):
            assert read(file, 100, 0) == b"\0\0a\r\n\x1aa\r\n\x1a" + b"b" * 10
            assert read(file, 3, 4) == b"\n\x1aa"
            assert read(file, 3, 50) == b""
        places.flush(file)
        path.replace(path.with_suffix(".whole"))
    finally:
        os.close(file)
    places.flush_file(path.with_suffix(".whole"))
    places.flush_folder(path.parent)
    assert path.with_suffix(".whole").stat().st_size == 20


def test_what_is_there_is_opened_as_it_is(path: Path) -> None:
    """A part goes on where it ended."""
    path.write_bytes(b"abc")
    file = places.open_file(path)
    os.close(file)

    assert path.read_bytes() == b"abc"


def test_nothing_of_the_transfer_asks_the_system_for_what_windows_lacks() -> None:
    """`weir update get` ended there with a traceback: this module is the one place for it."""
    lacking = ("os.pread", "os.pwrite", "os.fdatasync", "os.O_CLOEXEC", "os.O_DIRECTORY")
    folder = Path(places.__file__).parent
    found = {
        path.name: [name for name in lacking if name in path.read_text(encoding="utf-8")]
        for path in folder.glob("*.py")
        if path.name != "places.py"
    }

    assert {name: words for name, words in found.items() if words} == {}
