"""The engine's life as a table: inputs in, effects out, no clock, no processes.

Rules. Only `step` changes a state. An input that a state has no row for is late news and changes
nothing. A boot that fails is not repeated; an engine that dies while serving is started again,
unless it has died `CRASH_LIMIT` times within `CRASH_WINDOW_S` (then it stays down and says why).
"""

import dataclasses
import enum

from studio.domain.server import EngineState as State

CRASH_LIMIT = 3
CRASH_WINDOW_S = 600.0


class Kind(enum.StrEnum):
    """What can happen to an engine."""

    START = "start"
    PREPARED = "prepared"
    PREPARE_FAILED = "prepare-failed"
    BECAME_READY = "became-ready"
    NOT_USABLE = "not-usable"
    """Up too late, or up but unable to generate."""
    EXITED = "exited"
    STOP = "stop"
    DRAINED = "drained"
    OVERDUE = "overdue"
    """A stopping engine has not gone in time."""
    RETRY = "retry"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """One thing that happened; `at_s` is any clock that never goes back."""

    kind: Kind
    at_s: float = 0.0


class Effect(enum.StrEnum):
    """What the supervisor has to do now."""

    PREPARE = "prepare"
    CANCEL_PREPARE = "cancel-prepare"
    SPAWN = "spawn"
    DRAIN = "drain"
    TERMINATE = "terminate"
    KILL = "kill"
    DIAGNOSE = "diagnose"
    ARM_RETRY = "arm-retry"
    CANCEL_RETRY = "cancel-retry"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """Where the engine stands."""

    state: State = State.STOPPED
    crashes_at_s: tuple[float, ...] = ()
    """Deaths while serving, within the window."""
    is_failing: bool = False
    """Stopping because it is of no use, so it ends in FAILED."""

    @property
    def has_child(self) -> bool:
        """Tell whether a process exists in this state."""
        return self.state in (State.STARTING, State.READY, State.DRAINING, State.STOPPING)


_TABLE: dict[tuple[State, Kind], tuple[State, tuple[Effect, ...]]] = {
    (State.STOPPED, Kind.START): (State.PREPARING, (Effect.PREPARE,)),
    (State.FAILED, Kind.START): (State.PREPARING, (Effect.PREPARE,)),
    (State.FAILED, Kind.STOP): (State.STOPPED, ()),
    (State.PREPARING, Kind.PREPARED): (State.STARTING, (Effect.SPAWN,)),
    (State.PREPARING, Kind.PREPARE_FAILED): (State.FAILED, ()),
    (State.PREPARING, Kind.STOP): (State.STOPPED, (Effect.CANCEL_PREPARE,)),
    (State.STARTING, Kind.BECAME_READY): (State.READY, ()),
    (State.STARTING, Kind.NOT_USABLE): (State.STOPPING, (Effect.DIAGNOSE, Effect.KILL)),
    (State.STARTING, Kind.EXITED): (State.FAILED, (Effect.DIAGNOSE,)),
    # vLLM 0.32 loses a SIGTERM while it boots, and boots on; there is nothing to save then.
    (State.STARTING, Kind.STOP): (State.STOPPING, (Effect.KILL,)),
    (State.READY, Kind.STOP): (State.DRAINING, (Effect.DRAIN,)),
    (State.DRAINING, Kind.DRAINED): (State.STOPPING, (Effect.TERMINATE,)),
    (State.DRAINING, Kind.STOP): (State.STOPPING, (Effect.TERMINATE,)),
    (State.DRAINING, Kind.EXITED): (State.STOPPED, ()),
    (State.STOPPING, Kind.OVERDUE): (State.STOPPING, (Effect.KILL,)),
    (State.BACKING_OFF, Kind.RETRY): (State.PREPARING, (Effect.PREPARE,)),
    (State.BACKING_OFF, Kind.START): (State.PREPARING, (Effect.CANCEL_RETRY, Effect.PREPARE)),
    (State.BACKING_OFF, Kind.STOP): (State.STOPPED, (Effect.CANCEL_RETRY,)),
}


def step(machine: Machine, happened: Input) -> tuple[Machine, tuple[Effect, ...]]:
    """Return the next machine and what must be done; unchanged and nothing for late news."""
    match machine.state, happened.kind:
        case State.READY, Kind.EXITED:
            return _crashed(machine, happened.at_s)
        case State.STOPPING, Kind.EXITED:
            end = State.FAILED if machine.is_failing else State.STOPPED
            return dataclasses.replace(machine, state=end, is_failing=False), ()
        case key:
            row = _TABLE.get(key)
    if row is None:
        return machine, ()
    state, effects = row
    return (
        dataclasses.replace(
            machine,
            state=state,
            is_failing=happened.kind is Kind.NOT_USABLE,
            crashes_at_s=() if happened.kind is Kind.STOP else machine.crashes_at_s,
        ),
        effects,
    )


def _crashed(machine: Machine, at_s: float) -> tuple[Machine, tuple[Effect, ...]]:
    recent = (*(t for t in machine.crashes_at_s if at_s - t < CRASH_WINDOW_S), at_s)
    if len(recent) >= CRASH_LIMIT:
        return (
            dataclasses.replace(machine, state=State.FAILED, crashes_at_s=()),
            (Effect.DIAGNOSE,),
        )
    return (
        dataclasses.replace(machine, state=State.BACKING_OFF, crashes_at_s=recent),
        (Effect.DIAGNOSE, Effect.ARM_RETRY),
    )


def retry_delay_s(machine: Machine) -> float:
    """Return how long to wait before the next start: 0.2 s, then 5 s."""
    return 0.2 if len(machine.crashes_at_s) <= 1 else 5.0
