"""A benchmark of the engine that serves: what is asked for, measured, kept and compared.

Tokens are those that the engine counts, seconds those that a client sees. `None` means not known,
never zero.
"""

import enum

import msgspec

from studio.domain.manifests import KnobValue


class BenchKind(enum.StrEnum):
    """What a part of the load is."""

    DECODE = "decode"
    """Short prompts and answers of one length, several at once."""
    PREFILL = "prefill"
    """One long prompt and a single token."""
    COPY = "copy"
    """The answer repeats the prompt: what speculation can do at best."""
    TURNS = "turns"
    """A conversation over one document: what the prefix cache saves."""


class BenchRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Measure the engine that serves."""

    quick: bool = False
    """At most two minutes, with shorter answers and prompts."""
    only: tuple[BenchKind, ...] = ()
    """These parts alone; empty: all."""
    is_watched: bool = False
    """End it, keeping what was measured, when nobody has asked for some seconds how far it is."""


class BenchPart(msgspec.Struct, frozen=True, kw_only=True):
    """What one part of the load measured."""

    name: str
    """Stable: `decode-4`, `prefill-8k`, `copy`, `turns-first`, `turns-later`."""
    kind: BenchKind
    streams: int
    """Requests at once."""
    requests: int
    prompt_tokens: int | None = None
    """Of one request."""
    cached_tokens: int | None = None
    """Of one request, as the engine said it."""
    generated_tokens: int | None = None
    """Of all requests together."""
    decode_tokens_per_s: float | None = None
    """Of one request after its first token; the median of the requests."""
    total_tokens_per_s: float | None = None
    """Of all requests at once, from the first token of any to the last of any."""
    prefill_tokens_per_s: float | None = None
    """Prompt tokens that were not in the cache, over the time to the first token."""
    ttft_p50_s: float | None = None
    ttft_p95_s: float | None = None
    itl_p50_s: float | None = None
    """Between two pieces of an answer, as a client sees them: with speculation, between steps."""
    itl_p95_s: float | None = None
    tokens_per_step: float | None = None
    """From the engine's counters; 1 without speculation."""
    step_s: float | None = None
    """Mean time between two steps of one request, from the engine's counters."""
    took_s: float
    is_disturbed: bool = False
    """Other requests ran at the same time."""
    note: str | None = None


class BenchCard(msgspec.Struct, frozen=True, kw_only=True):
    """One card as it was while it was measured."""

    name: str
    uuid: str | None = None
    memory_bytes: int | None = None
    power_limit_w: float | None = None
    power_w: float | None = None
    """Mean over the measured time."""
    temperature_max_c: int | None = None
    throttle: tuple[str, ...] = ()
    """Each reason that was seen."""


class BenchResult(msgspec.Struct, frozen=True, kw_only=True):
    """One run, as it is kept in the Studio's folder."""

    schema_version: int = 1
    id: str
    at: str
    """When it began, ISO 8601."""
    took_s: float
    preset: str
    """Or the name of an adopted engine."""
    preset_digest: str | None = None
    """sha256 of the preset with its parts and models put in."""
    overrides: dict[str, str] = {}
    settings: dict[str, KnobValue] = {}
    """Those that decide what the engine holds."""
    served_name: str
    runtime: str | None = None
    runtime_id: str | None = None
    is_adopted: bool = False
    cards_key: str
    """The cards' own ids, sorted and joined with `+`; `cpu` without one."""
    cards: tuple[BenchCard, ...] = ()
    processor: str | None = None
    processors: int | None = None
    system: str
    """`Linux`, `WSL2`, …"""
    driver: str | None = None
    pool_tokens: int | None = None
    max_model_len: int | None = None
    load: str
    """Digest of what was asked of the engine; only runs of one load can be compared."""
    is_quick: bool = False
    salt: str
    """Kept this run's prompts apart from all others in the prefix cache."""
    parts: tuple[BenchPart, ...] = ()
    left_out: tuple[str, ...] = ()
    """What was not measured, and why, one sentence each."""
    partial: str | None = None
    """Why it ended before its end."""
    notes: tuple[str, ...] = ()
    """What has to be known of the figures."""

    @property
    def is_disturbed(self) -> bool:
        """Tell whether other requests ran while some part was measured."""
        return any(part.is_disturbed for part in self.parts)


class BenchAgainst(enum.StrEnum):
    """What a run is compared with."""

    PUBLISHED = "published"
    EARLIER = "earlier"


class BenchVerdict(enum.StrEnum):
    """How two figures stand to each other."""

    SAME = "same"
    BETTER = "better"
    WORSE = "worse"


class BenchDifference(msgspec.Struct, frozen=True, kw_only=True):
    """One figure beside another."""

    part: str
    figure: str
    """The field of `BenchPart`, or of the result: `decode_tokens_per_s`."""
    value: float
    other: float
    change_share: float
    """(value - other) / other."""
    verdict: BenchVerdict
    sentence: str


class BenchComparison(msgspec.Struct, frozen=True, kw_only=True):
    """A run beside published figures, or beside another run."""

    against: BenchAgainst
    other: str
    """The id of the other run, or the source of the figures."""
    title: str
    """With what it is compared, in words."""
    differences: tuple[BenchDifference, ...] = ()
    notes: tuple[str, ...] = ()
    """What else is not the same, and what could not be compared."""


class BenchReport(msgspec.Struct, frozen=True, kw_only=True):
    """A run with what it is compared with."""

    result: BenchResult
    comparisons: tuple[BenchComparison, ...] = ()
    path: str | None = None
    """Where the run is kept, on the service's machine; None: it could not be."""


class BenchProgress(msgspec.Struct, frozen=True, kw_only=True):
    """How far a run is."""

    id: str
    part: str
    """What is measured now, in words."""
    done: int
    """Parts that are over."""
    total: int
    elapsed_s: float
    limit_s: float
    """When it ends at the latest."""
    last: BenchPart | None = None
    """The part that ended last."""


class BenchState(msgspec.Struct, frozen=True, kw_only=True):
    """Whether something is measured now."""

    progress: BenchProgress | None = None


class BenchStopped(msgspec.Struct, frozen=True, kw_only=True):
    """Whether a run was under way that has been ended; what it measured is kept."""

    was_running: bool


class BenchSummary(msgspec.Struct, frozen=True, kw_only=True):
    """A kept run in a list."""

    id: str
    at: str
    preset: str
    runtime: str | None = None
    runtime_id: str | None = None
    cards: str
    """In words: `RTX 3090 at 250 W`."""
    is_quick: bool = False
    is_partial: bool = False
    is_disturbed: bool = False
    decode_tokens_per_s: float | None = None
    """Of one stream."""
    total_tokens_per_s: float | None = None
    """Of as many streams as were measured at once."""
    prefill_tokens_per_s: float | None = None
    """Of the longest prompt."""


class BenchRuns(msgspec.Struct, frozen=True, kw_only=True):
    """The kept runs, oldest first."""

    runs: tuple[BenchSummary, ...] = ()
    damaged: tuple[str, ...] = ()
    """Files that cannot be read, each with its reason."""


class BenchRemoved(msgspec.Struct, frozen=True, kw_only=True):
    """Runs that were removed."""

    ids: tuple[str, ...] = ()
