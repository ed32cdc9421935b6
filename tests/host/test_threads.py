"""Work in threads: a cancelled caller must not let go while the work goes on."""

import asyncio
import threading

from studio.host.threads import in_thread


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
