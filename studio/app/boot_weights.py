"""How many bytes of the weights are loaded, while they load.

The log says it in shards. Where it is silent (one large file), what the processes have read or
mapped since they began to load says it. What is not known stays unknown.
"""

import asyncio
from collections.abc import Callable

from studio.domain.server import BootPhase, EngineSnapshot, EngineState
from studio.host.reading import TakenIn, taken_in

_EVERY_S = 0.5
_WATCHED = (BootPhase.ENGINE, BootPhase.WEIGHTS)


class WeightsMeter:
    """Measures the processes of one engine; `run` must be running."""

    def __init__(self, measure: Callable[[int], TakenIn | None] = taken_in) -> None:
        self._measure = measure
        self._pid: int | None = None
        self._phase: BootPhase | None = None
        self._before: TakenIn | None = None
        self._now: TakenIn | None = None
        self._is_wanted = asyncio.Event()

    def begin(self, pid: int | None) -> None:
        """Forget the engine before."""
        self._pid = pid
        self._phase = None
        self._before = self._now = None

    def heard(self, engine: EngineSnapshot) -> None:
        """Take up where the engine is."""
        self._pid, self._phase = engine.pid, engine.phase
        is_wanted = engine.state is EngineState.STARTING and engine.phase in _WATCHED
        (self._is_wanted.set if is_wanted else self._is_wanted.clear)()

    def loaded_bytes(self, engine: EngineSnapshot, size: int | None) -> int | None:
        """Return how much of `size` is loaded; None when nobody knows."""
        if engine.phase is not BootPhase.WEIGHTS or size is None:
            return None
        by_log = None if not engine.phase_share else round(engine.phase_share * size)
        if by_log is not None:
            return by_log
        if self._before is None or self._now is None:
            return None
        # Shared libraries and headers come in too: never more than there is.
        return min(size, self._now.since(self._before))

    async def run(self) -> None:
        """Measure while it is of use, until cancelled."""
        while True:
            await self._is_wanted.wait()
            await self.look()
            await asyncio.sleep(_EVERY_S)

    async def look(self) -> None:
        """Measure once."""
        pid, phase = self._pid, self._phase
        if pid is None:
            return
        found = await asyncio.to_thread(self._measure, pid)
        if found is None or pid != self._pid:
            return
        if phase is not BootPhase.WEIGHTS or self._before is None:
            self._before = found  # what came in before the weights was code
        self._now = found
