"""Boots, as the facade sees them: their start, their course, their history, and pins of pools."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from studio.app.boot_history import BootHistoryFile
from studio.app.boot_tries import Tries
from studio.app.boot_watch import BootWatch
from studio.app.pins import Pins
from studio.app.stages import Stages
from studio.app.up import Choice
from studio.app.wiring import Parts
from studio.domain.boots import BootHistory, BootRecord
from studio.domain.events import Stage, StageProgress, StageState
from studio.domain.plans import Plan
from studio.domain.server import EngineSnapshot, EngineState
from studio.serving.command import Launch


class Boots:
    """One per service."""

    def __init__(
        self,
        parts: Parts,
        stages: Stages,
        ensure_ready: Callable[[Launch], Awaitable[EngineSnapshot]],
    ) -> None:
        """`ensure_ready` starts an engine."""
        file = BootHistoryFile(parts.paths.home / "boots.json")
        self._file = file
        self._stages = stages
        self._watch = BootWatch(file, lambda: parts.supervisor.facts)
        self._tries = Tries(
            ensure_ready=ensure_ready,
            watch=self._watch,
            stages=stages,
            facts=lambda: parts.supervisor.facts,
            cache=parts.paths.engine_cache,
        )
        self.pins = Pins(parts.settings, parts.presets, file)

    async def history(self, preset: str | None, limit: int) -> BootHistory:
        """Return the newest boots, oldest first; of one preset, where one is named."""
        known = await asyncio.to_thread(self._file.read)
        chosen = [one for one in known.boots if preset is None or one.preset == preset]
        return BootHistory(boots=tuple(chosen[-limit:] if limit else ()))

    def last(self) -> BootRecord | None:
        """Return the last boot that this service saw to its end."""
        return self._watch.last

    def expect(self, plan: Plan) -> None:
        """Say what was planned for the start that comes next."""
        self._tries.expect(plan)

    async def ensure_ready(
        self, launch: Launch, choice: Choice, models: Sequence[Path]
    ) -> EngineSnapshot:
        """Start an engine and return it, with what is known of its boot. Raises: as it ended."""
        engine = await self._tries.ensure_ready(launch, choice, models)
        return self._watch.complete(engine)

    def heard(self, engine: EngineSnapshot) -> None:
        """Take up what the supervisor says."""
        self._watch.heard(engine)

    def complete(self, engine: EngineSnapshot) -> EngineSnapshot:
        """Return the engine with what is known of its boot."""
        return self._watch.complete(engine)

    def asked(self, engine: EngineSnapshot) -> dict[str, str]:
        """Return the overrides that the engine was started with, without a pin of its pool."""
        return self._watch.asked(engine)

    def whole_s(self) -> float | None:
        """Return how long the boot that begins now should take."""
        return self._watch.whole_s()

    def report(self, engine: EngineSnapshot) -> None:
        """Announce how far the boot is, as a stage of `weir up`."""
        if engine.state is not EngineState.STARTING or engine.phase is None:
            return
        elapsed, expected = engine.elapsed_s, engine.expected_boot_s
        is_over = elapsed is not None and expected is not None and elapsed > expected
        self._stages.report(
            StageProgress(
                stage=Stage.BOOT,
                state=StageState.RUNNING,
                title=self._stages.title_of(Stage.BOOT),
                note=engine.note or engine.phase.value,
                done=elapsed,
                total=None if is_over else expected,
                unit="s",
            )
        )

    async def run(self) -> None:
        """Keep the history and measure what loads, until cancelled."""
        await self._watch.run()
