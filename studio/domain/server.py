"""What anyone may know about the engine."""

import enum

import msgspec

from studio.domain.errors import ErrorInfo
from studio.domain.remedies import Badge


class EngineState(enum.StrEnum):
    """The life cycle. Only serving/machine.py moves between these."""

    STOPPED = "stopped"
    PREPARING = "preparing"
    STARTING = "starting"
    READY = "ready"
    DRAINING = "draining"
    STOPPING = "stopping"
    FAILED = "failed"
    BACKING_OFF = "backing-off"


class BootPhase(enum.StrEnum):
    """Stages of an engine's boot, in order, as read from its log."""

    INTERPRETER = "interpreter"
    CONFIG = "config"
    ENGINE = "engine"
    WEIGHTS = "weights"
    COMPILE = "compile"
    KV_CACHE = "kv-cache"
    GRAPHS = "graphs"
    WARM_UP = "warm-up"
    SERVER = "server"
    FIRST_TOKEN = "first-token"


class PhaseTime(msgspec.Struct, frozen=True, kw_only=True):
    """One boot phase; seconds since the process was started."""

    phase: BootPhase
    started_s: float
    ended_s: float | None = None


class EngineSnapshot(msgspec.Struct, frozen=True, kw_only=True):
    """One instant of the engine."""

    state: EngineState = EngineState.STOPPED
    preset: str | None = None
    served_name: str | None = None
    runtime: str | None = None
    runtime_id: str | None = None
    pid: int | None = None
    started_at: float | None = None
    """Seconds since the epoch."""
    phase: BootPhase | None = None
    phase_share: float | None = None
    """Progress inside the phase, 0 to 1, where the engine says it."""
    phases: tuple[PhaseTime, ...] = ()
    elapsed_s: float | None = None
    expected_boot_s: float | None = None
    """From this machine's last boot of the same preset and runtime, else from the preset."""
    boot_s: float | None = None
    """Process start to first generated token."""
    pool_tokens: int | None = None
    max_model_len: int | None = None
    restarts: int = 0
    overrides: dict[str, str] = {}
    error: ErrorInfo | None = None
    stalled_s: float | None = None
    """How long it has had work and taken no step, once that is worth a look; None: it moves."""
    note: str | None = None
    """What it waits for, or what was cleared away for it, in a sentence."""
    badges: tuple[Badge, ...] = ()
    """Slow paths that the boot or the run showed, the dearest first."""
