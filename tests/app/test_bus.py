"""The event bus: a slow listener must never hold up the service, or lose news."""

import asyncio

from studio.app.bus import QUEUE_LIMIT, Bus
from studio.domain.events import GatewayChanged, KeysChanged, Ticked
from studio.domain.metrics import Tick

TICK = Ticked(tick=Tick(at=1.0))


async def test_every_listener_hears_everything_in_order() -> None:
    """The window and the terminal may be open at once."""
    bus = Bus()
    first, second = bus.subscribe(), bus.subscribe()

    bus.publish(KeysChanged())
    bus.publish(TICK)
    bus.close()

    for listener in (first, second):
        assert [event async for event in listener] == [KeysChanged(), TICK]


async def test_a_listener_that_falls_behind_loses_ticks_but_no_news() -> None:
    """A laptop that sleeps must find the state it left, not a million ticks."""
    bus = Bus()
    listener = bus.subscribe()
    bus.publish(GatewayChanged(base_url="there"))

    for _ in range(QUEUE_LIMIT * 3):
        bus.publish(TICK)
    bus.close()
    events = [event async for event in listener]

    assert events[0] == GatewayChanged(base_url="there")
    assert len(events) <= QUEUE_LIMIT


async def test_a_listener_waits_until_something_happens() -> None:
    """No polling."""
    bus = Bus()
    listener = bus.subscribe()

    async with asyncio.TaskGroup() as tasks:
        heard = tasks.create_task(anext(aiter(listener)))
        await asyncio.sleep(0)
        assert not heard.done()
        bus.publish(TICK)

    assert heard.result() == TICK


async def test_a_listener_that_left_hears_nothing_more() -> None:
    """A closed window must not collect events for ever."""
    bus = Bus()
    listener = bus.subscribe()

    bus.unsubscribe(listener)
    bus.publish(TICK)

    assert [event async for event in listener] == []


async def test_a_listener_that_comes_too_late_is_let_go() -> None:
    """A window that reconnects while the service ends must not wait for ever."""
    bus = Bus()
    bus.close()

    late = bus.subscribe()

    assert [event async for event in late] == []
