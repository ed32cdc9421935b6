"""The history of boots, as it is kept and as `weir boots --json` prints it."""

import enum

import msgspec

from studio.domain.manifests import KnobValue


class BootOutcome(enum.StrEnum):
    """How a boot ended."""

    SERVED = "served"
    FAILED = "failed"
    STOPPED = "stopped"
    """Somebody ended it before it was ready."""


class BootTry(enum.StrEnum):
    """What a boot was, of the boots of one start."""

    FIRST = "first"
    WARM = "warm"
    """Again, with what the first one compiled."""
    WITHOUT_GRAPH_ESTIMATE = "without-graph-estimate"
    """Again, without setting memory aside for CUDA graphs before they are captured."""
    RESTART = "restart"
    """The engine died while serving."""


class BootRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One boot. Bytes are of one card; None where the engine did not say."""

    at: str
    """When it began, ISO 8601."""
    preset: str
    runtime: str
    runtime_id: str
    cards: str
    """The cards' own ids, sorted and joined with `+`; `cpu` without one."""
    outcome: BootOutcome
    attempt: BootTry = BootTry.FIRST
    is_cold: bool | None = None
    is_cold_certain: bool = False
    """The engine's log said so; else it is a guess from what had booted here before."""
    phases_s: dict[str, float] = {}
    """Seconds of each phase (`BootPhase`) that came to its end, in order."""
    boot_s: float | None = None
    forecast_s: float | None = None
    """What was said before it began."""
    without_graph_estimate: bool = False
    """No memory was set aside for CUDA graphs before they were captured."""
    error: str | None = None
    """The code of what it failed of."""
    settings: dict[str, KnobValue] = {}
    """Those that decide what a boot holds."""
    pool_tokens: int | None = None
    max_model_len: int | None = None
    weights_bytes: int | None = None
    activation_peak_bytes: int | None = None
    non_torch_bytes: int | None = None
    graph_pool_bytes: int | None = None
    kv_bytes: int | None = None
    kv_error_bytes: int | None = None
    """How far `kv_bytes` may be off, where the log rounds it."""
    card_bytes: int | None = None
    """Total of the smallest card."""
    held_bytes: int | None = None
    """What others held of the fullest card just before."""
    driver: str | None = None
    compile_cache: str | None = None
    """Where the engine keeps what later boots find ready; None: it keeps nothing."""
    why: tuple[str, ...] = ()
    """Why its pool differs from the last one of the same preset, runtime and cards."""


class BootHistory(msgspec.Struct, frozen=True, kw_only=True):
    """`boots.json` of the Studio's folder, and the answer of `GET /boots`; oldest first."""

    schema_version: int = 1
    boots: tuple[BootRecord, ...] = ()


class PinResult(msgspec.Struct, frozen=True, kw_only=True):
    """What became of pinning or freeing a preset's pool."""

    preset: str
    kv_cache_memory_bytes: int | None = None
    """On each card; None: the pool is again what the engine finds left."""
    pool_tokens: int | None = None
    """What these bytes held at the boot that they come from."""
    was_bytes: int | None = None
    """Pinned before."""
    note: str
    """What it means, in words."""
