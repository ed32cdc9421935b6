"""What a group of processes has taken in."""

import mmap
import os
from pathlib import Path

import pytest

from studio.host.reading import TakenIn, taken_in

SIZE = 8 << 20


@pytest.fixture
def large(tmp_path: Path) -> Path:
    """Return a file of 8 MiB."""
    path = tmp_path / "weights"
    path.write_bytes(os.urandom(SIZE))
    return path


def test_what_is_read_is_counted(large: Path) -> None:
    """Loaders that stream a checkpoint read it."""
    before = taken_in(os.getpid())
    large.read_bytes()
    after = taken_in(os.getpid())

    assert before is not None
    assert after is not None
    assert SIZE <= after.since(before) < 4 * SIZE


def test_what_is_mapped_and_touched_is_counted(large: Path) -> None:
    """Safetensors are mapped: not one byte of them is read."""
    with large.open("rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as mapped:
        before = taken_in(os.getpid())
        assert sum(mapped[place] for place in range(0, SIZE, mmap.PAGESIZE)) > 0
        after = taken_in(os.getpid())

    assert before is not None
    assert after is not None
    assert after.mapped_bytes - before.mapped_bytes >= SIZE * 0.9
    assert after.read_bytes - before.read_bytes < SIZE


def test_what_nobody_says_is_not_known(tmp_path: Path) -> None:
    """A process that is gone, another system, counters of another user, nonsense in a file."""
    assert taken_in(1 << 30) is None
    assert taken_in(os.getpid(), proc=tmp_path) is None
    folder = tmp_path / str(os.getpid())
    folder.mkdir()
    (folder / "io").write_text("rchar: many\n")

    assert taken_in(os.getpid(), proc=tmp_path) is None


def test_a_process_that_ended_takes_nothing_back() -> None:
    """Its counters are gone with it; progress never turns negative."""
    before = TakenIn(read_bytes=100, mapped_bytes=100)

    assert TakenIn(read_bytes=10, mapped_bytes=10).since(before) == 0
