"""One bandwidth limit for all that is fetched at a time, which may be changed meanwhile."""

import asyncio
import threading
import time
from collections.abc import Callable

_LOOK_S = 0.05
"""How soon a changed limit, or the end of a hold, is noticed."""
_BURST_S = 0.25
"""How much of a pause may be made up for: two pieces, as an answer on its way takes from nobody."""
_PIECE_S = 0.125
_LEAST_PIECE = 64 << 10
_HELD_PIECE = 1 << 20


class Throttle:
    """Bytes a second, shared by everybody who takes from it, whatever thread they run in.

    Everybody takes a place in one line of bytes, which moves on at the limit's speed. Who can,
    takes before asking for a piece: bytes that are not read wait in the buffers of both ends, a few
    megabytes of each connection, and come again after a kill.
    """

    def __init__(
        self, bytes_per_s: int | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """None: no limit."""
        self._lock = threading.Lock()
        self._clock = clock
        self._rate = bytes_per_s
        self._taken = 0.0
        self._passed = 0.0
        self._at = clock()
        self._is_held = False

    @property
    def bytes_per_s(self) -> int | None:
        """Return the limit; None: none."""
        return self._rate

    @property
    def is_held(self) -> bool:
        """Return whether nothing is let through."""
        return self._is_held

    @property
    def is_metered(self) -> bool:
        """Return whether bytes have to be taken at all."""
        return self._is_held or self._rate is not None

    @property
    def piece_bytes(self) -> int:
        """Return how much to ask a server for at a time: an eighth of a second of the limit."""
        rate = self._rate
        return _HELD_PIECE if rate is None else max(_LEAST_PIECE, int(rate * _PIECE_S))

    def limit(self, bytes_per_s: int | None) -> None:
        """Set another limit; what waits now waits by it."""
        with self._lock:
            self._move()
            self._rate = bytes_per_s

    def hold(self, *, is_held: bool) -> None:
        """Let nothing through while something more urgent needs the line."""
        with self._lock:
            self._move()
            self._is_held = is_held

    async def take(self, count: int) -> float:
        """Wait until `count` more bytes may have come; return how long that took, in seconds."""
        began = self._clock()
        with self._lock:
            self._move()
            self._taken += count
            mine = self._taken
        wait_s = self._wait_s(mine)
        while wait_s > 0:
            await asyncio.sleep(min(_LOOK_S, wait_s))
            wait_s = self._wait_s(mine)
        return self._clock() - began

    def _wait_s(self, mine: float) -> float:
        with self._lock:
            self._move()
            if self._is_held:
                return _LOOK_S
            return (mine - self._passed) / self._rate if self._rate else 0.0

    def _move(self) -> None:
        """Let the line move on to now."""
        now = self._clock()
        if self._is_held:
            self._at = now
            return
        if not self._rate:
            self._passed = self._taken
        else:
            most = self._taken + _BURST_S * self._rate
            self._passed = min(most, self._passed + (now - self._at) * self._rate)
        self._at = now
