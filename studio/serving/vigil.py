"""Sits beside one serving engine: turns readings into a standstill, a probe, or a death.

Decides nothing about what follows; supervisor.py does.
"""

import asyncio
import time
from collections.abc import Callable, Coroutine

from studio.domain.errors import ErrorInfo, StudioError
from studio.domain.metrics import EngineSample
from studio.host import processes
from studio.serving import liveness as liveness_rules
from studio.serving.life import Life

COMPILE_LOOK_S = 2.0
COMPILE_SHARE = 4
"""How many times as long as a standstill may last a compiler is believed in."""

Begin = Callable[[Coroutine[None, None, None]], None]


class Vigil:
    """Watches one life. Each callback says what was seen, at most once for each standstill."""

    def __init__(
        self,
        life: Life,
        *,
        begin: Begin,
        on_stalled: Callable[[], None],
        on_moving: Callable[[], None],
        on_dead: Callable[[ErrorInfo], None],
        on_news: Callable[[], None],
    ) -> None:
        self._life = life
        self._begin = begin
        self._on_stalled = on_stalled
        self._on_moving = on_moving
        self._on_dead = on_dead
        self._on_news = on_news
        self._is_told = False

    def see(self, sample: EngineSample | None, in_flight: int, stall_s: float) -> None:
        """Take one reading; `stall_s` is what counts as a standstill at the moment."""
        liveness = self._life.liveness
        liveness.stall_s = stall_s
        before = liveness.pulse
        pulse = liveness.read(time.monotonic(), sample, in_flight)
        if pulse.is_stalled and not before.is_stalled:
            self._begin(self._suspect())
        if self._is_told and not pulse.is_stalled:  # a probe's token ends it between two readings
            self._is_told = False
            self._on_moving()
        if pulse.wants_probe:
            liveness.probing()  # here, so that the next reading asks for no second one
            self._begin(self._probe())
        if max(pulse.still_s, before.still_s) >= liveness_rules.SHOWN_AFTER_S:
            self._on_news()

    async def _suspect(self) -> None:
        """Tell of a standstill, unless a compiler is at work for the engine."""
        life, liveness = self._life, self._life.liveness
        while life.pid is not None and liveness.pulse.is_stalled:
            is_long = liveness.pulse.still_s > COMPILE_SHARE * liveness.stall_s
            if is_long or not await asyncio.to_thread(processes.is_compiling, life.pid):
                if liveness.pulse.is_stalled:  # the look took a while
                    self._is_told = True
                    self._on_stalled()
                return
            await asyncio.sleep(COMPILE_LOOK_S)

    async def _probe(self) -> None:
        """Ask an engine that says it is idle for a token; no answer is for the readings to tell."""
        try:
            await self._life.probe()
        except StudioError as error:
            if self._life.pid is not None:  # otherwise its end tells
                self._on_dead(error.info)
