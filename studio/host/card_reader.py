"""The cards once a second, without ever holding the event loop: one thread of its own asks.

A driver that hangs keeps that thread, and nothing else: until it comes back no second question is
put, and every card is not known, with the reason. Where the library is missing, nvidia-smi stands
in for it.
"""

import asyncio
import contextlib
import queue
import threading
import time
from collections.abc import Callable

from studio.domain.cards import CardSample, CardsReading
from studio.host.card_nvml import Session
from studio.host.card_smi import Program


class _Round:
    """One question to the thread: it tells card by card, and says when it is through."""

    def __init__(self, at: float, *, all_links: bool) -> None:
        self._loop = asyncio.get_running_loop()
        self.at = at
        self.all_links = all_links
        self.told: list[CardSample] = []
        self.note: str | None = None
        self.source: str | None = None
        self.is_listed = False
        """Somebody said which cards there are, even if there are none."""
        self.is_done = False
        self.done = asyncio.Event()

    def finish(self) -> None:
        """Say so; called in the thread."""
        self.is_done = True
        with contextlib.suppress(RuntimeError):  # the loop has ended meanwhile
            self._loop.call_soon_threadsafe(self.done.set)


class CardReader:
    """Reads all cards, for callers on one event loop."""

    def __init__(
        self,
        session: Session | None = None,
        program: Program | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._clock = clock
        self._session = session or Session()
        self._program = program or Program()
        self._requests: queue.SimpleQueue[_Round | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._round: _Round | None = None
        self._turn = asyncio.Lock()
        self._last: tuple[CardSample, ...] = ()
        self.cpu_s = 0.0
        """Processor time that the readings have taken."""
        self.source: str | None = None
        """Who told last."""

    @property
    def is_asking_program(self) -> bool:
        """Tell whether nvidia-smi is at work for the first answer."""
        return self._program.is_under_way

    async def read(self, within_s: float, *, all_links: bool = False) -> CardsReading:
        """Return what the cards do now; what was not told within `within_s` is not known.

        With `all_links` the next reading knows what goes over the link of every card.
        """
        async with self._turn:
            under_way = self._round
            if under_way is not None and not under_way.is_done:
                return self._without_answer(under_way, ())
            asked = self._round = _Round(self._clock(), all_links=all_links)
            self._ensure_thread()
            self._requests.put(asked)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(within_s):
                    await asked.done.wait()
            if not asked.is_done:
                return self._without_answer(asked, tuple(asked.told))
            self._last = tuple(asked.told)
            cards = self._last if asked.told or asked.is_listed else None
            self.source = asked.source
            return CardsReading(cards=cards, note=asked.note, source=asked.source)

    def close(self) -> None:
        """Let the thread end; one that is stuck ends with the process."""
        if self._thread is not None:
            self._requests.put(None)

    def wait(self, within_s: float = 5.0) -> None:
        """Wait for the end of the thread, after `close`."""
        if self._thread is not None:
            self._thread.join(within_s)

    def _without_answer(self, asked: _Round, told: tuple[CardSample, ...]) -> CardsReading:
        """Return what was told in time, and that all else is not known."""
        lasts_s = self._clock() - asked.at
        note = f"NVIDIA's driver has not answered for {lasts_s:.0f} s."
        fault = f"no answer for {lasts_s:.0f} s"
        known = {(one.index, one.uuid) for one in told}
        cards = told + tuple(
            CardSample(
                index=one.index,
                uuid=one.uuid,
                name=one.name,
                memory_total_bytes=one.memory_total_bytes,
                faults=(fault,),
                is_lost=one.is_lost,
            )
            for one in self._last
            if (one.index, one.uuid) not in known
        )
        return CardsReading(cards=cards or None, note=note, source="nvml" if cards else None)

    # In the thread

    def _ensure_thread(self) -> None:
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._work, name="weir-cards", daemon=True)
            self._thread.start()

    def _work(self) -> None:
        while (asked := self._requests.get()) is not None:
            started = time.thread_time()
            is_answered = False
            try:
                self._answer(asked)
                is_answered = True
            finally:  # whatever goes wrong here, nobody waits for it
                if not is_answered:
                    self._thread = None  # the next question gets a new one
                asked.finish()
            self._session.after(all_links=asked.all_links)
            if not self._session.is_open:
                self._program.refresh(self._session.fault)
            self.cpu_s += time.thread_time() - started
        self._session.close()

    def _answer(self, asked: _Round) -> None:
        session = self._session
        session.read(asked.told.append)
        asked.note = session.note
        if session.is_open:
            asked.source, asked.is_listed = "nvml", True
            return
        stand_in = self._program.reading(session.fault)
        if stand_in is not None:
            asked.told[:] = stand_in
            asked.note, asked.source = self._program.note, "nvidia-smi"
        asked.is_listed = stand_in is not None or session.fault == "no-card"
