"""The bandwidth limit, on a clock of the test's own: how exact it is does not depend on load."""

import asyncio

from studio.host.transfer.throttle import Throttle

RATE = 2_000_000


class Clock:
    """Time that stands until it is moved."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        """Return the time."""
        return self.now_s


async def passes_at_once(throttle: Throttle, count: int) -> bool:
    """Return whether so many bytes may come now; if not, nobody waits for them any more."""
    taking = asyncio.ensure_future(throttle.take(count))
    await asyncio.sleep(0)
    is_over = taking.done()
    taking.cancel()
    await asyncio.wait({taking})
    return is_over


async def test_a_pause_as_long_as_an_answer_is_made_up_for() -> None:
    """Who waits for an answer takes nothing meanwhile: a slow line would stay below its limit."""
    clock = Clock()
    throttle = Throttle(RATE, clock)
    for _ in range(200):
        clock.now_s += 0.2
        assert await passes_at_once(throttle, RATE // 5 - 1)

    assert not await passes_at_once(throttle, throttle.piece_bytes)


async def test_a_long_pause_is_not_saved_up() -> None:
    """A limit is set because somebody else needs the line: now, not on average over the day."""
    clock = Clock()
    throttle = Throttle(RATE, clock)
    clock.now_s += 3600

    assert await passes_at_once(throttle, RATE // 4 - 1)
    assert not await passes_at_once(throttle, throttle.piece_bytes)


async def test_who_waits_goes_on_when_the_limit_is_taken_away() -> None:
    """And a hold stops everybody, limit or none."""
    clock = Clock()
    throttle = Throttle(RATE, clock)
    async with asyncio.TaskGroup() as tasks:
        waiting = tasks.create_task(throttle.take(100 * RATE))
        await asyncio.sleep(0)
        assert not waiting.done()
        throttle.limit(None)
    throttle.hold(is_held=True)

    assert waiting.result() == 0.0
    assert not await passes_at_once(throttle, 1)
