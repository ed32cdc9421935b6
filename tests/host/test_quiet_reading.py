"""Digests of large files, read so that nobody else notices."""

import asyncio
import hashlib
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from studio.host import quiet_reading
from studio.host.quiet_reading import Written, content, step_back, step_back_at_the_disk


@pytest.mark.parametrize("size", [0, 1, 4095, 4096, 4097, (4 << 20) - 1, 4 << 20, (4 << 20) + 5])
def test_a_digest_is_that_of_the_content_at_every_length(tmp_path: Path, size: int) -> None:
    """Reading past the cache goes by blocks; the last one is short."""
    data = os.urandom(size)
    path = tmp_path / "wéights"
    path.write_bytes(data)
    told: list[int] = []

    found = content(path, with_git=True, on_bytes=told.append)

    assert found.sha256 == hashlib.sha256(data).hexdigest()
    assert found.git_blob == hashlib.sha1(b"blob %d\0" % size + data).hexdigest()
    assert (found.size, sum(told)) == (size, size)
    assert content(path).git_blob is None


def test_where_the_cache_cannot_be_passed_it_is_read_through_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Memory disks and some network disks refuse."""
    path = tmp_path / "w"
    path.write_bytes(b"x" * 5000)
    monkeypatch.setattr(quiet_reading, "_reads", lambda _descriptor: False)

    assert content(path).sha256 == hashlib.sha256(b"x" * 5000).hexdigest()


def test_a_file_that_is_written_while_it_is_read_has_no_digest(tmp_path: Path) -> None:
    """It would be that of half the old and half the new."""
    path = tmp_path / "w"
    path.write_bytes(b"x" * 5000)

    with pytest.raises(Written):
        content(path, gate=lambda: os.utime(path, ns=(1, 1)))
    with pytest.raises(Written):
        content(path, gate=lambda: path.write_bytes(b"x" * 10))
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises((Written, OSError)):
        content(tmp_path / "pipe")


def test_whoever_waits_can_be_ended_at_the_gate(tmp_path: Path) -> None:
    """A check of an hour stops with its service."""
    path = tmp_path / "w"
    path.write_bytes(b"x")

    def stop() -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        content(path, gate=stop)


async def test_a_thread_steps_back_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The event loop beside it, through which every token goes, keeps its place."""
    with ThreadPoolExecutor(1) as thread:
        loop = asyncio.get_running_loop()
        number = await loop.run_in_executor(thread, step_back)
        nice = await loop.run_in_executor(thread, lambda: os.getpriority(os.PRIO_PROCESS, 0))
        await step_back_at_the_disk(number)

    assert nice == 19
    assert os.getpriority(os.PRIO_PROCESS, 0) < 19
    monkeypatch.setenv("PATH", "/nowhere")
    assert not await step_back_at_the_disk(number)
