"""The bench: measures the engine that serves, keeps each run, and compares.

It runs in the service, straight at the engine (docs/decisions/0027-bench.md). A run belongs to the
call that began it; whoever else asks meanwhile is told that one is under way.
"""

import asyncio
import datetime
import logging
import secrets
import time
from collections.abc import Awaitable, Callable

import msgspec

from studio.app.bench_cards import CardWatch
from studio.app.bench_run import BenchRun, explained
from studio.app.wiring import Parts
from studio.benchmark import compare
from studio.benchmark.against_published import with_published
from studio.benchmark.answer import Engine
from studio.benchmark.load import Load, Room
from studio.benchmark.runner import Ground, Runner
from studio.benchmark.shelf import Shelf
from studio.benchmark.summary import summary
from studio.domain.bench import (
    BenchComparison,
    BenchProgress,
    BenchRemoved,
    BenchReport,
    BenchRequest,
    BenchResult,
    BenchRuns,
    BenchState,
    BenchStopped,
)
from studio.domain.boots import BootOutcome, BootRecord
from studio.domain.errors import Busy, EngineFailed, EngineNotReady, StudioError
from studio.domain.hardware import HostSnapshot
from studio.domain.manifests import Preset
from studio.domain.metrics import EngineSample
from studio.domain.server import EngineSnapshot
from studio.host.documents import read_toml
from studio.host.paths import bundled_root
from studio.monitor import prometheus

logger = logging.getLogger(__name__)

WATCHED_S = 10.0
"""A watched run ends when nobody has asked about it for so long."""
_LOOK_S = 0.5
_LOAD = "presets/bench/load.toml"
_ABANDONED = "Nobody watched it any more."
_STOPPED = "It was stopped."
_UNFINISHED = "The service ended before it was over."


class Bench:
    """One per service."""

    def __init__(
        self,
        parts: Parts,
        *,
        host: Callable[[], Awaitable[HostSnapshot]],
        boot: Callable[[], BootRecord | None],
    ) -> None:
        """`boot` is the last one that came to its end."""
        self._parts = parts
        self._host = host
        self._last_boot = boot
        self._shelf = Shelf(parts.paths.bench)
        self._run: BenchRun | None = None
        self._is_beginning = False
        self._over_s: float | None = None
        self.on_over: Callable[[], object] = lambda: None
        """Called when a run is over: the engine may be idle from then on."""

    @property
    def is_running(self) -> bool:
        """Tell whether the engine is measured: then it is not idle, whatever the gateway says."""
        return self._run is not None or self._is_beginning

    def idle_since_s(self, since_s: float) -> float | None:
        """Return since when the engine is idle, of which the gateway says `since_s`; None: it is
        being measured. Moments are of `time.monotonic`.
        """
        if self.is_running:
            return None
        return since_s if self._over_s is None else max(since_s, self._over_s)

    # -- a run -----------------------------------------------------------------------------

    async def run(self, request: BenchRequest) -> BenchReport:
        """Measure the engine that serves; returns when it is over, also when it was stopped.

        Raises: EngineNotReady (`bench-engine-not-serving`), Busy (`bench-running`), EngineFailed
        (`bench-engine-lost`), BadInput (`bench-no-room`, `bench-refused`). What was measured until
        then is kept.
        """
        if self.is_running:
            raise Busy(
                "bench-running",
                "The engine is being measured already.",
                hint="Wait until that is over, or end it with `weir bench stop`.",
            )
        self._is_beginning = True
        try:
            run = self._run = await self._begin(request)
        finally:
            self._is_beginning = False
        try:
            async with asyncio.TaskGroup() as tasks:
                run.work = tasks.create_task(self._work(run))
                looking = tasks.create_task(self._look(run))
                await asyncio.wait([run.work])
                looking.cancel()
            return await self._finish(run)
        finally:
            self._run, self._over_s = None, time.monotonic()
            run.over.set()
            self.on_over()

    async def stop(self) -> BenchStopped:
        """End a run under way; what it has measured is kept."""
        run = self._run
        if run is None:
            return BenchStopped(was_running=False)
        run.end(_STOPPED)
        await run.over.wait()
        return BenchStopped(was_running=True)

    def state(self) -> BenchState:
        """Return how far a run is; asking is what keeps a watched one going."""
        run = self._run
        if run is None:
            return BenchState()
        run.asked_s = time.monotonic()
        runner = run.runner
        return BenchState(
            progress=BenchProgress(
                id=run.id,
                part=runner.now,
                done=runner.done,
                total=len(runner.steps),
                elapsed_s=runner.elapsed_s,
                limit_s=runner.sizes.limit_s,
                last=runner.parts[-1] if runner.parts else None,
            )
        )

    async def _begin(self, request: BenchRequest) -> BenchRun:
        engine, target = self._parts.engine.snapshot(), self._parts.engine.target
        if target is None or not engine.is_serving:
            raise EngineNotReady(
                "bench-engine-not-serving",
                "No engine serves, so there is nothing to measure.",
                hint="`weir bench PRESET` starts one and stops it afterwards.",
            )
        load = await asyncio.to_thread(self._load)
        host = await self._host()
        boot = self._boot(engine)
        at = datetime.datetime.now(datetime.UTC)
        run_id = await asyncio.to_thread(self._shelf.new_id, at)
        settings = boot.settings if boot is not None else {}
        seats = settings.get("max_num_seqs")
        ground = Ground(
            engine=Engine(
                upstream=target.upstream, key=target.key or None, served_name=target.served_name
            ),
            room=Room(
                max_model_len=engine.max_model_len,
                pool_tokens=engine.pool_tokens,
                max_requests=seats if isinstance(seats, int) else None,
            ),
            sample=lambda: self._sample(engine),
            others=lambda: self._parts.gateway.counters.in_flight > 0,
        )
        used = set(boot.cards.split("+")) if boot is not None else set()
        gpus = [card for card in host.gpus if (card.uuid or f"{card.name} {card.index}") in used]

        async def keep() -> None:
            await self._keep_so_far(made)

        made = BenchRun(
            id=run_id,
            at=at,
            request=request,
            runner=Runner(ground, load, request, salt=secrets.token_hex(8), on_part=keep),
            watch=CardWatch(gpus),
            engine=engine,
            host=host,
            boot=boot,
            load=load,
            asked_s=time.monotonic(),
        )
        return made

    async def _keep_so_far(self, run: BenchRun) -> None:
        """Write what is measured, so that a kill of the service does not lose it."""
        result = msgspec.structs.replace(run.result(self._preset(run.engine)), partial=_UNFINISHED)
        try:
            await asyncio.to_thread(self._shelf.put, result)
        except StudioError as error:  # told at the end, where it still matters
            logger.warning("the run %s cannot be kept: %s", run.id, error.message)

    async def _work(self, run: BenchRun) -> None:
        try:
            await run.runner.run()
        except StudioError as error:
            run.error = error

    async def _look(self, run: BenchRun) -> None:
        """Watch the cards, and whether anybody still wants to know."""
        while True:
            run.watch.take(self._parts.sampler.last)
            silent_s = time.monotonic() - run.asked_s
            if run.request.is_watched and silent_s > WATCHED_S:
                run.end(_ABANDONED)
            await asyncio.sleep(_LOOK_S)

    async def _finish(self, run: BenchRun) -> BenchReport:
        """Keep what was measured. Raises: what ended it."""
        error = run.error
        if error is not None:
            error = await explained(run, error, self._parts.engine.snapshot)
            run.partial = error.message
        report = await self._kept(
            run.result(self._preset(run.engine)), is_kept=bool(run.runner.parts)
        )
        if error is None:
            return report
        if report.path is not None:
            error.data["run"] = run.id
        raise error

    async def _kept(self, result: BenchResult, *, is_kept: bool) -> BenchReport:
        path = None
        if is_kept:
            try:
                path = str(await asyncio.to_thread(self._shelf.put, result))
            except StudioError as error:
                logger.warning("the run %s is not kept: %s", result.id, error.message)
                note = f"This run is not kept: {error.message}"
                result = msgspec.structs.replace(result, notes=(*result.notes, note))
        return await self._reported(result, path)

    # -- kept runs -------------------------------------------------------------------------

    async def runs(self, preset: str | None) -> BenchRuns:
        """Return the kept runs, oldest first."""
        found, damaged = await asyncio.to_thread(self._shelf.all)
        chosen = [one for one in found if preset is None or one.preset == preset]
        return BenchRuns(runs=tuple(summary(one) for one in chosen), damaged=tuple(damaged))

    async def one(self, reference: str) -> BenchReport:
        """Return a kept run and what it is compared with. Raises: as `Shelf.get` does."""
        result = await asyncio.to_thread(self._shelf.get, reference)
        return await self._reported(result, str(self._shelf.path(result.id)))

    async def compare(self, reference: str, other: str) -> BenchComparison:
        """Return a kept run beside another one. Raises: as `Shelf.get` does."""
        mine = await asyncio.to_thread(self._shelf.get, reference)
        theirs = await asyncio.to_thread(self._shelf.get, other)
        load = await asyncio.to_thread(self._load)
        return compare.with_earlier(mine, theirs, load.compare.same_share)

    async def remove(self, reference: str) -> BenchRemoved:
        """Remove a kept run. Raises: as `Shelf.find` does; HostLacks (`not-writable`)."""
        run_id = await asyncio.to_thread(self._shelf.find, reference)
        await asyncio.to_thread(self._shelf.remove, run_id)
        return BenchRemoved(ids=(run_id,))

    async def _reported(self, result: BenchResult, path: str | None) -> BenchReport:
        load = await asyncio.to_thread(self._load)
        share = load.compare.same_share
        found, _ = await asyncio.to_thread(self._shelf.all)
        earlier = [
            one
            for one in found
            if one.at <= result.at and one.id != result.id and compare.is_of_a_kind(result, one)
        ]
        comparisons: list[BenchComparison] = []
        if earlier:
            comparisons.append(compare.with_earlier(result, earlier[-1], share))
        preset = None if result.is_adopted else self._named(result.preset)
        if preset is not None:
            comparisons += with_published(result, preset.expected, share)
        return BenchReport(result=result, comparisons=tuple(comparisons), path=path)

    # -- what others know ------------------------------------------------------------------

    def _load(self) -> Load:
        own = self._parts.paths.catalogue / _LOAD
        return read_toml(own if own.is_file() else bundled_root() / _LOAD, Load)

    def _boot(self, engine: EngineSnapshot) -> BootRecord | None:
        """Return the boot of the engine that serves; an adopted engine's is not known."""
        last = self._last_boot()
        if last is None or engine.preset != last.preset or last.outcome is not BootOutcome.SERVED:
            return None
        return last

    async def _sample(self, begun: EngineSnapshot) -> EngineSample | None:
        """Return the engine's counters. Raises: EngineFailed, when it is another one by now."""
        now = self._parts.engine.snapshot()
        if now.started_at != begun.started_at or not now.is_serving:
            raise EngineFailed(
                "engine-cut-off", "The engine that was measured is gone.", hint="`weir status`."
            )
        text = await self._parts.metrics()
        return prometheus.parse(text.decode("utf-8", "replace")) if text is not None else None

    def _preset(self, engine: EngineSnapshot) -> Preset | None:
        return self._named(engine.preset) if engine.preset is not None else None

    def _named(self, preset_id: str) -> Preset | None:
        try:
            return self._parts.presets.get(preset_id)
        except StudioError:  # removed or broken since it was started
            return None
