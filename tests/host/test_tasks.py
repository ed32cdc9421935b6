"""Tasks that belong together: one error, as it is, and nobody left behind."""

import asyncio

import pytest

from studio.host.tasks import beside, to_the_end, together


async def _fail() -> None:
    await asyncio.sleep(0)
    raise LookupError("mine")


async def test_the_first_error_ends_the_others_and_stays_itself() -> None:
    """A group of errors would be caught by nobody who knows the error."""
    ended: list[str] = []

    async def long() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("long")

    with pytest.raises(LookupError, match="mine"):
        await together([long, _fail])

    assert ended == ["long"]


async def test_helpers_end_with_the_work() -> None:
    """A ticker goes on for ever by itself."""
    ended: list[str] = []

    async def helper() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("helper")

    async def work() -> None:
        await asyncio.sleep(0)

    await beside(work, helper)
    with pytest.raises(LookupError):
        await beside(_fail, helper)

    assert ended == ["helper", "helper"]


async def test_a_helper_that_fails_ends_the_work() -> None:
    """A disk that cannot be flushed is a reason to stop."""

    async def work() -> None:
        await asyncio.Event().wait()

    with pytest.raises(LookupError, match="mine"):
        await beside(work, _fail)


async def test_what_is_closed_is_closed_to_the_end() -> None:
    """A cancellation in the middle of a list would leave the rest of it open."""
    closed: list[int] = []
    begun = asyncio.Event()

    async def close(number: int) -> None:
        begun.set()
        for _ in range(5 * number):
            await asyncio.sleep(0)
        closed.append(number)

    task = asyncio.ensure_future(to_the_end([close(number) for number in range(3)]))
    await begun.wait()
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    assert closed == [0, 1, 2]


async def test_an_error_of_one_that_is_closed_is_told() -> None:
    """Unless the caller was cancelled: then nobody wants to know."""

    async def fail() -> None:
        raise OSError("no")

    ended: list[str] = []

    async def end() -> None:
        for _ in range(5):
            await asyncio.sleep(0)
        ended.append("the other")

    with pytest.raises(OSError, match="no"):
        await to_the_end([fail(), end()])
    assert ended == ["the other"]
    task = asyncio.ensure_future(to_the_end([fail(), end()]))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
