"""One key as the running gateway holds it."""

import collections
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Protocol

from studio.domain.control import KeyInfo
from studio.domain.keys import KeyLimits
from studio.domain.pool import Resident
from studio.gateway.dialects import Refusal
from studio.gateway.key_limits import Gate


class Running(Protocol):
    """A request under way that can be ended from outside."""

    def cut(self, refusal: Refusal) -> None:
        """End it now, with an error to its client."""

    def resident(self, guess: Callable[[int], int], tokens_a_piece: float) -> Resident:
        """Return what it should hold in the pool."""


class Key:
    """One key as the running gateway holds it; counters move on the event loop only."""

    __slots__ = (
        "cached_tokens",
        "created_at",
        "digest",
        "errors",
        "gate",
        "generated_tokens",
        "id",
        "in_flight",
        "last_address",
        "last_used_s",
        "limits",
        "name",
        "prefix",
        "prompt_tokens",
        "recent_s",
        "requests",
        "revoked_at",
        "rotated_at",
        "running",
    )

    def __init__(
        self,
        *,
        id: str,
        name: str,
        prefix: str,
        digest: str,
        created_at: str,
        limits: KeyLimits,
    ) -> None:
        self.id = id
        self.name = name
        self.prefix = prefix
        self.digest = digest
        self.created_at = created_at
        self.revoked_at: str | None = None
        self.rotated_at: str | None = None
        self.last_used_s: float | None = None
        self.last_address: str | None = None
        self.running: set[Running] = set()
        """Requests that the engine works on."""
        self.in_flight = 0
        self.requests = 0
        self.errors = 0
        self.prompt_tokens = 0
        self.cached_tokens = 0
        self.generated_tokens = 0
        self.recent_s: collections.deque[float] = collections.deque()
        """When the requests of the last minute came; only where a limit needs it."""
        self.limits = limits
        self.gate = Gate(limits)

    def limit(self, limits: KeyLimits) -> None:
        """Let it do this from now on."""
        self.limits, self.gate = limits, Gate(limits)

    @property
    def info(self) -> KeyInfo:
        """Return the key without its secret."""
        return KeyInfo(
            id=self.id,
            name=self.name,
            prefix=self.prefix,
            created_at=self.created_at,
            revoked_at=self.revoked_at,
            rotated_at=self.rotated_at,
            has_expired=self.gate.has_expired(time.time()),
            last_used_at=None if self.last_used_s is None else iso(self.last_used_s),
            last_address=self.last_address,
            limits=self.limits,
            running=self.in_flight,
            requests=self.requests,
            errors=self.errors,
            prompt_tokens=self.prompt_tokens,
            cached_tokens=self.cached_tokens,
            generated_tokens=self.generated_tokens,
        )


def iso(at_s: float) -> str:
    """Return a moment as keys keep it: ISO 8601 in UTC, to the millisecond."""
    return datetime.fromtimestamp(at_s, UTC).isoformat(timespec="milliseconds")
