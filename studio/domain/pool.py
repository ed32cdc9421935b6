"""The KV pool in detail: who lies in it, and what more fits. `None` means not known, never zero."""

import enum

import msgspec


class ResidentState(enum.StrEnum):
    """What the engine does for a request, as far as its answer shows it."""

    READING = "reading"
    """Nothing has come back: it waits, or its prompt is computed."""
    WRITING = "writing"


class Resident(msgspec.Struct, frozen=True, kw_only=True):
    """One request that the gateway has sent to the engine, and the tokens that it should hold."""

    request_id: str
    key: str | None = None
    """The name of the key that it came with."""
    model: str | None = None
    state: ResidentState = ResidentState.READING
    age_s: float = 0.0
    prompt_tokens: int | None = None
    generated_tokens: int | None = None
    """None: the answer comes in one piece, and nothing is known of it before."""
    is_estimated: bool = True
    """The engine has not said it: guessed from bytes and from the pieces that came back."""

    @property
    def tokens(self) -> int | None:
        """Return what it should hold in the pool; at least its prompt."""
        if self.prompt_tokens is None:
            return None
        return self.prompt_tokens + (self.generated_tokens or 0)


class RoomLimit(enum.StrEnum):
    """What ends first when more is asked for."""

    POOL = "pool"
    SEATS = "seats"
    CONTEXT = "context"
    WAITING = "waiting"
    """Others wait already."""


class Room(msgspec.Struct, frozen=True, kw_only=True):
    """What more fits now, while those that run stay as they are."""

    tokens: int | None = None
    """In whole blocks."""
    seats: int | None = None
    """Requests that may begin at once."""
    longest_tokens: int | None = None
    """The longest conversation that could begin now."""
    limit: RoomLimit | None = None
    sentence: str


class PoolReport(msgspec.Struct, frozen=True, kw_only=True):
    """`weir pool --json`, and the answer of `GET /pool`."""

    at: float
    preset: str | None = None
    tokens: int | None = None
    used_tokens: int | None = None
    used_share: float | None = None
    blocks: int | None = None
    used_blocks: int | None = None
    block_tokens: int | None = None
    context_tokens: int | None = None
    """The longest that one request may be."""
    seats: int | None = None
    """Requests that the engine works on at a time."""
    concurrency: float | None = None
    """Requests of full length that the pool holds at a time."""
    running: int | None = None
    waiting: int | None = None
    waiting_by_reason: dict[str, int] | None = None
    residents: tuple[Resident, ...] = ()
    """Those that the gateway knows of, the largest first."""
    other_tokens: int | None = None
    """In the pool beyond what the residents should hold: others, or the estimates' error."""
    prefix_hit_share: float | None = None
    """Of prompt tokens in the last minute, found in the pool."""
    external_hit_share: float | None = None
    """Found behind a connector: the tier in host memory, or another machine."""
    preemptions: int | None = None
    """Since the engine started: requests put back because the pool was full."""
    forecast_tokens: int | None = None
    """What the plan said before this start."""
    forecast_error_tokens: int | None = None
    forecast_note: str | None = None
    """How the pool compares with its forecast, in a sentence."""
    room: Room
