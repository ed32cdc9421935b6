"""What one set of settings comes to on one host: its ledger, its pool, and what it falls short of.

Pure records that verdict.py judges and reductions.py searches through.
"""

import dataclasses
import enum
from collections.abc import Mapping

from studio.domain.plans import LedgerItem, PoolPart


class Lack(enum.StrEnum):
    """What there is too little of."""

    POOL = "pool"
    """The pool cannot hold one request of full length."""
    CONTEXT = "context"
    """The model is not made for requests so long."""
    CARD = "card"
    """The card is too small for the sum of the ledger."""
    FREE = "free"
    """Other programs hold what the engine wants at its start."""
    LINE = "line"
    """Bytes would spill over the line of dedicated memory (WSL2, Windows)."""
    MEMORY = "memory"
    SHM = "shm"
    DISK = "disk"
    RULE = "rule"
    """No amount of anything helps: a rule of the engine or of the model."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Shortfall:
    """One reason why it does not fit."""

    lack: Lack
    amount: float
    """How much is missing, in bytes (pool: in tokens); only compared with itself."""
    sentence: str
    is_certain: bool = True
    """Whether it is beyond the error bar of the forecast; what is not, is only warned of."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One set of settings, worked out. None is what nobody knows."""

    settings: Mapping[str, object]
    """vLLM's argument names with underscores."""
    ledger: tuple[LedgerItem, ...] = ()
    kv_bytes: int | None = None
    pool_tokens: int | None = None
    pool_tokens_error: int | None = None
    blocks: int | None = None
    block_size: int | None = None
    blocks_per_request: int | None = None
    page_bytes: int | None = None
    parts: tuple[PoolPart, ...] = ()
    max_model_len: int | None = None
    longest_context: int | None = None
    seats: int | None = None
    headroom_bytes: int | None = None
    headroom_error_bytes: int | None = None
    shortfalls: tuple[Shortfall, ...] = ()
    unknown: tuple[str, ...] = ()
    """Facts without which there is no verdict, in words."""
    warnings: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()

    @property
    def certain(self) -> tuple[Shortfall, ...]:
        """What keeps it from fitting."""
        return tuple(one for one in self.shortfalls if one.is_certain)

    @property
    def unsure(self) -> tuple[Shortfall, ...]:
        """What may keep it from fitting: it lies within the error bar."""
        return tuple(one for one in self.shortfalls if not one.is_certain)

    @property
    def spills(self) -> bool:
        """Whether bytes are sure to cross the line, and nothing forbids it."""
        is_line = any(one.lack is Lack.LINE and not one.is_certain for one in self.shortfalls)
        left = self.headroom_bytes
        return is_line and left is not None and left + (self.headroom_error_bytes or 0) < 0

    @property
    def fits(self) -> bool:
        """Whether nothing is sure to be in the way."""
        return not self.certain

    @property
    def starts(self) -> bool:
        """Whether it fits, and its pool holds one request by the forecast itself.

        Within the error bar it may start all the same; nobody should be told that it will.
        """
        return self.fits and not any(one.lack is Lack.POOL for one in self.shortfalls)

    @property
    def resident_requests(self) -> float | None:
        """Requests of full length that the pool holds at a time, as the engine prints it."""
        if self.pool_tokens is None or not self.max_model_len:
            return None
        return self.pool_tokens / self.max_model_len

    def missing(self, lack: Lack) -> float:
        """Return how much of one thing is missing; 0 when enough is there.

        A pool that is too small for one request counts as the forecast has it; anything else
        only where it is beyond the error bar.
        """
        counted = (one for one in self.shortfalls if one.is_certain or lack is Lack.POOL)
        return sum(one.amount for one in counted if one.lack is lack)
