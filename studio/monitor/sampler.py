"""Once a second: the engine's metrics, the cards and the host's memory become one tick.

Ticks are aligned to the clock and never overlap: a reading that takes too long is given up, and its
fields are unknown in that tick. A clock that is set, a machine that slept and a tick that took too
long cost the ticks of that time and bring none in a burst.
"""

import asyncio
import contextlib
import math
import time
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

import psutil

from studio.domain.cards import CardsReading
from studio.domain.errors import StudioError
from studio.domain.metrics import EngineSample, HostSample, MonitorInfo, Tick
from studio.host import processes
from studio.host.cpu_meter import Metered
from studio.monitor import prometheus
from studio.monitor.cost import Cost
from studio.monitor.history import History, Meter

INTERVAL_S = 1.0
DEADLINE_S = 0.9
"""How long a reading may take, also where ticks come more often: an engine under load needs it."""
_RSS_S = 5.0
"""Between two readings of the engine's memory, which walks all processes."""
_SLACK_S = 0.25

T = TypeVar("T")
FetchMetrics = Callable[[], Awaitable[bytes | None]]
Complete = Callable[[Tick, EngineSample | None], Coroutine[Any, Any, Tick]]
ReadCards = Callable[[float], Awaitable[CardsReading]]


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
        cards: ReadCards | None = None,
        cards_cpu_s: Callable[[], float] = lambda: 0.0,
        interval_s: Callable[[], float] | None = None,
        complete: Complete | None = None,
    ) -> None:
        """`on_sample` gets what the engine answered, None where it did not.

        `cards` gets how long it may take; `interval_s` is asked before each tick; `complete`
        adds to a tick what others know of that moment.
        """
        self._fetch = fetch
        self._engine_pid = engine_pid
        self._publish = publish
        self._history = history
        self._on_sample = on_sample
        self._cards = cards
        self._interval_s = interval_s
        self._complete = complete
        self._meter = Meter()
        self._cost = Cost(cards_cpu_s)
        self._pid: int | None = None
        self._rss: int | None = None
        self._swap: int | None = None
        self._rss_at = float("-inf")
        self._changed = asyncio.Event()
        self.last: Tick | None = None
        self.last_sample: EngineSample | None = None
        """What the engine answered in that tick."""

    @property
    def interval_s(self) -> float:
        """How far ticks are apart."""
        return INTERVAL_S if self._interval_s is None else self._interval_s()

    def info(self) -> MonitorInfo:
        """Return what the monitor does, and what it costs."""
        return self._cost.info(self.interval_s)

    def interval_changed(self) -> None:
        """Take up a new interval now and not after the next tick."""
        self._changed.set()

    async def run(self) -> None:
        """Tick, aligned to the clock."""
        last: int | None = None
        while True:
            interval_s = self.interval_s
            mark, wait_s = next_mark(time.time(), interval_s, last)
            if await self._is_changed_within(wait_s):
                continue
            last = mark
            started = time.monotonic()
            await Metered(self.tick(), self._cost.spent)
            self._cost.ticked(time.monotonic() - started, interval_s)

    async def tick(self) -> Tick:
        """Read everything once and announce the result."""
        async with asyncio.TaskGroup() as tasks:
            asked = tasks.create_task(self._metered(self._engine()))
            read = tasks.create_task(self._metered(self._read_cards()))
        engine, cards = asked.result(), read.result()
        self.last_sample = engine
        if self._on_sample is not None:
            self._on_sample(engine)
        host = await self._host()
        tick = self._meter.tick(
            time.time(), engine, host, monotonic_s=time.monotonic(), cards=cards
        )
        self._cost.cards_source = cards.source if cards is not None else None
        if self._complete is not None:
            tick = await self._metered(self._complete(tick, engine))
        self.last = tick
        self._history.append(tick)
        self._publish(tick)
        return tick

    async def _is_changed_within(self, seconds: float) -> bool:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._changed.wait()
            self._changed.clear()
            return True
        return False

    async def _metered(self, work: Coroutine[Any, Any, T]) -> T:
        return await Metered(work, self._cost.spent)

    async def _engine(self) -> EngineSample | None:
        with contextlib.suppress(TimeoutError, StudioError):
            async with asyncio.timeout(DEADLINE_S):
                text = await self._fetch()
            return prometheus.parse(text.decode("utf-8", "replace")) if text else None
        return None

    async def _read_cards(self) -> CardsReading | None:
        return None if self._cards is None else await self._cards(DEADLINE_S)

    async def _host(self) -> HostSample:
        memory = psutil.virtual_memory()
        pid, now = self._engine_pid(), time.monotonic()
        if pid is None:
            self._rss = self._swap = None
        elif pid != self._pid or now - self._rss_at >= _RSS_S - _SLACK_S:
            # Off the loop: with a thousand processes it would hold up tokens for 25 ms.
            self._rss, self._swap = await asyncio.to_thread(processes.group_memory, pid)
            self._rss_at = now
        self._pid = pid
        return HostSample(
            memory_bytes=memory.total,
            memory_used_bytes=memory.total - memory.available,
            swap_used_bytes=self._swap,
            engine_rss_bytes=self._rss,
        )


def next_mark(now: float, interval_s: float, last: int | None) -> tuple[int, float]:
    """Return which multiple of the interval the clock reaches next, and in how many seconds.

    A timer that woke a little before `last`, its mark, waits for the one after it. A clock that was
    set back begins anew from where it is.
    """
    mark = math.floor(now / interval_s) + 1
    if mark == last:
        mark += 1
    return mark, max(0.0, mark * interval_s - now)
