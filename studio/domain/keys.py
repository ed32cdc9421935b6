"""What a key may do, and what each has used."""

import enum

import msgspec


class KeyLimits(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a key may do; None: not limited."""

    models: tuple[str, ...] | None = None
    """Names of models, as requests name them."""
    routes: tuple[str, ...] | None = None
    """`openai`, `anthropic`, or the last part of a route: `chat/completions`, `embeddings`."""
    addresses: tuple[str, ...] | None = None
    """Networks that requests may come from, as `192.168.1.0/24` or `10.0.0.7`."""
    requests_per_minute: int | None = None
    max_concurrent: int | None = None
    tokens_per_day: int | None = None
    """Prompt and generated tokens of one day of local time; refused beyond it."""
    warn_tokens_per_day: int | None = None
    """From here on answers carry a warning in the header `x-weir-warning`."""
    max_context: int | None = None
    """Tokens of a request's prompt and answer together."""
    expires_at: str | None = None
    """ISO 8601 with an offset."""
    only_running: bool | None = None
    """True: its requests start nothing and switch nothing; they use what runs."""


class UsageBy(enum.StrEnum):
    """What one row of usage adds up."""

    HOUR = "hour"
    DAY = "day"
    KEY = "key"
    MODEL = "model"
    """From the newest 200,000 requests: they alone name models."""


class UsageRow(msgspec.Struct, frozen=True, kw_only=True):
    """What one key has used in one span of time."""

    key_id: str
    key: str
    begins_at: str | None
    """Local time: a moment for an hour, a date for a day; None: all that was asked for."""
    requests: int
    errors: int
    estimated: int
    """Requests that were cut off, whose tokens are estimated."""
    prompt_tokens: int
    cached_tokens: int
    generated_tokens: int
    ttft_p50_s: float | None = None
    ttft_p95_s: float | None = None
    tok_s_p50: float | None = None
    """Generated tokens a second of one request, after its first token: half are slower."""
    tok_s_p5: float | None = None
    """One of twenty requests was slower than this."""
    model: str | None = None
    """Where rows are of models, as requests named it; None there: they named none."""


class RequestEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One request as the log keeps it: no prompt, no answer."""

    at: str
    """ISO 8601, local time."""
    request_id: str
    key_id: str | None
    key: str | None
    route: str
    model: str | None
    address: str | None
    status: int
    code: str | None
    is_stream: bool
    has_client_left: bool
    is_estimated: bool
    ttft_s: float | None
    duration_s: float
    prompt_tokens: int | None
    cached_tokens: int | None
    generated_tokens: int | None
    reason: str | None = None
    """What the engine said about an error, without what people wrote."""
    adjusted: tuple[str, ...] = ()
    """What was changed in the request, by which rule, so that the engine takes it."""
    tok_s: float | None = None
    """Generated tokens a second, after its first token; None for less than two, or no stream."""


class PromptLogState(msgspec.Struct, frozen=True, kw_only=True):
    """Whether the prompts of a key are kept, which anybody with this machine could read then."""

    key_id: str
    key: str
    until: str | None = None
    """ISO 8601, local time: till then prompts are kept; None: they are not."""
    kept: int = 0
    """How many lie there."""
    bytes: int = 0
    folder: str | None = None
    """Where; None: nothing lies there."""


class PromptLogRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Keep the prompts of a key for so long; 0: no longer."""

    seconds: int


class PromptEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One request as it came, without what looks like a secret."""

    at: str
    """ISO 8601, local time."""
    request_id: str
    route: str
    body_bytes: int
    """As it came."""
    body: str
    """Its beginning and its end, where it is too long to be kept whole."""


class LimitsChange(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Change what a key may do: `limits` replaces all of them."""

    limits: KeyLimits


class RenameRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Give a key another name."""

    name: str


class RevokeRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Make a key useless."""

    stop_running: bool = False
    """End its running requests too."""
