"""Looks at memory once a second and completes the tick with its spill, split by kind.

Readings happen in a thread that nobody waits for beyond half a second; Windows' counters come from
a PowerShell that runs all the time, because what is normal is seen only while no engine runs.
"""

import asyncio
import contextlib
import logging
import os
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from studio.domain.cards import CardSample
from studio.domain.errors import StudioError
from studio.domain.metrics import EngineSample, Tick
from studio.domain.readings import EngineReading, HostReading, Intent, PathReport, SpillLook
from studio.domain.server import EngineSnapshot, EngineState
from studio.host import memory_readings, pressure, wsl
from studio.host.adapter_pdh import PdhWatch
from studio.host.adapter_watch import AdapterWatch
from studio.host.bounded import Bounded, Overdue
from studio.host.documents import read_json, write_json
from studio.monitor import acceleration, intended
from studio.monitor.baseline import Baselines
from studio.monitor.spill import SpillMeter, total_bytes
from studio.serving.command import Launch
from studio.serving.life import Target

logger = logging.getLogger(__name__)

_WITHIN_S = 0.5
_FAMILY_EVERY_S = 5.0
"""How often the engine's processes are looked for, which walks all processes of the machine."""
_PATHS_EVERY_S = 30.0
_PATHS_WITHIN_S = 5.0
_NOT_FOUND = 404

Readings = tuple[HostReading, EngineReading | None]


class Spill:
    """One per service. `run` keeps what has to be asked slowly, `complete` takes each second."""

    def __init__(
        self,
        file: Path,
        patterns: intended.Patterns,
        *,
        engine: Callable[[], EngineSnapshot],
        target: Callable[[], Target | None],
        adapters: AdapterWatch | PdhWatch | None = None,
    ) -> None:
        """`file` keeps what is normal for each adapter; `adapters`: where Windows is around us."""
        self._file = file
        self._patterns = patterns
        self._engine = engine
        self._target = target
        self._adapters = adapters
        self._baselines = Baselines(_kept(file) if adapters is not None else None)
        self._meter = SpillMeter(self._baselines)
        self._bounded: Bounded[Readings] = Bounded(
            self._read, name="memory-readings", within_s=_WITHIN_S
        )
        self._leader: int | None = None
        self._family: tuple[int, float, frozenset[int]] | None = None
        self._paths: PathReport | None = None
        self.intent = Intent()
        self.last: SpillLook | None = None

    def begin(self, launch: Launch) -> None:
        """Take up what a new engine was told to do."""
        command = " ".join((launch.runtime, *launch.argv))
        uses_cards = bool(launch.environment.get("CUDA_VISIBLE_DEVICES"))
        self.intent = intended.intent_of(command, self._patterns, uses_cards=uses_cards)
        self._paths = None

    async def run(self) -> None:
        """Hear Windows and ask the engine for its fast paths, until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            if self._adapters is not None:
                tasks.create_task(self._adapters.run())
            tasks.create_task(self._ask_paths())

    async def complete(self, tick: Tick, sample: EngineSample | None) -> Tick:
        """Return `tick` with the spill of this second."""
        engine = self._engine()
        is_adopted = engine.state is EngineState.ADOPTED
        host, reading = await self._readings(engine.pid)
        is_running = engine.pid is not None or is_adopted
        look = SpillLook(
            at=tick.at,
            monotonic_s=time.monotonic(),
            is_running=is_running,
            is_linux=sys.platform.startswith("linux"),
            host=host,
            engine=reading,
            adapters=self._adapters.now if self._adapters is not None else None,
            intent=Intent() if is_adopted or not is_running else self.intent,
            paths=self._paths if engine.state is EngineState.READY else None,
            stored_bytes=sample.kv_store_bytes_total if sample is not None else None,
            loaded_bytes=sample.kv_load_bytes_total if sample is not None else None,
            link_bytes_per_s=_link(tick.cards),
        )
        self.last = look
        if look.adapters is not None:
            self._baselines.learn(look.adapters, look.monotonic_s, is_running=is_running)
            await self._keep()
        flows = self._meter.flows(look)
        return msgspec.structs.replace(tick, spill=flows, spill_bytes=total_bytes(flows))

    async def _readings(
        self, leader: int | None
    ) -> tuple[HostReading | None, EngineReading | None]:
        self._leader = leader
        try:
            return await asyncio.to_thread(self._bounded.call)
        except Overdue:
            return None, None

    def _read(self) -> Readings:
        """Read everything; in a thread."""
        leader = self._leader
        if leader is None:
            return memory_readings.host(), None
        now_s, known = time.monotonic(), self._family
        if known is None or known[0] != leader or now_s - known[1] >= _FAMILY_EVERY_S:
            self._family = known = (leader, now_s, memory_readings.family(leader))
        return memory_readings.host(), memory_readings.engine(known[2], leader)

    async def _keep(self) -> None:
        news = self._baselines.news()
        if news is None:
            return
        try:
            await asyncio.to_thread(write_json, self._file, news)
        except StudioError as error:
            logger.warning("what is normal for the cards cannot be kept: %s", error.message)

    async def _ask_paths(self) -> None:
        """Ask the V100 engine for its fast paths, now and then; one that knows none is left be."""
        asked: Target | None = None
        while True:
            target = self._target() if self.intent.has_sm70_paths else None
            if target is not None and target.key != (asked.key if asked is not None else None):
                known = await self._asked(target)
                if known is None:
                    asked = target  # this run's key: the next run is asked again
                self._paths = known
            await asyncio.sleep(_PATHS_EVERY_S if self._paths is not None else 1.0)

    async def _asked(self, target: Target) -> PathReport | None:
        headers = [(b"authorization", f"Bearer {target.key}".encode())] if target.key else []
        try:
            async with asyncio.timeout(_PATHS_WITHIN_S):
                status, _, body = await target.upstream.fetch(
                    "GET", "/v1/sm70/acceleration", headers=headers, timeout_s=_PATHS_WITHIN_S
                )
        except (TimeoutError, StudioError):
            return PathReport(note="The engine did not say which of its fast paths run.")
        if status == _NOT_FOUND:
            return None
        return acceleration.read(body)


def watch_of(environ: Mapping[str, str] = os.environ) -> AdapterWatch | PdhWatch | None:
    """Return a watch of Windows' counters, where there is a Windows."""
    if sys.platform == "win32":
        return PdhWatch()
    kernel = pressure.text_of(Path("/proc/sys/kernel/osrelease"))
    return AdapterWatch(environ=environ) if wsl.is_wsl(kernel, environ) else None


def _kept(file: Path) -> dict[str, int]:
    """Return what an earlier service learnt; nothing, when that cannot be read."""
    with contextlib.suppress(StudioError):
        return read_json(file, dict[str, int]) or {}
    return {}


def _link(cards: tuple[CardSample, ...] | None) -> float | None:
    """Return what all cards receive; None unless each tells."""
    rates = [card.pcie_rx_bytes_per_s for card in cards or ()]
    known = [one for one in rates if one is not None]
    return sum(known) if known and len(known) == len(rates) else None
