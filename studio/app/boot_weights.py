"""How many bytes of the weights are loaded, while they load.

The log says it in shards. Where it is silent (one large file), what the processes have read or
mapped since they began to load says it. What is not known stays unknown.
"""

import asyncio
from collections.abc import Callable, Mapping

from studio.domain.server import BootPhase, EngineSnapshot, EngineState
from studio.host.reading import TakenIn, taken_in

Facts = Mapping[str, int | float | str]
_EVERY_S = 0.5
_WATCHED = (BootPhase.ENGINE, BootPhase.WEIGHTS)


class WeightsMeter:
    """Measures the processes of one engine; `run` must be running."""

    def __init__(self, measure: Callable[[int], TakenIn | None] = taken_in) -> None:
        self._measure = measure
        self._pid: int | None = None
        self._phase: BootPhase | None = None
        self._before: TakenIn | None = None
        self._size: int | None = None
        self._drafter = 0
        self._most = 0
        self._is_wanted = asyncio.Event()

    def begin(self, size: int | None, drafter_size: int | None) -> None:
        """Forget the engine before; `size` and `drafter_size` are those of the weights' files."""
        self._pid = self._phase = self._before = None
        self._size, self._drafter = size, drafter_size or 0
        self._most = 0

    @property
    def size(self) -> int | None:
        """Bytes of all weights, the drafter's included; None when they are not known."""
        return None if self._size is None else self._size + self._drafter

    @property
    def loaded_bytes(self) -> int | None:
        """How much of `size` is loaded; None when nobody knows, or nothing was seen to come in."""
        return self._most or None

    def heard(self, engine: EngineSnapshot, facts: Facts) -> None:
        """Take up where the engine is, and what its log says of its shards."""
        self._pid, self._phase = engine.pid, engine.phase
        is_wanted = engine.state is EngineState.STARTING and engine.phase in _WATCHED
        (self._is_wanted.set if is_wanted else self._is_wanted.clear)()
        if engine.phase is BootPhase.WEIGHTS and self._size is not None:
            self._saw(self._by_log(self._size, engine.phase_share or 0.0, facts))

    def _by_log(self, size: int, share: float, facts: Facts) -> int:
        if facts.get("loads_drafter"):
            return size + round(share * self._drafter)
        return size if "weights_s" in facts else round(share * size)

    def _saw(self, loaded: int) -> None:
        """Keep the most that was seen: a loader unmaps what it has copied."""
        assert self.size is not None
        self._most = max(self._most, min(loaded, self.size))

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
        elif self._size is not None:
            # Shared libraries and headers come in too: never more than there is.
            self._saw(min(self._size, found.since(self._before)))
