"""One run of the bench: what it measures, what ended it, and the record that is kept of it."""

import asyncio
import dataclasses
import datetime
import hashlib
import time
from collections.abc import Callable

import msgspec

from studio.app.bench_cards import CardWatch
from studio.benchmark.load import Load
from studio.benchmark.runner import Runner
from studio.domain.bench import BenchRequest, BenchResult
from studio.domain.boots import BootRecord
from studio.domain.errors import EngineFailed, EngineNotReady, StudioError
from studio.domain.hardware import HostSnapshot
from studio.domain.manifests import Preset
from studio.domain.server import EngineSnapshot, EngineState

_CAUSE_S = 5.0
"""How long the supervisor may take to say why the engine is gone."""
_LOOK_S = 0.1
_ON_THE_WAY = (EngineState.DRAINING, EngineState.STOPPING)
"""An engine that died passes through them too, while what is left of it may still say why."""
_DEAD = (EngineState.FAILED, EngineState.BACKING_OFF, EngineState.GONE)


@dataclasses.dataclass(slots=True, kw_only=True)
class BenchRun:
    """One run."""

    id: str
    at: datetime.datetime
    request: BenchRequest
    runner: Runner
    watch: CardWatch
    engine: EngineSnapshot
    """As it was when the run began."""
    host: HostSnapshot
    boot: BootRecord | None
    load: Load
    asked_s: float
    """When somebody asked last how far it is."""
    work: asyncio.Task[None] | None = None
    partial: str | None = None
    error: StudioError | None = None
    over: asyncio.Event = dataclasses.field(default_factory=asyncio.Event)

    def end(self, why: str) -> None:
        """End it; the first reason is the one that is kept."""
        self.partial = self.partial or why
        if self.work is not None:
            self.work.cancel()

    def result(self, preset: Preset | None) -> BenchResult:
        """Return what is measured so far; `preset` is the one that serves, where it is known."""
        engine, runner, boot = self.engine, self.runner, self.boot
        adopted = engine.adopted
        return BenchResult(
            id=self.id,
            at=self.at.isoformat(timespec="seconds"),
            took_s=runner.elapsed_s,
            preset=engine.preset or (adopted.name if adopted is not None else ""),
            preset_digest=_digest(preset) if preset is not None else None,
            overrides=dict(engine.overrides),
            settings=dict(boot.settings) if boot is not None else {},
            served_name=engine.served_name or "",
            runtime=engine.runtime,
            runtime_id=engine.runtime_id,
            is_adopted=adopted is not None,
            cards_key=self._cards_key(),
            cards=self.watch.cards(),
            processor=self.host.cpu_name if adopted is None else None,
            processors=self.host.cpu_count if adopted is None else None,
            system="WSL2" if self.host.is_wsl else self.host.system.capitalize(),
            driver=self.host.driver if adopted is None else None,
            pool_tokens=engine.pool_tokens,
            max_model_len=engine.max_model_len,
            load=self.load.digest(is_quick=self.request.quick),
            is_quick=self.request.quick,
            salt=runner.salt,
            parts=tuple(runner.parts),
            left_out=tuple(runner.left_out),
            partial=self.partial,
            notes=self._notes(),
        )

    def _cards_key(self) -> str:
        if self.boot is not None:
            return self.boot.cards
        adopted = self.engine.adopted
        return f"adopted {adopted.url}" if adopted is not None else "unknown"

    def _notes(self) -> tuple[str, ...]:
        """Return what has to be known of the figures."""
        notes = [f"{badge.title}: {badge.cost.rstrip('.')}." for badge in self.engine.badges]
        held = sorted({reason for card in self.watch.cards() for reason in card.throttle})
        if held:
            notes.append(f"The cards were held back while they were measured: {', '.join(held)}.")
        if any(part.is_disturbed for part in self.runner.parts):
            notes.append("Other requests ran at the same time: parts marked * are off.")
        return tuple(notes)


async def explained(
    run: BenchRun, error: StudioError, now: Callable[[], EngineSnapshot]
) -> StudioError:
    """Return why the engine is gone, where that is why a run ended; else the error itself."""
    if not isinstance(error, EngineFailed | EngineNotReady) or error.code == "bench-refused":
        return error
    before, engine = run.engine, now()
    deadline = time.monotonic() + _CAUSE_S
    while _is_open(engine, before) and time.monotonic() < deadline:
        await asyncio.sleep(_LOOK_S)
        engine = now()
    if _is_as_before(engine, before):
        return error
    part = run.runner.now
    kept = "What was measured until then is kept: `weir bench show last`."
    hints = [kept] if run.runner.parts else []
    has_died = engine.state in _DEAD or engine.restarts > before.restarts
    if not has_died and engine.died_of in (None, before.died_of):
        return EngineNotReady(
            "bench-engine-stopped",
            f"The engine was stopped while it was measured ({part}).",
            hint=" ".join(hints) or "Start it again with `weir up`, then measure it.",
        )
    problem = engine.error
    cause = problem.message if problem is not None else engine.died_of
    return EngineFailed(
        "bench-engine-lost",
        f"The engine died while it was measured ({part}): {cause or 'it left no word.'}",
        hint=" ".join(("`weir fix` lists what can be done.", *hints)),
        evidence=problem.evidence if problem is not None else (),
        remedies=problem.remedies if problem is not None else (),
    )


def _is_open(engine: EngineSnapshot, before: EngineSnapshot) -> bool:
    """Tell whether it cannot be said yet what became of the engine."""
    return _is_as_before(engine, before) or engine.state in _ON_THE_WAY


def _is_as_before(engine: EngineSnapshot, before: EngineSnapshot) -> bool:
    return engine.is_serving and engine.started_at == before.started_at


def _digest(preset: Preset) -> str:
    return hashlib.sha256(msgspec.json.encode(preset, order="deterministic")).hexdigest()
