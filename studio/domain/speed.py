"""How fast it is, per request and per key, and whether that is as it should be."""

import enum

import msgspec


class SpeedVerdictKind(enum.StrEnum):
    """How the speed compares."""

    NOT_COMPARABLE = "not-comparable"
    """The load is another than the figure's, or there is no figure; `missing` says what lacks."""
    AS_EXPECTED = "as-expected"
    FASTER = "faster"
    SLOWER = "slower"


class SpeedCause(enum.StrEnum):
    """What makes it slower."""

    DRAFTER = "drafter"
    """Steps take as long as they should; fewer guesses are taken."""
    STEP_TIME = "step-time"
    """As many guesses are taken as should be; steps take longer."""
    BOTH = "both"
    UNKNOWN = "unknown"
    """The figure does not say how many tokens a step makes."""


class SpeedSteps(enum.StrEnum):
    """Where a figure's tokens per step and step time come from."""

    FIGURE = "figure"
    """Its own source, measured together with its tok/s."""
    COMPUTED = "computed"
    """Tokens per step stand in another row of the same source and version; the step time follows
    from both."""
    PAST = "past"
    """Nobody published them: of this machine's own past."""


PROCESSOR = "processor"
"""Stands for a card's name where the model runs without one."""


class SpeedFigure(msgspec.Struct, frozen=True, kw_only=True):
    """What a speed is held against: of one request alone with a short conversation."""

    decode_tokens_per_s: float
    tokens_per_step: float | None = None
    step_s: float | None = None
    steps_of: SpeedSteps = SpeedSteps.FIGURE
    before_tokens_per_s: float | None = None
    """With steps of the past: the speed that they made here, which is another than the figure's."""
    is_published: bool = True
    """False: of this machine's own past."""
    card: str
    power_w: float | None = None
    source: str


class SpeedMeasured(msgspec.Struct, frozen=True, kw_only=True):
    """What was seen in the last minute while the number of requests stood still."""

    seconds: float = 0.0
    requests: int = 0
    decode_tokens_per_s: float | None = None
    """Of all requests together."""
    tokens_per_step: float | None = None
    """None: no speculation, so that a step makes one token for each request."""
    step_s: float | None = None
    context_tokens: int | None = None
    """Of the longest conversation among them, estimated."""


class SpeedVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be thought of it, in a sentence."""

    kind: SpeedVerdictKind = SpeedVerdictKind.NOT_COMPARABLE
    cause: SpeedCause | None = None
    sentence: str
    missing: tuple[str, ...] = ()
    """What it would take to compare, one condition each."""
    ratio: float | None = None
    """Measured over the figure."""
    figure: SpeedFigure | None = None


class KeySpeed(msgspec.Struct, frozen=True, kw_only=True):
    """What one key got in the last hour."""

    key: str
    requests: int = 0
    generated_tokens: int = 0
    ttft_p50_s: float | None = None
    ttft_p95_s: float | None = None
    tok_s_p50: float | None = None
    """Of a single answer after its first token."""
    tok_s_p5: float | None = None


class SpeedReport(msgspec.Struct, frozen=True, kw_only=True):
    """`weir speed --json`, and the answer of `GET /speed`."""

    at: float
    preset: str | None = None
    runtime_id: str | None = None
    card: str | None = None
    """Name and power limit of the cards in use; None: it runs on the processor."""
    running: int | None = None
    waiting: int | None = None
    prefill_tokens_per_s: float | None = None
    decode_tokens_per_s: float | None = None
    decode_tokens_per_s_each: float | None = None
    """For each request that runs."""
    tokens_per_step: float | None = None
    acceptance: tuple[float, ...] | None = None
    """Share of the drafts whose first, second, … guess was taken."""
    step_s: float | None = None
    ttft_p50_s: float | None = None
    ttft_p95_s: float | None = None
    itl_p50_s: float | None = None
    itl_p95_s: float | None = None
    keys: tuple[KeySpeed, ...] = ()
    measured: SpeedMeasured = SpeedMeasured()
    verdict: SpeedVerdict
