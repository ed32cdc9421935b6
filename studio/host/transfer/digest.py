"""The file's sha256, taken while it comes: the hasher follows the front that has no holes.

Blocks are handed out in order, so the front is at most a few blocks behind the newest byte, and
when the last byte is here there is next to nothing left to read. After a restart the beginning is
read from the disk meanwhile, because the state of a hash cannot be kept.
"""

import asyncio
import enum
import functools
import hashlib
import time
from pathlib import Path
from typing import Protocol

from studio.host.threads import in_thread
from studio.host.transfer.part import PartFile

_CHUNK = 1 << 20
_STEP = 4 << 20
"""Less than this is not worth a thread's start while more is coming."""
_TURN = 64 << 20
"""How much is hashed before anybody else has a say, for example who gives up."""
_AT_ONCE = 64 << 10
"""So little is hashed sooner than a thread has begun."""
_FLUSH_EVERY = 64 << 20
_FLUSH_SOME = 4 << 20
_FLUSH_EVERY_S = 1.0
"""What waits for the disk when the last byte is here makes the end wait: a second's bytes, then."""
_LOOK_S = 0.05


class DigestKind(enum.Enum):
    """By what a file is proven."""

    SHA256 = enum.auto()
    GIT_BLOB = enum.auto()
    """The sha1 of a head with the size, then the content (git's object format)."""


class _Digest(Protocol):
    def update(self, data: bytes, /) -> None: ...
    def hexdigest(self) -> str: ...


class Follower:
    """Hashes and flushes a part behind its writer."""

    def __init__(self, part: PartFile, *, kind: DigestKind | None) -> None:
        """`kind` None: nothing is hashed."""
        self._part = part
        self._kind = kind
        self._flushed = part.present
        self._flushed_at = time.monotonic()
        self._begin()

    def _begin(self) -> None:
        self._generation = self._part.generation
        self._digest: _Digest | None = None
        self._at = 0

    async def follow(self) -> None:
        """Keep up until cancelled. Raises: OSError."""
        while True:
            self._notice_restart()
            if self._is_flush_due():
                await self._flush()
            elif self._kind is not None and self._part.front - self._at >= _STEP:
                await self._hash_on()
            else:
                await asyncio.sleep(_LOOK_S)

    def _is_flush_due(self) -> bool:
        unflushed = self._part.present - self._flushed
        waited_s = time.monotonic() - self._flushed_at
        is_a_while = unflushed >= _FLUSH_SOME and waited_s >= _FLUSH_EVERY_S
        return is_a_while or unflushed >= _FLUSH_EVERY

    async def finish(self) -> str:
        """Return the digest of all that has no hole, git's as `git:…`. Raises: OSError."""
        self._notice_restart()
        while self._at < self._part.front:
            await self._hash_on()
        found = self._hasher().hexdigest()
        return f"git:{found}" if self._kind is DigestKind.GIT_BLOB else found

    def _hasher(self) -> _Digest:
        """Return the hash; git's begins with the size, which may be told late."""
        if self._digest is None:
            is_git = self._kind is DigestKind.GIT_BLOB
            self._digest = _git_blob(self._part.size or 0) if is_git else hashlib.sha256()
        return self._digest

    def _notice_restart(self) -> None:
        if self._generation != self._part.generation:
            self._begin()
            self._flushed = 0

    async def _hash_on(self) -> None:
        end = min(self._part.front, self._at + _TURN)
        if end - self._at <= _AT_ONCE:
            self._hash(end)
        else:
            await in_thread(functools.partial(self._hash, end))

    def _hash(self, end: int) -> None:
        """Hash up to `end`. In a thread: what is done is noted here, as its caller may be gone."""
        digest = self._hasher()
        while self._at < end and (data := self._part.read(self._at, min(_CHUNK, end - self._at))):
            digest.update(data)
            self._at += len(data)

    async def _flush(self) -> None:
        spans, present = self._part.spans(), self._part.present
        await in_thread(self._part.flush)
        self._flushed, self._flushed_at = present, time.monotonic()
        if self._generation == self._part.generation:
            self._part.flushed(spans)


def git_blob_of(path: Path) -> str:
    """Return git's name of a file's content. Raises: OSError."""
    with path.open("rb") as file:
        digest = _git_blob(path.stat().st_size)
        while data := file.read(_CHUNK):
            digest.update(data)
    return digest.hexdigest()


def _git_blob(size: int) -> _Digest:
    return hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
