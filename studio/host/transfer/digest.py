"""The file's sha256, taken while it comes: the hasher follows the front that has no holes.

Blocks are handed out in order, so the front is at most a few blocks behind the newest byte, and
when the last byte is here there is next to nothing left to read. After a restart the beginning is
read from the disk meanwhile, because the state of a hash cannot be kept.
"""

import asyncio
import functools
import hashlib
from typing import Protocol

from studio.host.threads import in_thread
from studio.host.transfer.part import PartFile

_CHUNK = 1 << 20
_STEP = 4 << 20
"""Less than this is not worth a thread's start while more is coming."""
_TURN = 64 << 20
"""How much is hashed before anybody else has a say, for example who gives up."""
_FLUSH_EVERY = 64 << 20
_LOOK_S = 0.05


class _Digest(Protocol):
    def update(self, data: bytes, /) -> None: ...
    def hexdigest(self) -> str: ...


class Follower:
    """Hashes and flushes a part behind its writer."""

    def __init__(self, part: PartFile, *, hashes: bool) -> None:
        self._part = part
        self._hashes = hashes
        self._flushed = part.present
        self._begin()

    def _begin(self) -> None:
        self._generation = self._part.generation
        self._digest: _Digest = hashlib.sha256()
        self._at = 0

    async def follow(self) -> None:
        """Keep up until cancelled. Raises: OSError."""
        while True:
            self._notice_restart()
            if self._part.present - self._flushed >= _FLUSH_EVERY:
                await self._flush()
            elif self._hashes and self._part.front - self._at >= _STEP:
                await self._hash_on()
            else:
                await asyncio.sleep(_LOOK_S)

    async def finish(self) -> str:
        """Return the sha256 of all that is here without a hole. Raises: OSError."""
        self._notice_restart()
        while self._at < self._part.front:
            await self._hash_on()
        return self._digest.hexdigest()

    def _notice_restart(self) -> None:
        if self._generation != self._part.generation:
            self._begin()
            self._flushed = 0

    async def _hash_on(self) -> None:
        end = min(self._part.front, self._at + _TURN)
        await in_thread(functools.partial(self._hash, end))

    def _hash(self, end: int) -> None:
        """Hash up to `end`. In a thread: what is done is noted here, as its caller may be gone."""
        while self._at < end and (data := self._part.read(self._at, min(_CHUNK, end - self._at))):
            self._digest.update(data)
            self._at += len(data)

    async def _flush(self) -> None:
        spans, present = self._part.spans(), self._part.present
        await in_thread(self._part.flush)
        self._flushed = present
        if self._generation == self._part.generation:
            self._part.flushed(spans)
