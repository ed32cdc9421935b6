"""Work in threads: a cancelled caller must not let go while the work goes on."""

import asyncio
import threading

import pytest

from studio.host.threads import in_own_loop, in_thread


async def test_the_result_arrives() -> None:
    """The plain case."""
    assert await in_thread(lambda: threading.current_thread() is threading.main_thread()) is False


async def test_cancelling_waits_for_the_work() -> None:
    """The lock on a folder is freed when the call ends; a thread that still writes would race."""
    started, go_on, ended = threading.Event(), threading.Event(), threading.Event()

    def work() -> None:
        started.set()
        go_on.wait(20)
        ended.set()

    async def cancel(task: asyncio.Task[None]) -> None:
        await asyncio.to_thread(started.wait, 20)
        task.cancel()
        asyncio.get_running_loop().call_later(0.05, go_on.set)

    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(in_thread(work))
        tasks.create_task(cancel(task))

    assert task.cancelled()
    assert ended.is_set()


async def test_a_loop_of_its_own_brings_result_and_error() -> None:
    """Work that blocks its loop blocks nobody else's."""

    async def work() -> bool:
        await asyncio.sleep(0)
        return threading.current_thread() is threading.main_thread()

    async def fail() -> None:
        raise LookupError("mine")

    assert await in_own_loop(work) is False
    with pytest.raises(LookupError, match="mine"):
        await in_own_loop(fail)


async def test_cancelling_reaches_the_other_loop_and_waits_for_its_end() -> None:
    """What was open is closed before the caller goes on."""
    started = threading.Event()
    ended: list[str] = []

    async def work() -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            ended.append("work")

    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(in_own_loop(work))
        await asyncio.to_thread(started.wait, 20)
        task.cancel()

    assert task.cancelled()
    assert ended == ["work"]
