"""Everything the service can announce, as frozen records on one stream."""

import enum

import msgspec

from studio.domain.alarms import Alarm
from studio.domain.cache import CacheFinding
from studio.domain.demand import Queue
from studio.domain.downloads import DownloadList
from studio.domain.errors import ErrorInfo
from studio.domain.library import CheckInfo
from studio.domain.metrics import LogLine, Tick
from studio.domain.pool import PoolReport
from studio.domain.server import EngineSnapshot


class Stage(enum.StrEnum):
    """The stages of `weir up`, in order."""

    DETECT = "detect"
    GATEWAY = "gateway"
    RUNTIME = "runtime"
    MODEL = "model"
    BOOT = "boot"


class InstallStep(enum.StrEnum):
    """The steps of an installation, in order; the `step` of a runtime stage."""

    PLAN = "plan"
    SPACE = "space-check"
    FETCH = "fetch"
    VERIFY = "verify"
    UNPACK = "unpack"
    PACKAGES = "packages"
    PATCHES = "patches"
    PROBE = "probe"
    CANARY = "canary"
    ACTIVATE = "activate"


class StageState(enum.StrEnum):
    """Where a stage stands."""

    RUNNING = "running"
    DONE = "done"
    SKIPPED = "skipped"
    FAILED = "failed"


class StageProgress(
    msgspec.Struct, frozen=True, kw_only=True, tag_field="event", tag="stage-progress"
):
    """How far one stage of `weir up` is.

    `done` of `total` in `unit` (`bytes`, `packages`, `s`); `total` is None when unknown, and is
    then shown as unknown. `rate` is units a second. `note` is what happens right now.
    """

    stage: Stage
    state: StageState
    title: str
    note: str | None = None
    done: float | None = None
    total: float | None = None
    unit: str | None = None
    rate: float | None = None
    left_s: float | None = None
    """How long the part that is counted takes at this rate; None: not known."""
    step: str | None = None
    """Which part of the stage this is, where it has named ones (`InstallStep`)."""
    runtime: str | None = None
    """The runtime that something is done to, which `POST /runtimes/NAME/stop` stops."""
    work: str | None = None
    """What that is (`RuntimeWork`), where it can be stopped."""
    warnings: tuple[str, ...] = ()
    """What may go wrong with this start, as far as its plan can tell."""
    of_up: bool = False
    """Whether it belongs to a start, which `weir stop` ends; else to something done on its own."""


class EngineChanged(
    msgspec.Struct, frozen=True, kw_only=True, tag_field="event", tag="engine-changed"
):
    """The engine moved, or a boot phase did."""

    engine: EngineSnapshot


class Ticked(msgspec.Struct, frozen=True, kw_only=True, tag_field="event", tag="ticked"):
    """One second passed."""

    tick: Tick


class LogAppended(msgspec.Struct, frozen=True, kw_only=True, tag_field="event", tag="log-appended"):
    """New log lines; at most 10 batches a second, at most 500 lines each."""

    lines: tuple[LogLine, ...]
    dropped: int = 0


class GatewayChanged(
    msgspec.Struct, frozen=True, kw_only=True, tag_field="event", tag="gateway-changed"
):
    """The gateway opened, closed or moved."""

    base_url: str | None = None


class UpFinished(msgspec.Struct, frozen=True, kw_only=True, tag_field="event", tag="up-finished"):
    """A `weir up` ended; `error` is None when it serves."""

    preset: str
    error: ErrorInfo | None = None


class KeysChanged(msgspec.Struct, frozen=True, kw_only=True, tag_field="event", tag="keys-changed"):
    """A key was made, used for the first time or revoked."""


class CacheFound(msgspec.Struct, frozen=True, kw_only=True, tag_field="event", tag="cache-found"):
    """A client's prompts are computed again each turn, and why is known (`weir cache`)."""

    finding: CacheFinding


class QueueChanged(
    msgspec.Struct, frozen=True, kw_only=True, tag_field="event", tag="queue-changed"
):
    """Somebody waits for an engine or no longer does, or what happens next has changed."""

    queue: Queue


class PoolChanged(msgspec.Struct, frozen=True, kw_only=True, tag_field="event", tag="pool-changed"):
    """Other requests lie in the pool, or more or less fits; at most once a tick."""

    pool: PoolReport


class AlarmChanged(
    msgspec.Struct, frozen=True, kw_only=True, tag_field="event", tag="alarm-changed"
):
    """An alarm was raised, grew worse, was silenced or is over (`ended_at`)."""

    alarm: Alarm


class ServiceStopping(
    msgspec.Struct, frozen=True, kw_only=True, tag_field="event", tag="service-stopping"
):
    """The service is going down; the stream ends after this."""

    reason: str


class DownloadsChanged(
    msgspec.Struct, frozen=True, kw_only=True, tag_field="event", tag="downloads-changed"
):
    """The queue of downloads, as it is now."""

    downloads: DownloadList


class ModelsChanged(
    msgspec.Struct, frozen=True, kw_only=True, tag_field="event", tag="models-changed"
):
    """Models came, went or were proven, or a check moved on; `GET /models` has them."""

    models: int
    size_bytes: int
    checks: tuple[CheckInfo, ...] = ()
    """Those under way."""
    version: int = 0
    """Counts how often something lay otherwise than at the look before."""


Event = (
    StageProgress
    | EngineChanged
    | Ticked
    | LogAppended
    | GatewayChanged
    | UpFinished
    | KeysChanged
    | CacheFound
    | QueueChanged
    | PoolChanged
    | AlarmChanged
    | DownloadsChanged
    | ModelsChanged
    | ServiceStopping
)
