"""Requests that come while an engine is on its way: they wait for it, bounded.

A client that gets 503 for the ten seconds of a restart shows an error to a person; one that waits
shows an answer. Bodies are read before, so that a client that leaves is noticed; so many may wait
and no more, since each holds its body.
"""

import asyncio
import dataclasses
import math
from collections.abc import Awaitable, Callable

from studio.gateway.dialects import RETRY_NOT_READY_S, Refusal
from studio.gateway.engine import EngineTarget
from studio.host.http_server import ClientLeft, Exchange

MOST_WAITING = 64
DEATHS = frozenset({"engine-cut-off", "engine-unreachable"})
"""Errors of an engine that may have died just now."""
_NOTICED_WITHIN_S = 5.0
"""A server outlives its engine by a moment, in which it still counts as ready."""
_LOOK_S = 0.1
LONGEST_RETRY_S = 60
"""The official clients take no Retry-After beyond a minute, and guess instead."""


async def _none() -> EngineTarget | None:
    return None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Coming:
    """What is known of an engine that is on its way; by default none ever is."""

    wait: Callable[[], Awaitable[EngineTarget | None]] = _none
    """Returns the engine once it is ready, None as soon as none is coming."""
    within_s: Callable[[], float] = lambda: 0.0
    """How long a request may wait now."""
    remaining_s: Callable[[], float | None] = lambda: None
    """When it should be ready, as far as known."""
    is_coming: Callable[[], bool] = lambda: False
    advice: Callable[[], str] = lambda: "`weir status` shows how far it is; `weir up` starts one."
    """What a client reads that came in vain."""


class WaitingRoom:
    """Where requests wait for an engine."""

    def __init__(self, target: Callable[[], EngineTarget | None], coming: Coming) -> None:
        self.waiting = 0
        self._target = target
        self._coming = coming

    @property
    def ready(self) -> EngineTarget | None:
        """Return the engine that serves now, if any."""
        return self._target()

    @property
    def is_coming(self) -> bool:
        """Whether one is on its way."""
        return self._coming.is_coming()

    def now(self) -> EngineTarget | None:
        """Return the engine that serves now; None where waiting for one may help.

        Raises: Refusal (`engine-not-ready`).
        """
        engine = self._target()
        if engine is not None:
            return engine
        if not self._coming.is_coming() or self._coming.within_s() <= 0:
            raise self.refusal()
        if self.waiting >= MOST_WAITING:
            raise self.refusal()
        return None

    async def enter(self, exchange: Exchange) -> EngineTarget:
        """Return the engine as soon as there is one.

        Raises: Refusal (`engine-not-ready`) in the end, ClientLeft as soon as the client does.
        """
        engine = self.now()
        if engine is not None:
            return engine
        self.waiting += 1
        try:
            engine = await self._wait(exchange)
        finally:
            self.waiting -= 1
        if exchange.is_gone:
            raise ClientLeft
        if engine is None:
            raise self.refusal()
        return engine

    async def after(self, exchange: Exchange, dead: EngineTarget) -> EngineTarget | None:
        """Return the engine that takes the place of one that died; None where none does in time.

        Raises: ClientLeft.
        """
        if self._coming.within_s() <= 0 or self.waiting >= MOST_WAITING:
            return None
        self.waiting += 1
        try:
            if not await self._is_noticed(exchange, dead):
                return None
            engine = self._target() or await self._wait(exchange)
        finally:
            self.waiting -= 1
        if exchange.is_gone:
            raise ClientLeft
        return engine

    async def _is_noticed(self, exchange: Exchange, dead: EngineTarget) -> bool:
        """Wait until `dead` no longer counts as ready; False where none is coming."""
        for _ in range(round(_NOTICED_WITHIN_S / _LOOK_S)):
            target = self._target()
            if target is None or target.upstream is not dead.upstream:
                return True
            if not self._coming.is_coming() or exchange.is_gone or exchange.is_ended:
                return False
            await asyncio.sleep(_LOOK_S)
        return False

    async def _wait(self, exchange: Exchange) -> EngineTarget | None:
        """Wait for the engine, the client's leaving or the end of patience."""
        within_s = self._coming.within_s()
        async with asyncio.TaskGroup() as tasks:
            found = tasks.create_task(_awaited(self._coming.wait()))
            left = tasks.create_task(exchange.gone())
            await asyncio.wait((found, left), timeout=within_s, return_when=asyncio.FIRST_COMPLETED)
            is_found = found.done()
            found.cancel()
            left.cancel()
        return found.result() if is_found else None

    def refusal(self) -> Refusal:
        """Return the answer for requests that cannot wait, or have waited long enough."""
        remaining_s = self._coming.remaining_s()
        retry_s = RETRY_NOT_READY_S
        if remaining_s is not None:
            retry_s = max(1, min(LONGEST_RETRY_S, math.ceil(remaining_s)))
        return Refusal(
            503,
            "engine-not-ready",
            f"No engine is ready. {self._coming.advice()}",
            headers=((b"retry-after", b"%d" % retry_s),),
        )


async def _awaited(work: Awaitable[EngineTarget | None]) -> EngineTarget | None:
    return await work
