"""Reads many files on all cores: sha256, size, time and executable bit of each.

Large files are taken from one end of a list by all threads but one, small ones from the other end
by the last: reading a small file is the interpreter's work, which threads cannot share, and hashing
a large one is not.
"""

import errno
import hashlib
import os
import stat
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

_CHUNK = 1 << 20
_BATCH_FILES = 128
_BATCH_BYTES = 8 << 20
_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)  # a pipe in a file's place must not hold us up
    | getattr(os, "O_BINARY", 0)
)


class Hashed(NamedTuple):
    """What a file is now; `sha256` is None when it is no regular file or cannot be read."""

    size: int
    mtime_ns: int
    is_executable: bool
    sha256: bytes | None


class Wanted(NamedTuple):
    """A file to read, and about how large it is."""

    path: str
    size: int


def cores() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def hash_files(
    wanted: Sequence[Wanted], *, on_bytes: Callable[[int], None] | None = None
) -> list[Hashed | None]:
    """Return what each file is, in the order of `wanted`; None where there is none.

    `on_bytes` is told of bytes read, from any thread.
    """
    work = _Work(wanted, on_bytes or (lambda _read: None))
    count = min(cores(), max(1, len(wanted) // 2))
    with ThreadPoolExecutor(count, thread_name_prefix="hash") as pool:
        futures = [pool.submit(work.run, largest_first=number > 0) for number in range(count)]
        for future in futures:
            future.result()
    return work.results


def hash_file(path: str) -> Hashed | None:
    """Return what one file is, or None when there is none."""
    return _hash(path, bytearray(0))


class _Work:
    """The files that are still to be read, and the answers so far."""

    def __init__(self, wanted: Sequence[Wanted], on_bytes: Callable[[int], None]) -> None:
        self.results: list[Hashed | None] = [None] * len(wanted)
        self._wanted = wanted
        self._order = sorted(range(len(wanted)), key=lambda number: wanted[number].size)
        self._first = 0
        self._last = len(wanted)
        self._lock = threading.Lock()
        self._on_bytes = on_bytes

    def run(self, *, largest_first: bool) -> None:
        """Read until nothing is left."""
        buffer = bytearray(_CHUNK)
        while batch := self._take(largest_first=largest_first):
            read = 0
            for number in batch:
                found = _hash(self._wanted[number].path, buffer)
                self.results[number] = found
                read += found.size if found is not None else 0
            self._on_bytes(read)

    def _take(self, *, largest_first: bool) -> list[int]:
        with self._lock:
            size = taken = 0
            left = self._last - self._first
            while taken < min(left, _BATCH_FILES) and size < _BATCH_BYTES:
                place = self._last - 1 - taken if largest_first else self._first + taken
                size += self._wanted[self._order[place]].size
                taken += 1
            if largest_first:
                self._last -= taken
                return self._order[self._last : self._last + taken]
            self._first += taken
            return self._order[self._first - taken : self._first]


def _hash(path: str, buffer: bytearray) -> Hashed | None:
    try:
        descriptor = os.open(path, _FLAGS)
    except OSError as error:
        return _not_opened(path, error)
    try:
        found = os.fstat(descriptor)
        digest: bytes | None = None
        if stat.S_ISREG(found.st_mode):
            digest = _digest(descriptor, found.st_size, buffer)
    except OSError:  # a bad sector, a network disk that went away
        digest = None
        found = os.fstat(descriptor)
    finally:
        os.close(descriptor)
    return Hashed(found.st_size, found.st_mtime_ns, bool(found.st_mode & 0o100), digest)


def _digest(descriptor: int, size: int, buffer: bytearray) -> bytes:
    if size < _CHUNK or not buffer:
        data = os.read(descriptor, size + 1)
        if len(data) == size:
            return hashlib.sha256(data, usedforsecurity=False).digest()
        os.lseek(descriptor, 0, os.SEEK_SET)
    digest = hashlib.sha256(usedforsecurity=False)
    room = memoryview(buffer or bytearray(_CHUNK))
    while count := os.readv(descriptor, [room]):
        digest.update(room[:count])
    return digest.digest()


def _not_opened(path: str, error: OSError) -> Hashed | None:
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        return None
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return Hashed(found.st_size, found.st_mtime_ns, bool(found.st_mode & 0o100), None)
