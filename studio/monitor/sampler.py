"""Once a second: the engine's metrics and the host's memory become one tick.

Ticks are aligned to the clock and never overlap: a reading that takes too long is given up, and its
fields are unknown in that tick.
"""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable

import psutil

from studio.domain.errors import StudioError
from studio.domain.metrics import EngineSample, HostSample, Tick
from studio.host import processes
from studio.monitor import prometheus
from studio.monitor.history import History, Meter

INTERVAL_S = 1.0
DEADLINE_S = 0.9
_RSS_EVERY = 5
"""Ticks between two readings of the engine's memory, which walks all processes."""

FetchMetrics = Callable[[], Awaitable[bytes | None]]
Complete = Callable[[Tick, EngineSample | None], Awaitable[Tick]]


class Sampler:
    """Reads, meters and announces; `run` until cancelled."""

    def __init__(
        self,
        *,
        fetch: FetchMetrics,
        engine_pid: Callable[[], int | None],
        publish: Callable[[Tick], None],
        history: History,
        on_sample: Callable[[EngineSample | None], None] | None = None,
        complete: Complete | None = None,
    ) -> None:
        """`on_sample` gets what the engine answered, None where it did not; `complete` adds to a
        tick what others know of that second.
        """
        self._fetch = fetch
        self._engine_pid = engine_pid
        self._publish = publish
        self._history = history
        self._on_sample = on_sample
        self._complete = complete
        self._meter = Meter()
        self._count = 0
        self._rss: int | None = None
        self._swap: int | None = None
        self.last: Tick | None = None

    async def run(self) -> None:
        """Tick once a second."""
        while True:
            await asyncio.sleep(INTERVAL_S - time.time() % INTERVAL_S)
            await self.tick()

    async def tick(self) -> Tick:
        """Read everything once and announce the result."""
        engine = await self._engine()
        if self._on_sample is not None:
            self._on_sample(engine)
        host = await self._host()
        tick = self._meter.tick(time.time(), engine, host, monotonic_s=time.monotonic())
        if self._complete is not None:
            tick = await self._complete(tick, engine)
        self.last = tick
        self._history.append(tick)
        self._publish(tick)
        return tick

    async def _engine(self) -> EngineSample | None:
        with contextlib.suppress(TimeoutError, StudioError):
            async with asyncio.timeout(DEADLINE_S):
                text = await self._fetch()
            return prometheus.parse(text.decode("utf-8", "replace")) if text else None
        return None

    async def _host(self) -> HostSample:
        memory = psutil.virtual_memory()
        pid = self._engine_pid()
        if pid is None:
            self._rss = self._swap = None
            self._count = 0
        else:
            if self._count % _RSS_EVERY == 0:
                # Off the loop: with a thousand processes it would hold up tokens for 25 ms.
                self._rss, self._swap = await asyncio.to_thread(processes.group_memory, pid)
            self._count += 1
        return HostSample(
            memory_bytes=memory.total,
            memory_used_bytes=memory.total - memory.available,
            swap_used_bytes=self._swap,
            engine_rss_bytes=self._rss,
        )
