"""Who pays for prompts again and again: what the prefix-cache doctor tells, without any text."""

import enum

import msgspec


class ChangeKind(enum.StrEnum):
    """What keeps the engine from reusing what it has computed, in the order of a prompt."""

    SETTINGS = "settings"
    """Effort, thinking or other settings of the template."""
    TOOLS = "tools"
    TOOLS_ORDER = "tools-order"
    """The same tools, in another order."""
    SYSTEM = "system"
    """The system prompt."""
    MESSAGE = "message"
    """A message further back than the last one."""
    HISTORY_CUT = "history-cut"
    """The oldest messages are dropped while new ones come."""
    LATE_SYSTEM = "late-system"
    """A system message in the middle, which the engine moves to the head of the prompt."""
    NOT_KEPT = "not-kept"
    """Nothing changed, and the engine had not kept it."""


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """The first part of a prompt that is not as it was a turn before."""

    kind: ChangeKind
    number: int | None = None
    """Which tool, or which message after the system prompt; from 1."""
    role: str | None = None
    line: int | None = None
    """In the text of that part; from 1."""
    characters: int | None = None
    """How many characters of that part come before the difference, or before the piece with it."""
    within: int | None = None
    """In so many characters from there on the difference begins; 1: exactly there."""
    tokens: int | None = None
    """About so many tokens of the prompt come before it: what the engine found in its cache, in
    whole blocks; where it does not say, by share of the prompt's length."""
    looks_like: str | None = None
    """Which mark stands there (`runtimes/cache_marks.toml`): `attribution-line`, `date`, `time`."""


class CacheFinding(msgspec.Struct, frozen=True, kw_only=True):
    """One client whose prompts are computed anew, what changes in them, and what that costs."""

    id: str
    key_id: str
    key: str
    agent: str | None
    """The program, by its user agent, without a version."""
    model: str
    route: str
    place: Place
    changed: int
    compared: int
    """In so many of the last turns that could be compared it was so."""
    is_between_conversations: bool = False
    """Seen where a new conversation begins with nearly the same system prompt, not within one."""
    lost_tokens: int | None = None
    """Tokens computed again in such a turn: half of them lost more."""
    lost_s: float | None = None
    """Seconds for that, at the speed that prompts are read here."""
    prefill_tokens_per_s: float | None = None
    first_seen: float
    """Seconds since the epoch."""
    last_seen: float
    ended_at: float | None = None
    """Since when it is no longer so; None: it still is."""
    adjustment: str | None = None
    """Which change of requests would mend it (`weir gateway adjust`); None: the client must."""


class CacheClient(msgspec.Struct, frozen=True, kw_only=True):
    """How well one client's prompts were found in the cache, since the service started."""

    key_id: str
    key: str
    agent: str | None
    model: str
    requests: int
    prompt_tokens: int
    cached_tokens: int | None
    """None: the engine does not say."""
    last_seen: float


class CacheReport(msgspec.Struct, frozen=True, kw_only=True):
    """All of it. Findings are kept between runs, clients are not."""

    findings: tuple[CacheFinding, ...] = ()
    clients: tuple[CacheClient, ...] = ()
    prefill_tokens_per_s: float | None = None
    not_compared: int = 0
    """Requests that were too large or came too fast to be compared."""
    is_live: bool = False
    """Whether a service watches; otherwise these are the findings of the last one."""
