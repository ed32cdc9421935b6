"""What more fits into the pool now, in figures and in words. Pure.

vLLM counts a block as used while a request that runs holds it; blocks that are merely kept for
reuse are free. (Source: vLLM 0.32, v1/core/block_pool.py, `get_usage`.) A conversation takes whole
blocks, so what is free is rounded down to them.
"""

from studio.domain.pool import Room, RoomLimit
from studio.domain.units import counted, number_text

_SIZES = (
    1_000, 2_000, 4_000, 8_000, 12_000, 16_000, 20_000, 32_000, 48_000, 64_000, 100_000, 128_000,
    200_000, 256_000, 400_000, 512_000, 1_000_000,
)  # fmt: skip
"""Lengths that people think in."""


def room(
    *,
    pool_tokens: int | None,
    used_tokens: int | None,
    running: int | None,
    waiting: int | None,
    seats: int | None,
    context_tokens: int | None,
    block_tokens: int | None,
) -> Room:
    """Return what more fits now; what is not known limits nothing, and is said."""
    if pool_tokens is None or used_tokens is None:
        return Room(sentence="How much fits is not known: the engine does not say how full it is.")
    free = max(0, pool_tokens - used_tokens)
    if block_tokens:
        free -= free % block_tokens
    free_seats = None if seats is None or running is None else max(0, seats - running)
    longest = free if context_tokens is None else min(free, context_tokens)
    if free_seats == 0:
        longest = 0
    limit = _limit(free, free_seats, waiting, longest, context_tokens)
    return Room(
        tokens=free,
        seats=free_seats,
        longest_tokens=0 if limit is RoomLimit.WAITING else longest,
        limit=limit,
        sentence=_sentence(limit, free, free_seats, longest, (running, waiting, seats)),
    )


def _limit(
    free: int, seats: int | None, waiting: int | None, longest: int, context: int | None
) -> RoomLimit:
    if waiting:
        return RoomLimit.WAITING
    if seats == 0:
        return RoomLimit.SEATS
    return RoomLimit.CONTEXT if context is not None and longest < free else RoomLimit.POOL


def _sentence(
    limit: RoomLimit,
    free: int,
    seats: int | None,
    longest: int,
    counts: tuple[int | None, int | None, int | None],
) -> str:
    running, waiting, all_seats = counts
    if limit is RoomLimit.WAITING:
        text = counted(waiting or 0, "request waits", "requests wait")
        return f"Nothing more fits now: {text} already."
    if limit is RoomLimit.SEATS:
        return f"No seat is free: {running} of {all_seats} are taken, so a further request waits."
    if longest < _SIZES[0]:
        return f"The pool is full: {free:,} tokens are free, too few for another conversation."
    many, size = _fitting(free, seats, longest)
    text = f"Room for {number_text(many)} more {size_text(size)} {_conversations(many)}"
    more, smaller = _most(free, seats, size, many)
    if smaller:
        text += f", or {number_text(more)} of {size_text(smaller)}"
    return f"{text}."


def _fitting(free: int, seats: int | None, longest: int) -> tuple[int, int]:
    """Return how many of the largest usual length fit, and that length."""
    size = max(one for one in _SIZES if one <= longest)
    many = free // size
    return (many if seats is None else min(many, seats)), size


def _most(free: int, seats: int | None, size: int, many: int) -> tuple[int, int]:
    """Return how many more fit when each is shorter; 0 where it is no news."""
    for one in reversed(_SIZES):
        if one > size // 2:
            continue
        more = free // one if seats is None else min(free // one, seats)
        if more > many and (seats is None or more == seats or one <= size // 4):
            return more, one
    return 0, 0


def size_text(tokens: int) -> str:
    """Return a length as people say it: `20k`, `1M`."""
    if tokens >= 1_000_000:
        return f"{tokens / 1_000_000:g}M"
    return f"{tokens // 1_000}k"


def _conversations(many: int) -> str:
    return "conversation" if many == 1 else "conversations"
