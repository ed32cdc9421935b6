"""What is known and may be chosen about engines that start, switch and stop on demand."""

import enum

import msgspec

from studio.domain.errors import ErrorInfo


class Abandoned(enum.StrEnum):
    """What becomes of a boot that nobody waits for any more."""

    FINISH = "finish"
    """It goes on: a client that gave up too early finds it ready when it asks again."""
    END = "end"
    """It is ended after some seconds."""


class ListedPreset(msgspec.Struct, frozen=True, kw_only=True):
    """One preset that requests may start, and how."""

    overrides: dict[str, str] = {}
    """As typed after `--set`."""
    ttl_s: float | None = None
    """Seconds without a request after which it is stopped; 0: never; None: the default."""


class DemandSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What the person chose. Unknown keys of a newer version are ignored."""

    is_on: bool = True
    """Off: requests start nothing, whatever is listed."""
    presets: dict[str, ListedPreset] = {}
    """Those that requests may start; of several with one public name the first is meant."""
    ttl_s: float = 1_800.0
    """For presets without one of their own; 0: never."""
    ttl_by_hand: bool = False
    """Whether an engine that a person started is stopped when idle, too."""
    residence_s: float | None = None
    """How long an engine serves at least before another takes its place; None: as long as its
    boot took."""
    wait_s: float | None = None
    """How long a request waits at most; None: 280 without a stream, 1,800 with one."""
    queue_length: int = 64
    """How many requests may wait."""
    abandoned: Abandoned = Abandoned.FINISH


class DemandChange(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to change; what is not named stays."""

    is_on: bool | None = None
    """True also ends a hold after `weir stop`, and forgets failures."""
    preset: str | None = None
    """To list, or listed already: then it keeps its place, and its failures are forgotten."""
    overrides: dict[str, str] | None = None
    """Of `preset`: replaces all of them."""
    ttl: str | None = None
    """Of `preset`: seconds, or `90s`, `30m`, `2h`; `0` never, `default` the default."""
    remove: str | None = None
    """To take off the list."""
    default_ttl: str | None = None
    ttl_by_hand: bool | None = None
    residence: str | None = None
    """A span; `auto` as long as the boot took."""
    wait: str | None = None
    """A span; `auto` the default."""
    queue_length: int | None = None
    abandoned: str | None = None


class Reason(enum.StrEnum):
    """Why the engine of now stays, starts or goes."""

    QUIET = "quiet"
    """There is nothing to do."""
    WANTED = "wanted"
    """Requests wait for it, and nothing is in the way."""
    RESIDENCE = "residence"
    """What serves now has not served long enough."""
    BOOTING = "booting"
    """An engine is on its way."""
    ENDING = "ending"
    """One is being ended."""
    BY_HAND = "by-hand"
    """What serves now was started by a person and is not on the list, so it could not come back."""
    MEASURED = "measured"
    """What serves now is being measured."""
    IDLE = "idle"
    """Nobody uses it."""
    ABANDONED = "abandoned"
    """Nobody waits for the boot any more."""
    HELD = "held"
    """A person said stop."""


class QueuedRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One request that waits."""

    since: float
    """Seconds since the epoch."""
    key: str
    """The key's name."""
    route: str
    is_stream: bool


class PresetQueue(msgspec.Struct, frozen=True, kw_only=True):
    """Those who wait for one preset, oldest first."""

    preset: str
    served_name: str
    requests: tuple[QueuedRequest, ...]


class NextStep(msgspec.Struct, frozen=True, kw_only=True):
    """What happens next by itself."""

    preset: str
    """What is started, or stopped when nobody uses it."""
    reason: Reason
    at: float | None = None
    """Seconds since the epoch; None: not known."""


class FailedStart(msgspec.Struct, frozen=True, kw_only=True):
    """A preset that did not start, and is not tried again for a while."""

    preset: str
    error: ErrorInfo
    failures: int
    """In a row."""
    until: float
    """Seconds since the epoch, or until a person acts."""


class Queue(msgspec.Struct, frozen=True, kw_only=True):
    """Who waits for which model, and what happens next."""

    presets: tuple[PresetQueue, ...] = ()
    """The one that waits longest first."""
    waiting: int = 0
    length: int = 64
    """How many may wait."""
    next: NextStep | None = None
    failed: tuple[FailedStart, ...] = ()
    held_since: float | None = None
    """Since when nothing starts on demand because a person said stop."""
    idle_stop_at: float | None = None
    """When the engine is stopped if nobody uses it; None: not at all."""
    idle_ttl_s: float | None = None
    """After how long without a request that happens; None: never."""
    is_by_hand: bool = False
    """Whether a person started what serves now."""


class DemandPreset(msgspec.Struct, frozen=True, kw_only=True):
    """A listed preset as it stands."""

    preset: str
    overrides: dict[str, str] = {}
    ttl_s: float
    """0: never."""
    served_name: str | None = None
    max_model_len: int | None = None
    names: tuple[str, ...] = ()
    """What requests may call it, its public name first where that means it."""
    problem: ErrorInfo | None = None
    """Why it cannot be started by a request."""


class DemandReport(msgspec.Struct, frozen=True, kw_only=True):
    """The choice, every listed preset, and the queue."""

    settings: DemandSettings
    presets: tuple[DemandPreset, ...] = ()
    queue: Queue = Queue()
