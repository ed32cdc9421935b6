"""What the window knows, as one frozen record folded from answers and events.

Pure, without Qt and without a clock: instants are handed in. Only `Session` holds the current one.
"""

import enum

import msgspec

from studio.domain.control import (
    GatewayInfo,
    KeyInfo,
    PresetInfo,
    ServiceInfo,
    Status,
    UpRequest,
)
from studio.domain.errors import ErrorInfo
from studio.domain.events import (
    EngineChanged,
    Event,
    GatewayChanged,
    Stage,
    StageProgress,
    StageState,
    Ticked,
    UpFinished,
)
from studio.domain.hardware import HostSnapshot
from studio.domain.metrics import LogLine, Tick
from studio.domain.server import EngineSnapshot, EngineState

INTERRUPTED = 130
"""Exit status of an attempt that a person ended on purpose."""

_BROKEN = (EngineState.FAILED, EngineState.BACKING_OFF)


class Link(enum.StrEnum):
    """How the window stands to the service."""

    CONNECTING = "connecting"
    LIVE = "live"
    LOST = "lost"
    ENDED = "ended"
    """The service said goodbye: it is not started again unasked."""


class Action(enum.StrEnum):
    """What the window may ask of the service."""

    UP = "up"
    SWITCH = "switch"
    RESTART = "restart"
    STOP = "stop"
    STATUS = "status"
    FETCH_LOG = "fetch-log"
    LIST_KEYS = "list-keys"
    CREATE_KEY = "create-key"
    REVOKE_KEY = "revoke-key"
    REPORT = "report"


ENGINE_ACTIONS = frozenset({Action.UP, Action.SWITCH, Action.RESTART, Action.STOP})


class Secret(msgspec.Struct, frozen=True, kw_only=True):
    """A key at the only moment when it can be read."""

    key: str
    name: str | None = None
    is_new: bool = True
    """False: it is kept, and can be shown again."""


class Opening(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked for once when a service was found."""

    status: Status
    presets: tuple[PresetInfo, ...]
    history: tuple[Tick, ...]
    log: tuple[LogLine, ...]
    keys: tuple[KeyInfo, ...]


class Known(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that the pages are drawn from, the history and the log apart."""

    link: Link = Link.CONNECTING
    place: str | None = None
    """Which machine the service runs on, as a person named it; None: this one."""
    farewell: str | None = None
    """Why the service ended, or why it cannot be reached."""
    service: ServiceInfo | None = None
    engine: EngineSnapshot = EngineSnapshot()
    engine_at_s: float = 0.0
    """The caller's clock when `engine` arrived."""
    gateway: GatewayInfo = GatewayInfo()
    host: HostSnapshot | None = None
    stages: tuple[StageProgress, ...] = ()
    presets: tuple[PresetInfo, ...] | None = None
    tick: Tick | None = None
    keys: tuple[KeyInfo, ...] | None = None
    pending: frozenset[Action] = frozenset()
    attempt: UpRequest | None = None
    """What was asked last, for a second try."""
    attempt_action: Action = Action.UP
    stop_asked: bool = False
    """Stop was pressed since the last attempt began: an end that follows is no problem."""
    problem: ErrorInfo | None = None
    key_problem: ErrorInfo | None = None
    secret: Secret | None = None


def opened(known: Known, opening: Opening, at_s: float) -> Known:
    """Return `known` after a service was found: its word replaces ours."""
    status = opening.status
    engine = status.engine
    return msgspec.structs.replace(
        known,
        link=Link.LIVE,
        farewell=None,
        service=status.service,
        engine=engine,
        engine_at_s=at_s,
        gateway=status.gateway,
        host=status.host,
        stages=status.stages,
        presets=opening.presets,
        tick=status.tick,
        keys=opening.keys,
        pending=frozenset(),
        problem=engine.error if engine.state in _BROKEN else None,
    )


def fold(known: Known, event: Event, at_s: float) -> Known:
    """Return `known` after `event`, which arrived at `at_s` of the caller's clock."""
    replace = msgspec.structs.replace
    match event:
        case StageProgress():
            return _with_stage(known, event)
        case EngineChanged(engine=engine):
            return _with_engine(known, engine, at_s)
        case Ticked(tick=tick):
            return replace(known, tick=tick)
        case GatewayChanged(base_url=base_url):
            return replace(known, gateway=replace(known.gateway, base_url=base_url))
        case UpFinished(error=error):
            return with_problem(replace(known, stages=_ended(known.stages)), error)
        case _:
            return known


def with_problem(known: Known, error: ErrorInfo | None) -> Known:
    """Return `known` with what went wrong; an end on purpose is no problem."""
    on_purpose = error is not None and (error.exit_status == INTERRUPTED or known.stop_asked)
    return known if on_purpose else msgspec.structs.replace(known, problem=error)


def without_revoked(known: Known) -> Known:
    """Return `known` without a key that was shown once and is of no use any more."""
    if known.secret is None:
        return known
    named = [key for key in known.keys or () if key.name == known.secret.name]
    if not named or any(key.revoked_at is None for key in named):
        return known
    return msgspec.structs.replace(known, secret=None)


def is_busy(known: Known) -> bool:
    """Tell whether the engine is on its way somewhere."""
    moving = known.engine.state not in (
        EngineState.STOPPED,
        EngineState.READY,
        EngineState.FAILED,
        EngineState.ADOPTED,
        EngineState.GONE,
    )
    return moving or is_under_way(known) or bool(known.pending & ENGINE_ACTIONS)


def is_under_way(known: Known) -> bool:
    """Tell whether a `weir up` runs, whoever asked: the engine rests while things are fetched.

    A runtime that is installed on its own is no such start: stopping the engine would not end it.
    """
    return any(stage.of_up and stage.state is StageState.RUNNING for stage in known.stages)


def elapsed_s(known: Known, now_s: float) -> float | None:
    """Return the seconds since the engine's process was started, as of `now_s`."""
    engine = known.engine
    if engine.elapsed_s is None:
        return None
    if engine.state not in (EngineState.PREPARING, EngineState.STARTING):
        return engine.elapsed_s
    return engine.elapsed_s + max(0.0, now_s - known.engine_at_s)


def _ended(stages: tuple[StageProgress, ...]) -> tuple[StageProgress, ...]:
    """Return the stages of an attempt that is over: what still ran did not get done."""
    return tuple(
        msgspec.structs.replace(stage, state=StageState.FAILED)
        if stage.of_up and stage.state is StageState.RUNNING
        else stage
        for stage in stages
    )


def _with_engine(known: Known, engine: EngineSnapshot, at_s: float) -> Known:
    was_serving = known.engine.is_serving
    known = msgspec.structs.replace(known, engine=engine, engine_at_s=at_s)
    if engine.state in _BROKEN and engine.error is not None:
        return with_problem(known, engine.error)
    if engine.is_serving and not was_serving:
        return msgspec.structs.replace(known, problem=None)
    return known


def _with_stage(known: Known, news: StageProgress) -> Known:
    if news.stage is Stage.DETECT and news.state is StageState.RUNNING:
        return msgspec.structs.replace(known, stages=(news,), stop_asked=False, problem=None)
    same = [old for old in known.stages if (old.stage, old.of_up) == (news.stage, news.of_up)]
    if same:
        stages = tuple(news if old is same[0] else old for old in known.stages)
    else:
        stages = (*known.stages, news)
    return msgspec.structs.replace(known, stages=stages)
