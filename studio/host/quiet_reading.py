"""Reads large files for their digests so that nobody else notices: last in line for the processor
and the disk, and past the page cache, where an engine's weights lie.

Reading past the cache also means that what is hashed is what the disk holds.
"""

import contextlib
import hashlib
import mmap
import os
import stat
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from studio.domain.errors import HostLacks
from studio.host import process

_CHUNK = 4 << 20
_NICE = 19
_IONICE_S = 5.0


class Content(NamedTuple):
    """What was read of a file."""

    sha256: str
    git_blob: str | None
    size: int
    modified_ns: int


class Written(Exception):
    """The file was written or replaced while it was read: its digest would mean nothing."""


def content(
    path: Path,
    *,
    with_git: bool = False,
    gate: Callable[[], None] = lambda: None,
    on_bytes: Callable[[int], None] = lambda _count: None,
) -> Content:
    """Return the digest of a file. `gate` is called before each 4 MiB and may block or raise.

    `with_git` adds git's name of the content. Raises: OSError, Written, and what `gate` raises.
    """
    with _opened(path) as descriptor:
        before = os.fstat(descriptor)
        if not stat.S_ISREG(before.st_mode):
            raise Written(path)
        sha256 = hashlib.sha256(usedforsecurity=False)
        git = hashlib.sha1(b"blob %d\0" % before.st_size, usedforsecurity=False)
        left = before.st_size
        with mmap.mmap(-1, _CHUNK) as buffer:  # aligned, as reading past the cache wants it
            view = memoryview(buffer)
            try:
                while left > 0:
                    gate()
                    count = os.readv(descriptor, [view])
                    if count == 0:
                        raise Written(path)
                    sha256.update(view[:count])
                    if with_git:
                        git.update(view[:count])
                    left -= count
                    on_bytes(count)
            finally:
                view.release()
        after = path.stat()
    if left < 0 or _identity(before) != _identity(after):
        raise Written(path)
    return Content(
        sha256.hexdigest(),
        git.hexdigest() if with_git else None,
        before.st_size,
        before.st_mtime_ns,
    )


def _identity(about: os.stat_result) -> tuple[int, int, int, int]:
    return about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[int]:
    """Open a file past the page cache, or through it where the file system cannot do that."""
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK  # a pipe in its place must not hold us up
    descriptor = os.open(path, flags)
    try:
        direct = os.open(path, flags | os.O_DIRECT)
    except OSError:
        direct = None
    if direct is not None:
        chosen, other = (direct, descriptor) if _reads(direct) else (descriptor, direct)
        os.close(other)
        descriptor = chosen
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _reads(descriptor: int) -> bool:
    """Tell whether reading works: some file systems take the flag and then refuse."""
    try:
        with mmap.mmap(-1, mmap.PAGESIZE) as probe:
            os.preadv(descriptor, [probe], 0)
    except OSError:
        return False
    return True


def step_back() -> int:
    """Make the calling thread the last in line for the processor; return its number."""
    number = threading.get_native_id()
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, number, _NICE)  # of a thread, on Linux
    return number


async def step_back_at_the_disk(thread: int) -> bool:
    """Let a thread read only when nobody else does; False where the system cannot."""
    argv = ["ionice", "--class", "3", "--pid", str(thread)]
    try:
        done = await process.run(argv, env=process.helper_environment(), timeout_s=_IONICE_S)
    except HostLacks:
        return False
    return done.exit_code == 0
