"""The engine and the queue as the policy takes them, and as people and clients are told."""

import dataclasses
import time
from collections.abc import Sequence

from studio.domain.demand import FailedStart, NextStep, Queue, Reason
from studio.domain.server import EngineSnapshot, EngineState
from studio.domain.units import duration_text, percent_text
from studio.gateway import demand
from studio.gateway.demand import Act, Decision, Line, Present, Rules, Stand
from studio.gateway.tickets import Tickets

_ON_ITS_WAY = (EngineState.PREPARING, EngineState.STARTING, EngineState.BACKING_OFF)
_ENDING = (EngineState.DRAINING, EngineState.STOPPING)
_NEARLY = 0.99
"""A boot that takes longer than forecast is not done."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Doing:
    """What on demand itself is at."""

    starting: str | None = None
    is_stopping: bool = False
    ours: str | None = None
    """What was started on demand; another engine was started by hand."""
    ready_s: float | None = None
    """When the engine became ready."""
    alone_s: float | None = None
    """Since when nobody waits for the boot under way, as it was seen last."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One look."""

    present: Present
    engine: EngineSnapshot


def look(
    engine: EngineSnapshot,
    doing: Doing,
    *,
    is_coming: bool,
    idle_s: float | None,
    is_measured: bool,
    lines: Sequence[Line],
    now_s: float,
) -> Seen:
    """Return the engine as the policy takes it. Pure."""
    stand = _stand(engine, doing, is_coming=is_coming)
    preset = engine.preset
    if stand is Stand.COMING and doing.starting is not None:
        preset = doing.starting
    if stand is Stand.NONE:
        preset = None
    alone_s = None
    if stand is Stand.COMING and all(line.preset != preset for line in lines):
        alone_s = now_s if doing.alone_s is None else doing.alone_s
    is_ready = stand is Stand.READY
    present = Present(
        stand=stand,
        preset=preset,
        is_by_hand=preset is not None and preset != doing.ours,
        ready_s=doing.ready_s if is_ready else None,
        boot_s=engine.boot_s if is_ready else None,
        is_measured=is_measured and is_ready,
        idle_s=idle_s if is_ready else None,
        alone_s=alone_s,
    )
    return Seen(present=present, engine=engine)


def _stand(engine: EngineSnapshot, doing: Doing, *, is_coming: bool) -> Stand:
    state = engine.state
    if engine.adopted is not None:
        return Stand.FOREIGN
    if state is EngineState.READY and doing.starting in (None, engine.preset):
        return Stand.ENDING if doing.is_stopping else Stand.READY
    if doing.starting is not None:
        return Stand.COMING
    if doing.is_stopping:
        return Stand.ENDING
    if is_coming or state in _ON_ITS_WAY:
        return Stand.COMING
    return Stand.ENDING if state in _ENDING else Stand.NONE


def outlook(preset: str, seen: Seen, decision: Decision, now_s: float) -> tuple[str, float | None]:
    """Return what happens for those who wait for `preset`, and in how many seconds it may serve.

    Pure. The seconds are a lower bound where another engine has its turn first.
    """
    present = seen.present
    if present.stand is Stand.COMING and present.preset == preset:
        return _boot(preset, seen.engine)
    due_s = None if decision.at_s is None else max(0.0, decision.at_s - now_s)
    if present.stand is Stand.READY and decision.reason is Reason.RESIDENCE:
        soon = f", next switch in {duration_text(due_s)}" if due_s is not None else ""
        return f"{preset} waits while {present.preset} is served{soon}", due_s
    if present.stand is Stand.READY and decision.reason is Reason.MEASURED:
        return f"{preset} waits while {present.preset} is measured", None
    if present.stand is Stand.COMING:
        words, remaining_s = _boot(str(present.preset), seen.engine)
        return f"{preset} waits: first, {words}", remaining_s
    return f"{preset} is about to start", None


def _boot(preset: str, engine: EngineSnapshot) -> tuple[str, float | None]:
    """Return how far a boot is: phase, share of its time, seconds left."""
    if engine.preset != preset or engine.state is not EngineState.STARTING:
        return f"{preset} is about to start", engine.expected_boot_s
    pieces = [f"{preset} is starting"]
    if engine.phase is not None:
        pieces.append(engine.phase.value)
    elapsed_s, expected_s = engine.elapsed_s, engine.expected_boot_s
    if elapsed_s is not None and expected_s:
        pieces.append(percent_text(min(_NEARLY, elapsed_s / expected_s)))
    left_s = engine.remaining_s
    if left_s is None and elapsed_s is not None and expected_s is not None:
        left_s = max(0.0, expected_s - elapsed_s)
    if left_s:
        pieces.append(f"about {duration_text(left_s)} left")
    return ", ".join(pieces), left_s


def shown(
    tickets: Tickets,
    seen: Seen,
    rules: Rules,
    *,
    failed: tuple[FailedStart, ...],
    held_at: float | None,
) -> Queue:
    """Return the queue for people; moments are those of the wall clock."""
    now_s, now = time.monotonic(), time.time()
    present = seen.present
    decision = demand.decide(now_s, present, tickets.lines(), rules)
    at = None if decision.at_s is None else round(now + decision.at_s - now_s)
    is_idle = decision.reason is Reason.IDLE
    step = None
    if decision.preset is not None and decision.act is not Act.TURN_AWAY:
        step = NextStep(preset=decision.preset, reason=decision.reason, at=at)
    return Queue(
        presets=tickets.shown(),
        waiting=len(tickets),
        length=tickets.most,
        next=step,
        failed=failed,
        held_since=held_at,
        idle_stop_at=at if is_idle else None,
        idle_ttl_s=demand.ttl_s(present, rules) if present.stand is Stand.READY else None,
        is_by_hand=present.stand is Stand.READY and present.is_by_hand,
    )
