"""One start, and those who wait for it."""

import asyncio

import pytest

from studio.app.job import Job
from studio.domain.control import UpRequest
from studio.domain.errors import Busy


async def job() -> tuple[Job, asyncio.Task[object]]:
    """Return a job whose task waits for ever."""

    async def wait() -> object:
        return await asyncio.Event().wait()

    task = asyncio.get_running_loop().create_task(wait())
    await asyncio.sleep(0)
    return Job(UpRequest(), task), task


async def test_a_failure_reaches_everybody_who_waits() -> None:
    """And is no mistake where nobody does."""
    one, task = await job()
    task.cancel()

    one.end(Busy("up-stopped", "Stopped."))

    with pytest.raises(Busy):
        await one.outcome


async def test_an_end_without_a_word_lets_go() -> None:
    """The service ends under them."""
    one, task = await job()
    task.cancel()

    one.end(None)

    with pytest.raises(asyncio.CancelledError):
        await one.outcome


async def test_cancelling_waits_for_the_end() -> None:
    """Whoever stops a start may begin the next one right after."""
    one, task = await job()

    def ended(_task: asyncio.Task[object]) -> None:
        one.end(Busy("up-stopped", "Stopped."))

    task.add_done_callback(ended)

    await one.cancel()

    assert one.is_cancelled
    assert one.outcome.done()
