"""The engine's life as a table: inputs in, effects out, no clock, no processes.

Rules. Only `step` changes a state. An input that a state has no row for is late news and changes
nothing. A boot that fails is not repeated. What follows a death or a standstill is policy: an
engine that is started again stays down, and says why, once it has died `CRASH_LIMIT` times within
`CRASH_WINDOW_S`.
"""

import dataclasses
import enum

from studio.domain.server import EngineState as State
from studio.domain.settings import OnDeath, OnStall

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
    PART_DIED = "part-died"
    """One of the engine's processes is gone, and the others are still there."""
    PART_KILLED = "part-killed"
    """The same, by a signal: nobody of the rest knows a reason, so nobody is waited for."""
    STALLED = "stalled"
    """It has work and takes no step, for longer than it may."""
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
    KILL_SOON = "kill-soon"
    """Let what is left of it say why, then kill it."""
    DIAGNOSE = "diagnose"
    BRAKE = "brake"
    """Say that it died too often, and stays down."""
    TELL_STALL = "tell-stall"
    ARM_RETRY = "arm-retry"
    CANCEL_RETRY = "cancel-retry"


class Ending(enum.StrEnum):
    """Why an engine is being ended, which decides what comes after its end."""

    ASKED = "asked"
    USELESS = "useless"
    DIED = "died"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What follows a death and a standstill."""

    on_death: OnDeath = OnDeath.RESTART
    on_stall: OnStall = OnStall.RESTART


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """Where the engine stands."""

    state: State = State.STOPPED
    crashes_at_s: tuple[float, ...] = ()
    """Deaths while serving, within the window."""
    ending: Ending = Ending.ASKED
    """Why it is being ended, while it is."""

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
    (State.STARTING, Kind.NOT_USABLE): (State.STOPPING, (Effect.KILL,)),
    (State.STARTING, Kind.PART_DIED): (State.STOPPING, (Effect.KILL,)),
    (State.STARTING, Kind.EXITED): (State.FAILED, (Effect.DIAGNOSE,)),
    # vLLM 0.32 loses a SIGTERM while it boots, and boots on; there is nothing to save then.
    (State.STARTING, Kind.STOP): (State.STOPPING, (Effect.KILL,)),
    (State.READY, Kind.PART_DIED): (State.STOPPING, (Effect.KILL_SOON,)),
    (State.READY, Kind.PART_KILLED): (State.STOPPING, (Effect.KILL,)),
    (State.READY, Kind.STOP): (State.DRAINING, (Effect.DRAIN,)),
    (State.DRAINING, Kind.DRAINED): (State.STOPPING, (Effect.TERMINATE,)),
    (State.DRAINING, Kind.STOP): (State.STOPPING, (Effect.TERMINATE,)),
    # What is left of it answers nobody any more, so nobody is waited for.
    (State.DRAINING, Kind.PART_DIED): (State.STOPPING, (Effect.KILL_SOON,)),
    (State.DRAINING, Kind.PART_KILLED): (State.STOPPING, (Effect.KILL,)),
    (State.DRAINING, Kind.EXITED): (State.STOPPED, ()),
    (State.STOPPING, Kind.OVERDUE): (State.STOPPING, (Effect.KILL,)),
    (State.BACKING_OFF, Kind.RETRY): (State.PREPARING, (Effect.PREPARE,)),
    (State.BACKING_OFF, Kind.START): (State.PREPARING, (Effect.CANCEL_RETRY, Effect.PREPARE)),
    (State.BACKING_OFF, Kind.STOP): (State.STOPPED, (Effect.CANCEL_RETRY,)),
}


_USUAL = Policy()

_ENDINGS = {
    (State.STARTING, Kind.NOT_USABLE): Ending.USELESS,
    (State.STARTING, Kind.PART_DIED): Ending.USELESS,
    (State.READY, Kind.PART_DIED): Ending.DIED,
    (State.READY, Kind.PART_KILLED): Ending.DIED,
}


def step(
    machine: Machine, happened: Input, policy: Policy = _USUAL
) -> tuple[Machine, tuple[Effect, ...]]:
    """Return the next machine and what must be done; unchanged and nothing for late news."""
    match machine.state, happened.kind:
        case State.READY, Kind.EXITED:
            return _died(machine, happened.at_s, policy)
        case State.READY, Kind.STALLED:
            return _stalled(machine, policy)
        case State.STOPPING, Kind.EXITED:
            return _ended(machine, happened.at_s, policy)
        case State.STOPPING, Kind.STOP:
            # Whoever asks for the end of an engine that is being ended wants no other after it.
            return dataclasses.replace(machine, ending=Ending.ASKED, crashes_at_s=()), ()
        case key:
            row = _TABLE.get(key)
    if row is None:
        return machine, ()
    state, effects = row
    return (
        dataclasses.replace(
            machine,
            state=state,
            ending=_ENDINGS.get(key, machine.ending if state is machine.state else Ending.ASKED),
            crashes_at_s=() if happened.kind is Kind.STOP else machine.crashes_at_s,
        ),
        effects,
    )


def is_coming(machine: Machine) -> bool:
    """Tell whether an engine will be ready by itself, if nothing else goes wrong."""
    if machine.state is State.STOPPING:
        return machine.ending is Ending.DIED
    return machine.state in (State.PREPARING, State.STARTING, State.READY, State.BACKING_OFF)


def _stalled(machine: Machine, policy: Policy) -> tuple[Machine, tuple[Effect, ...]]:
    match policy.on_stall:
        case OnStall.RESTART:
            stopping = dataclasses.replace(machine, state=State.STOPPING, ending=Ending.DIED)
            return stopping, (Effect.KILL,)
        case OnStall.TELL:
            return machine, (Effect.TELL_STALL,)
        case OnStall.WAIT:
            return machine, ()


def _ended(machine: Machine, at_s: float, policy: Policy) -> tuple[Machine, tuple[Effect, ...]]:
    match machine.ending:
        case Ending.ASKED:
            return dataclasses.replace(machine, state=State.STOPPED), ()
        case Ending.USELESS:
            failed = dataclasses.replace(machine, state=State.FAILED, ending=Ending.ASKED)
            return failed, (Effect.DIAGNOSE,)
        case Ending.DIED:
            return _died(dataclasses.replace(machine, ending=Ending.ASKED), at_s, policy)


def _died(machine: Machine, at_s: float, policy: Policy) -> tuple[Machine, tuple[Effect, ...]]:
    recent = (*(t for t in machine.crashes_at_s if at_s - t < CRASH_WINDOW_S), at_s)
    down = dataclasses.replace(machine, state=State.FAILED, crashes_at_s=())
    if policy.on_death is OnDeath.TELL:
        return down, (Effect.DIAGNOSE,)
    if len(recent) >= CRASH_LIMIT:
        return down, (Effect.DIAGNOSE, Effect.BRAKE)
    return (
        dataclasses.replace(machine, state=State.BACKING_OFF, crashes_at_s=recent),
        (Effect.DIAGNOSE, Effect.ARM_RETRY),
    )


def retry_delay_s(machine: Machine) -> float:
    """Return how long to wait before the next start: hardly at first, then 5 s."""
    return 0.05 if len(machine.crashes_at_s) <= 1 else 5.0
