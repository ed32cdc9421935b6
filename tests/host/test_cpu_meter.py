"""Processor time of one coroutine among others."""

import asyncio
import time

import pytest

from studio.host.cpu_meter import Metered


def burn(seconds: float) -> None:
    """Compute for so long."""
    began = time.thread_time()
    while time.thread_time() - began < seconds:
        pass


async def test_only_its_own_steps_count() -> None:
    """What other tasks compute while it waits would make the monitor look dear."""
    spent: list[float] = []
    turn = asyncio.Event()

    async def work() -> str:
        burn(0.02)
        await turn.wait()
        burn(0.02)
        return "done"

    async def other() -> None:
        burn(0.2)
        turn.set()

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(other())
        result = await Metered(work(), spent.append)

    assert result == "done"
    assert 0.03 < sum(spent) < 0.15


async def test_an_error_comes_through() -> None:
    """And what was computed before it counts."""
    spent: list[float] = []

    async def work() -> None:
        await asyncio.sleep(0)
        raise KeyError

    with pytest.raises(KeyError):
        await Metered(work(), spent.append)
    assert len(spent) == 2


async def test_a_cancellation_reaches_the_work() -> None:
    """It may have to put something back."""
    ended: list[str] = []
    begun = asyncio.Event()

    async def work() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            ended.append("put back")

    async def metered() -> None:
        await Metered(work(), lambda _: None)

    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(metered())
        await begun.wait()
        task.cancel()

    assert ended == ["put back"]
    assert task.cancelled()


async def test_a_deadline_inside_holds() -> None:
    """asyncio.timeout works by a cancellation that it takes back."""

    async def work() -> str:
        try:
            async with asyncio.timeout(0.01):
                await asyncio.Event().wait()
        except TimeoutError:
            return "late"
        return "never"

    assert await Metered(work(), lambda _: None) == "late"
