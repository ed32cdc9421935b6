"""What anyone may know about the engine."""

import enum

import msgspec

from studio.domain.errors import ErrorInfo
from studio.domain.remedies import Badge, Remedy


class EngineState(enum.StrEnum):
    """The life cycle. Only serving/machine.py moves between these, but for the last two."""

    STOPPED = "stopped"
    PREPARING = "preparing"
    STARTING = "starting"
    READY = "ready"
    DRAINING = "draining"
    STOPPING = "stopping"
    FAILED = "failed"
    BACKING_OFF = "backing-off"
    ADOPTED = "adopted"
    """Somebody else's, and it answers (serving/adopted.py)."""
    GONE = "gone"
    """Somebody else's, and it does not answer."""


class BootPhase(enum.StrEnum):
    """Stages of an engine's boot, in order, as read from its log."""

    INTERPRETER = "interpreter"
    CONFIG = "config"
    ENGINE = "engine"
    WEIGHTS = "weights"
    COMPILE = "compile"
    PROFILE = "profile"
    """A trial run at full load, to see how much memory is left for the KV cache."""
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


class PhaseForecast(msgspec.Struct, frozen=True, kw_only=True):
    """How long a phase should take, or has taken where it is over."""

    phase: BootPhase
    expected_s: float


class AdoptedInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A vLLM that others run, as it was found last."""

    name: str
    url: str
    """Without any password."""
    version: str | None = None
    models: tuple[str, ...] = ()
    has_metrics: bool | None = None
    """Whether it says how full it is; None: not asked yet."""
    seen_at: float | None = None
    """When it answered last, in seconds since the epoch."""


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
    """From this machine's boots of the same preset and runtime, else from published figures. While
    it boots: as it looks now, so that a phase that takes longer moves the end."""
    is_cold: bool | None = None
    """Whether this boot makes what later ones find ready: compiled kernels and the like."""
    is_cold_certain: bool = False
    """The engine's log says so; until then it is a guess from what has booted here."""
    forecast: tuple[PhaseForecast, ...] = ()
    """For each phase that boots here were seen to have; empty: only the whole is known, if that."""
    remaining_s: float | None = None
    loaded_bytes: int | None = None
    """Of the weights, while they load."""
    to_load_bytes: int | None = None
    note: str | None = None
    """One sentence for people: what happens, how long it takes and whether that is usual; what it
    waits for, or what was cleared away for it."""
    tries: tuple[str, ...] = ()
    """What was changed by itself to make this boot succeed, one sentence each."""
    pool_note: str | None = None
    """Why the pool differs from the last one of the same preset and runtime."""
    offers: tuple[Remedy, ...] = ()
    """What could be done now that it runs, such as pinning the pool's bytes."""
    boot_s: float | None = None
    """Process start to first generated token."""
    pool_tokens: int | None = None
    max_model_len: int | None = None
    restarts: int = 0
    died_of: str | None = None
    """What the last death was that it was started again after, in a sentence. A service that was
    itself started again tells of the last one within a day, until an engine is started twice."""
    died_at: float | None = None
    """When that was, in seconds since the epoch."""
    overrides: dict[str, str] = {}
    error: ErrorInfo | None = None
    stalled_s: float | None = None
    """How long it has had work and taken no step, once that is worth a look; None: it moves."""
    badges: tuple[Badge, ...] = ()
    """Slow paths that the boot or the run showed, the dearest first."""
    adopted: AdoptedInfo | None = None
    """Set when the engine is not ours: it is neither stopped nor started from here."""

    @property
    def is_serving(self) -> bool:
        """Tell whether requests are answered, by whomever the engine was started."""
        return self.state in (EngineState.READY, EngineState.ADOPTED)
