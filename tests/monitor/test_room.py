"""What more fits into the pool, as people ask it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio.domain.pool import Room, RoomLimit
from studio.monitor.room import room, size_text


def fits(**known: int | None) -> Room:
    """Return what fits into an idle pool of 68,605 tokens, but for what is said."""
    idle: dict[str, int | None] = {
        "pool_tokens": 68_605,
        "used_tokens": 0,
        "running": 0,
        "waiting": 0,
        "seats": 8,
        "context_tokens": 65_536,
        "block_tokens": 448,
    }
    return room(**{**idle, **known})


@pytest.mark.parametrize(
    ("known", "sentence"),
    [
        ({"used_tokens": 45_000}, "Room for one more 20k conversation, or five of 4k."),
        ({}, "Room for one more 64k conversation, or four of 16k."),
        ({"running": 8}, "No seat is free: 8 of 8 are taken, so a further request waits."),
        ({"waiting": 2}, "Nothing more fits now: two requests wait already."),
        ({"waiting": 1}, "Nothing more fits now: one request waits already."),
        (
            {"used_tokens": 68_000},
            "The pool is full: 448 tokens are free, too few for another conversation.",
        ),
        (
            {"pool_tokens": None},
            "How much fits is not known: the engine does not say how full it is.",
        ),
        ({"used_tokens": 45_000, "running": 7}, "Room for one more 20k conversation."),
    ],
)
def test_it_is_said_in_conversations(known: dict[str, int | None], sentence: str) -> None:
    """Nobody thinks in blocks."""
    assert fits(**known).sentence == sentence


def test_what_ends_first_is_named() -> None:
    """So that people know what to change."""
    assert fits().limit is RoomLimit.CONTEXT
    assert fits(used_tokens=45_000).limit is RoomLimit.POOL
    assert fits(running=8).limit is RoomLimit.SEATS
    assert fits(waiting=1).limit is RoomLimit.WAITING
    assert fits(pool_tokens=None).limit is None


def test_whole_blocks_are_given_out() -> None:
    """A conversation of one token more takes a whole block more."""
    found = fits(used_tokens=45_000)

    assert found.tokens == 23_296
    assert found.tokens % 448 == 0
    assert found.longest_tokens == 23_296
    assert fits(used_tokens=45_000, block_tokens=None).tokens == 23_605


def test_what_is_not_known_limits_nothing() -> None:
    """An adopted server does not tell its seats."""
    found = fits(seats=None, context_tokens=None, running=None)

    assert found.seats is None
    assert found.longest_tokens == found.tokens


COUNTS = st.one_of(st.none(), st.integers(0, 2_000_000))


@given(COUNTS, COUNTS, COUNTS, COUNTS, COUNTS, COUNTS, st.one_of(st.none(), st.integers(1, 4_096)))
def test_it_never_promises_more_than_there_is(
    pool: int | None,
    used: int | None,
    running: int | None,
    waiting: int | None,
    seats: int | None,
    context: int | None,
    block: int | None,
) -> None:
    """Whatever an engine says, also nonsense."""
    found = room(
        pool_tokens=pool,
        used_tokens=used,
        running=running,
        waiting=waiting,
        seats=seats,
        context_tokens=context,
        block_tokens=block,
    )

    assert found.sentence.endswith(".")
    if pool is None or used is None:
        assert found.tokens is None
        return
    assert found.tokens is not None
    assert found.longest_tokens is not None
    assert 0 <= found.longest_tokens <= found.tokens <= max(0, pool - used)
    assert found.longest_tokens <= (context if context is not None else found.tokens)
    if seats is not None and running is not None and running >= seats:
        assert found.longest_tokens == 0


@pytest.mark.parametrize(("tokens", "text"), [(20_000, "20k"), (1_000_000, "1M")])
def test_sizes_are_short(tokens: int, text: str) -> None:
    """As people say them."""
    assert size_text(tokens) == text
