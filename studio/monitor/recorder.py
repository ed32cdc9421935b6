"""Takes ticks and events on the loop, writes them off it in batches, and answers questions.

Nothing here raises because of the file: the history is worth less than the service that it is of.
"""

import asyncio
import collections
import contextlib
import logging
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from studio.domain.history import (
    HistoryAnswer,
    HistoryEvent,
    HistoryEventKind,
    HistoryPage,
    HistoryState,
)
from studio.domain.metrics import Tick
from studio.monitor import history_read, readings
from studio.monitor.history_file import HistoryFile, Unwritable, aside_event
from studio.monitor.history_read import Question
from studio.monitor.history_write import MOST_BYTES, Connection, Reading
from studio.monitor.tiers import TIERS, Stretch, merged

logger = logging.getLogger(__name__)

FLUSH_S = 3.0
"""What a kill costs at most."""
_RETRY_S = 30.0
_MOST_PENDING = 600
_MOST_EVENTS = 1_000
_EARLY_S = 0.05
"""A tick that comes so little before its second is that second's."""
_STEP_S = 2.0
"""A clock that moved by so much more than time did was set."""

T = TypeVar("T")


class Recorder:
    """The history of one home. One event loop; the file is touched on a thread of its own."""

    def __init__(
        self,
        path: Path,
        *,
        clock: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
        interval_s: Callable[[], float] = lambda: 1.0,
        most_bytes: Callable[[], int] = lambda: MOST_BYTES,
    ) -> None:
        """`interval_s` says how far ticks are apart now, `most_bytes` how large the file gets."""
        self._file = HistoryFile(path, clock=clock, most_bytes=most_bytes)
        self._most_bytes = most_bytes
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="weir-history")
        self._clock = clock
        self._monotonic = monotonic
        self._interval_s = interval_s
        self._second: int | None = None
        self._parts: dict[str, list[Stretch]] = {}
        self._pending: collections.deque[Reading] = collections.deque(maxlen=_MOST_PENDING)
        self._events: collections.deque[HistoryEvent] = collections.deque(maxlen=_MOST_EVENTS)
        self._last: tuple[float, float] | None = None
        self._trouble: str | None = None
        self._told: str | None = None
        self._aside_told: str | None = None
        self._retry_at = 0.0

    # -- what comes in ---------------------------------------------------------------------

    def tick(self, tick: Tick) -> None:
        """Take up a tick; several within one second become one reading."""
        self._watch_clock(tick.at)
        second = int((tick.at + _EARLY_S) // 1)
        if self._second is not None and second != self._second:
            self._seal()
        self._second = second
        for name, value in readings.values(tick).items():
            self._parts.setdefault(name, []).append(Stretch(value, value, value, 1))

    def event(
        self, kind: HistoryEventKind, name: str, detail: str = "", *, at: float | None = None
    ) -> None:
        """Take up an event."""
        moment = self._clock() if at is None else at
        self._events.append(HistoryEvent(at=moment, kind=kind, name=name, detail=detail))

    def _watch_clock(self, at: float) -> None:
        now = self._monotonic()
        if self._last is not None:
            stepped_s = (at - self._last[0]) - (now - self._last[1])
            if abs(stepped_s) > _STEP_S:
                way = "forward" if stepped_s > 0 else "back"
                detail = f"The clock was set {way} by {abs(stepped_s):,.0f} s."
                self.event(HistoryEventKind.CLOCK_STEPPED, "clock", detail, at=at)
        self._last = (at, now)

    def _seal(self) -> None:
        """Make a reading of what came in one second."""
        if self._second is not None and self._parts:
            values = {n: one for n, some in self._parts.items() if (one := merged(some))}
            self._pending.append(Reading(self._second, values))
        self._second, self._parts = None, {}

    # -- writing ---------------------------------------------------------------------------

    async def open(self) -> None:
        """Open the file, so that what is wrong with it is known early."""
        await self._on_thread(self._open)

    async def run(self) -> None:
        """Write every few seconds, until cancelled."""
        while True:
            await asyncio.sleep(FLUSH_S)
            await self.flush()

    async def flush(self, *, at_once: bool = False) -> None:
        """Write what is pending, unless the file refused it a moment ago."""
        if not at_once and self._monotonic() < self._retry_at:
            return
        pending, events = list(self._pending), list(self._events)
        if not pending and not events:
            return
        trouble = await self._on_thread(lambda: self._write(pending, events))
        if trouble is not None:
            self._retry_at = self._monotonic() + _RETRY_S
            self._trouble = trouble
            return
        self._retry_at, self._trouble = 0.0, None
        _drop(self._pending, len(pending))
        _drop(self._events, len(events))

    async def close(self) -> None:
        """Write what is in memory, and let go of the file."""
        self._seal()
        await self.flush(at_once=True)
        await self._on_thread(self._file.close)
        self._thread.shutdown(wait=False)

    # -- questions -------------------------------------------------------------------------

    async def ask(
        self, wanted: tuple[str, ...], since: float, until: float, points: int
    ) -> HistoryAnswer:
        """Return points of series, and what happened, over a span."""
        question = Question(
            wanted=wanted,
            since=since,
            until=until,
            now=self._clock(),
            points=points,
            least_step_s=self._interval_s(),
        )
        nothing = HistoryAnswer(since=since, until=until, step_s=1.0)
        return await self._read(lambda known: history_read.answer(known, question), nothing)

    async def page(
        self, wanted: tuple[str, ...], since: float, until: float, step_s: float | None
    ) -> HistoryPage:
        """Return a part of an export, beginning at `since`."""
        now, least_step_s = self._clock(), self._interval_s()

        def read(known: Connection) -> HistoryPage:
            begin = history_read.start(known, len(TIERS) - 1, int(since)) or since
            tier = history_read.export_tier(begin, now, step_s, least_step_s)
            return history_read.rows(known, wanted, since, until, tier)

        return await self._read(read, HistoryPage(step_s=1.0))

    async def state(self) -> HistoryState:
        """Return how the history is kept."""
        nothing: tuple[float | None, int] = (None, 0)
        oldest, series = await self._read(_extent, nothing)
        pending = self._pending
        return HistoryState(
            file=str(self._file.path),
            bytes=await self._on_thread(self._file.size),
            most_bytes=self._most_bytes(),
            oldest_at=oldest,
            series=series,
            pending_s=float(len(pending)) if self._trouble is not None else 0.0,
            note=self.note,
        )

    @property
    def note(self) -> str | None:
        """Return what is wrong with the file, in a sentence."""
        if self._trouble is not None:
            return (
                f"The history cannot be written ({self._trouble});"
                " the last ten minutes stay in memory until it can."
            )
        return self._file.set_aside

    async def read(self, work: Callable[[Connection], T], nothing: T) -> T:
        """Return what `work` finds in the file and in what is pending, which is written first."""
        return await self._read(work, nothing)

    async def change(self, work: Callable[[Connection], T]) -> T | None:
        """Do `work` in a transaction; None where the file cannot be written."""

        def attempt() -> T | None:
            try:
                return self._file.change(work)
            except Unwritable as error:
                logger.warning("the history cannot be written: %s", error)
                return None

        return await self._on_thread(attempt)

    async def _read(self, work: Callable[[Connection], T], nothing: T) -> T:
        await self.flush()
        return await self._on_thread(lambda: self._file.read(work, nothing))

    # -- on the thread ---------------------------------------------------------------------

    async def _on_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.wrap_future(self._thread.submit(work))

    def _open(self) -> None:
        try:
            self._file.open()
        except Unwritable as error:
            self._say(str(error))

    def _write(self, pending: list[Reading], events: list[HistoryEvent]) -> str | None:
        """Write; return what is in the way."""
        try:
            self._file.write(pending, events)
            aside = self._file.set_aside
            if aside is not None and aside != self._aside_told:
                self._file.write((), [aside_event(self._clock(), aside)])
                self._aside_told = aside
        except Unwritable as error:
            self._say(str(error))
            return str(error)
        self._told = None
        return None

    def _say(self, trouble: str) -> None:
        if trouble != self._told:  # once, not every half minute
            self._told = trouble
            logger.warning("the history cannot be written: %s", trouble)


def _drop(queue: "collections.deque[Reading] | collections.deque[HistoryEvent]", n: int) -> None:
    """Take away what was written; a full queue may have lost some of it already."""
    for _ in range(n):
        with contextlib.suppress(IndexError):
            queue.popleft()


def _extent(connection: Connection) -> tuple[float | None, int]:
    begin = history_read.oldest(connection, len(TIERS) - 1)
    return begin, len(history_read.known_series(connection))
