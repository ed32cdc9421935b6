"""A client that is let go of at any instant leaves no connection behind."""

import asyncio
import contextlib
import functools
import gc
import warnings

from studio.control.client import ControlClient
from studio.domain.errors import StudioError
from tests.fakes.turns import cancelled_at
from tests.ui.fake_service import FakeService

MOST_TURNS = 300


async def converse(client: ControlClient) -> None:
    """Ask as a window does when it opens, over several connections; then close them."""
    try:
        async with asyncio.TaskGroup() as tasks:
            for _ in range(4):
                tasks.create_task(client.status())
    finally:
        await client.close()


def test_it_may_be_cancelled_at_any_turn_of_the_loop() -> None:
    """A window that is closed while it changes from one service to the next."""
    gc.freeze()  # the search for what nobody has is for what comes from now on
    left: dict[int, list[str]] = {}
    service = FakeService()
    service.open()
    turn, has_ended = 1, False
    while not has_ended:
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            has_ended = cancelled_at(turn, functools.partial(converse, service.client()))
            gc.collect()  # a connection that nobody has warns now
        if seen:
            left[turn] = [str(one.message) for one in seen]
        turn += 1
        assert turn < MOST_TURNS
    service.close()

    assert left == {}
    assert turn > 10, "the cancellations fell into the conversation"


async def close_meanwhile(client: ControlClient, turns: int) -> None:
    """Close it while a call is so many turns under way."""

    async def ask() -> None:
        with contextlib.suppress(StudioError):
            await client.status()

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(ask())
        for _ in range(turns):
            await asyncio.sleep(0)
        await client.close()


def test_it_may_be_closed_while_a_call_is_under_way() -> None:
    """A page asks while the service says goodbye: its connection is made when all are closed."""
    gc.freeze()
    left: dict[int, list[str]] = {}
    service = FakeService()
    service.open()
    for turns in range(1, 60):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            asyncio.run(close_meanwhile(service.client(), turns))
            gc.collect()
        if seen:
            left[turns] = [str(one.message) for one in seen]
    service.close()

    assert left == {}
