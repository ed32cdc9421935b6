"""The documents of the control API, as both ends send and get them (docs/control-api.md)."""

import msgspec

from studio.domain.alarms import Alarm
from studio.domain.demand import Queue
from studio.domain.downloads import DownloadsNow
from studio.domain.events import StageProgress
from studio.domain.hardware import HostSnapshot
from studio.domain.keys import KeyLimits, PromptLogState
from studio.domain.manifests import InstalledRuntime, Knob
from studio.domain.metrics import MonitorInfo, Tick
from studio.domain.remedies import Badge, Remedy
from studio.domain.secrets import StoreKind
from studio.domain.server import EngineSnapshot
from studio.domain.service import AutostartInfo, SleepInfo


class UpRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Serve `preset` (None: the one that runs or ran last, else the best fitting one)."""

    preset: str | None = None
    overrides: dict[str, str] = {}
    """Knob name to text, as typed after `--set`."""
    gpus: tuple[int, ...] | None = None
    port: int | None = None
    """Gateway port to move to and keep."""
    consent: bool = False
    """Yes to large downloads and to the next free port."""
    allow_spill: bool = False
    """Start across the line of dedicated memory all the same, this once (WSL2, Windows)."""


class UpResult(msgspec.Struct, frozen=True, kw_only=True):
    """What `weir up --json` prints."""

    base_url: str
    """Ends in `/v1`."""
    api_key: str | None = None
    """Only when one was made by this call; it is never shown again."""
    preset: str
    served_name: str
    runtime: str
    runtime_id: str
    pool_tokens: int | None = None
    boot_s: float | None = None
    is_cold: bool | None = None
    """Whether this boot compiled what later ones find ready."""
    already_running: bool = False
    notes: tuple[str, ...] = ()
    """What was changed by itself to start it, and why its pool differs from the last one."""
    warnings: tuple[str, ...] = ()
    """What its plan warned of before the start."""
    offers: tuple[Remedy, ...] = ()
    """What could be done now that it runs."""
    overrides: dict[str, str] = {}
    badges: tuple[Badge, ...] = ()
    """Slow paths of the engine, the dearest first."""


class KeyInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A named key and its usage; times are ISO 8601."""

    id: str
    name: str
    prefix: str
    created_at: str
    revoked_at: str | None = None
    rotated_at: str | None = None
    """When its secret was replaced."""
    has_expired: bool = False
    stored: StoreKind | None = None
    """Where it is kept so that it can be shown again; None: nowhere, as most keys."""
    last_used_at: str | None = None
    last_address: str | None = None
    limits: KeyLimits = KeyLimits()
    prompts_until: str | None = None
    """ISO 8601: till then its prompts are kept, which is shown with a red sign; None: they are
    not."""
    running: int = 0
    """Requests under way now."""
    requests: int = 0
    errors: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    generated_tokens: int = 0


class NewKey(msgspec.Struct, frozen=True, kw_only=True):
    """A key at the only moment when it can be read."""

    info: KeyInfo
    key: str


class KeyRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Make a key."""

    name: str
    limits: KeyLimits = KeyLimits()
    store: bool = False
    """Keep it where it can be read again: in the system's keyring, else in a file."""


class GatewayInfo(msgspec.Struct, frozen=True, kw_only=True):
    """Where clients connect."""

    base_url: str | None = None
    address: str = "127.0.0.1"
    port: int | None = None
    in_flight: int = 0
    waiting: int = 0
    """Requests that wait for an engine on its way."""
    requests: int = 0


class ServiceInfo(msgspec.Struct, frozen=True, kw_only=True):
    """The service process itself."""

    version: str
    pid: int
    started_at: float
    home: str


class Status(msgspec.Struct, frozen=True, kw_only=True):
    """`weir status --json`, stable within a schema_version."""

    schema_version: int = 1
    service: ServiceInfo
    engine: EngineSnapshot
    gateway: GatewayInfo
    host: HostSnapshot | None = None
    tick: Tick | None = None
    stages: tuple[StageProgress, ...] = ()
    """Stages of the `weir up` under way or last run, in order."""
    keys: int = 0
    """Keys that work now."""
    prompt_logs: tuple[PromptLogState, ...] = ()
    """Keys whose prompts are being kept, which is shown with a red sign."""
    cache_findings: int = 0
    """Clients whose prompts are computed again each turn (`weir cache`)."""
    autostart: AutostartInfo = AutostartInfo()
    sleep: SleepInfo = SleepInfo()
    queue: Queue = Queue()
    """Who waits for an engine, and what starts or stops by itself next."""
    alarms: tuple[Alarm, ...] = ()
    """What the monitor warns of now, the worst first."""
    monitor: MonitorInfo | None = None
    downloads: DownloadsNow = DownloadsNow()
    """What is being fetched, and how much waits (`weir downloads`)."""


class PresetInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A preset as a list shows it, with the verdict for this host."""

    id: str
    title: str
    expert: str
    summary: str
    runtime: str
    model: str
    licence: str
    origin: str
    usable: bool
    reasons: tuple[str, ...] = ()
    """Why not, when not usable."""
    download_bytes: int | None = None
    """Still to fetch for this preset, runtime included; 0 when all is here."""
    knobs: dict[str, Knob] = {}
    rank: int = 0
    """Among presets that fit, the highest rank is proposed."""
    is_best: bool = False
    """It is what `weir up` proposes on this host."""
    is_own: bool = False
    """It lies in the person's own folder."""
    is_broken: bool = False
    """Its file cannot be used; `reasons` says why."""
    badges: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    """What has to be done before it can be served: a runtime to pin, a model to put there."""
    warnings: tuple[str, ...] = ()
    unverified: int = 0
    """How many of its values no source confirms."""


class RuntimeVersions(msgspec.Struct, frozen=True, kw_only=True):
    """The installations of one runtime that are kept, in the order of their use."""

    name: str
    current: str | None = None
    """Id of the one that is used."""
    kept: tuple[InstalledRuntime, ...] = ()


class ProcessInfo(msgspec.Struct, frozen=True, kw_only=True):
    """One process of ours (`weir ps`)."""

    pid: int
    parent: int
    role: str
    """`service`, `guard`, `engine`, `engine-core`, `worker` or `helper`."""
    command: str
    """Secrets never stand in a command line of ours."""
    rss_bytes: int | None = None
    cpu_s: float | None = None
    started_at: float | None = None
