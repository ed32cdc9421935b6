"""What the planner says before anything is started: a verdict and the arithmetic behind it.

Bytes and tokens are plain numbers. `error` fields are half-widths: the truth is expected within
`value ± error`; 0 means arithmetic, None means that nobody knows.
"""

import enum

import msgspec

from studio.domain.preparing import PresetStanding


class PlanVerdict(enum.StrEnum):
    """Whether a host can serve what was asked for."""

    FITS = "fits"
    FITS_IF = "fits-if"
    """Only with what `reductions` lists."""
    DOES_NOT_FIT = "does-not-fit"
    """Not as asked for, and nothing that is listed is known to be enough."""
    UNKNOWN = "unknown"
    """Facts are missing, or the error bar is too wide to say; `reasons` says which."""


class LedgerPlace(enum.StrEnum):
    """Where bytes lie."""

    CARD = "card"
    MEMORY = "memory"
    SHM = "shm"
    DISK = "disk"


class LedgerItem(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the ledger."""

    name: str
    """Stable, kebab-case: `weights`, `drafter`, `vision`, `activation-peak`, `graphs`,
    `non-torch`, `margin`, `kv-pool`, `free`, …"""
    title: str
    place: LedgerPlace = LedgerPlace.CARD
    gpu: int | None = None
    """NVML index; None: every card alike, or no card."""
    bytes: int | None = None
    error_bytes: int | None = None
    source: str
    """Where the figure comes from, in words: a file, a measurement with its date, a formula."""


class PoolPart(msgspec.Struct, frozen=True, kw_only=True):
    """Layers of one kind in the pool: one KV-cache group of the engine, or several alike."""

    kind: str
    """`full`, `sliding`, `chunked`, `mla`, `cross` or `linear`."""
    groups: int
    layers: int
    """In all groups together."""
    block_size: int
    """Tokens in one block; 0 for a state that holds a request of any length."""
    page_bytes: int
    """One layer's share of a block, padding included."""
    used_bytes: int
    """The part of the page that is used."""
    blocks_per_request: int
    """What one request of full length holds, in all groups together."""


class HeadroomOutcome(enum.StrEnum):
    """What became of an engine that was left so much of its card."""

    RUNS = "runs"
    DIES = "dies"
    SPILLS = "spills"
    """It runs, but bytes go where they make it several times slower, and no log says so."""


class HeadroomRung(msgspec.Struct, frozen=True, kw_only=True):
    """One observed engine: what was left of its card after the boot, and how it went on."""

    bytes: int
    outcome: HeadroomOutcome
    case: str
    """Card, profile and load, in words."""
    source: str


class PlannedCard(msgspec.Struct, frozen=True, kw_only=True):
    """One card that the plan would use."""

    index: int
    name: str
    uuid: str | None = None
    total_bytes: int | None = None
    free_bytes: int | None = None
    """Now, other programs counted."""
    line_bytes: int | None = None
    """What may be used before bytes spill (WSL2, Windows); None: no such line, or not known."""


class Reduction(msgspec.Struct, frozen=True, kw_only=True):
    """One thing to give up, and what it costs and brings."""

    knob: str
    value: str
    title: str
    """In words: `Shorter context: 98,304 tokens`."""
    pool_tokens: int | None = None
    """The pool when this (and every earlier one) is done."""
    max_model_len: int | None = None
    resident_requests: float | None = None
    costs: str
    """What the user loses, in words, with a figure where one is known."""
    seats: int | None = None
    is_enough: bool | None
    """Whether the plan fits once this and every earlier one is done; None: nothing is known to be
    in the way then, but facts are missing."""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What `weir plan --json` prints."""

    schema_version: int = 1
    preset: str | None = None
    title: str | None = None
    """The preset's, in the user's words."""
    model: str
    drafter: str | None = None
    runtime: str | None = None
    engine: str
    """For example `vllm-0.31.0`."""
    host: str
    """In words: cards and system."""
    gpus: tuple[int, ...] = ()
    """NVML indices of the cards it would use."""
    cards: tuple[PlannedCard, ...] = ()
    is_replay: bool = False
    """Whether `host` is a machine from a file and not this one."""
    verdict: PlanVerdict
    may_start: bool = False
    """Whether the pool is too small for one request only within the error bar: the engine may
    start as it is, so that a start is not refused."""
    pool_tokens: int | None = None
    pool_tokens_error: int | None = None
    """0: exact."""
    kv_bytes: int | None = None
    """Per card."""
    blocks: int | None = None
    block_size: int | None = None
    blocks_per_request: int | None = None
    page_bytes: int | None = None
    parts: tuple[PoolPart, ...] = ()
    """What the blocks of one request are for."""
    max_model_len: int | None = None
    longest_context: int | None = None
    """The largest `max_model_len` that the engine would accept with these bytes."""
    seats: int | None = None
    """Requests that are admitted at a time (`max_num_seqs`)."""
    resident_requests: float | None = None
    """Requests of full length whose KV cache is in the pool at a time."""
    headroom_bytes: int | None = None
    """What is left on the fullest card when the engine runs."""
    headroom_error_bytes: int | None = None
    spills: bool = False
    """Whether it crosses the line of dedicated memory, and was allowed to (WSL2, Windows)."""
    headroom: tuple[HeadroomRung, ...] = ()
    """Observed engines of this kind, most room first."""
    boot_cold_s: float | None = None
    """The first boot after an install or a changed setting: kernels are compiled."""
    boot_warm_s: float | None = None
    boot_source: str | None = None
    download_bytes: int | None = None
    download_s: float | None = None
    disk_bytes: int | None = None
    """Of runtime and model together, once they are here."""
    files: PresetStanding | None = None
    """What the preset's models still need; None: all is here, or it is a plan of a folder."""
    ledger: tuple[LedgerItem, ...] = ()
    reductions: tuple[Reduction, ...] = ()
    reasons: tuple[str, ...] = ()
    """Why it does not fit, or is not known."""
    warnings: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    """What was taken for granted, and how sure that is."""


def machine_bytes(plan: Plan) -> int:
    """Return what a plan takes of the machine's own memory, shared memory included."""
    places = (LedgerPlace.MEMORY, LedgerPlace.SHM)
    return sum(item.bytes or 0 for item in plan.ledger if item.place in places)


class PlanRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Ask for a plan: of a preset, or of a model folder on an engine."""

    preset: str | None = None
    model: str | None = None
    """A model's folder, or the path of its `config.json`."""
    drafter: str | None = None
    engine: str | None = None
    """With `model`: `vllm-0.26.0`, or the name of a runtime."""
    overrides: dict[str, str] = {}
    gpus: tuple[int, ...] | None = None
    host: str | None = None
    """A captured host, by its id or its file; None: this machine."""
    allow_spill: bool = False
    """Plan across the line of dedicated memory all the same (WSL2, Windows)."""
    download_bytes_per_s: float | None = None
    """The line's speed, where the person knows it better than the last download."""


class MakeRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Make a preset of a model folder, with values that the planner chooses."""

    folder: str
    id: str | None = None
    """None: made from the folder's name."""
    runtime: str | None = None
    """None: the best one for this machine."""
    gpus: tuple[int, ...] | None = None
    replace: bool = False
    """Overwrite a preset of the person's own with that id."""


class MadePreset(msgspec.Struct, frozen=True, kw_only=True):
    """A preset that was made, and its plan."""

    id: str
    path: str
    plan: Plan
    notes: tuple[str, ...] = ()
    """What to know about the model: no chat template, no tokenizer."""
