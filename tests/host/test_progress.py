"""Work in a thread that is watched, and that can be ended."""

import asyncio
import threading

import pytest

from studio.host.progress import Progress, followed


async def test_the_result_comes_back_and_the_count_was_seen() -> None:
    """A bar that never moves is taken for a hang."""
    seen = list[int]()
    go_on = threading.Event()

    def work(progress: Progress) -> str:
        progress.add(7)
        assert go_on.wait(30)
        return "done"

    def on_tick(done: int) -> None:
        seen.append(done)
        if done == 7:
            go_on.set()

    assert await followed(work, on_tick) == "done"
    assert 7 in seen


async def test_what_the_work_raises_comes_out_as_itself() -> None:
    """Not in a group: callers catch errors of ours by their kind."""

    def work(_progress: Progress) -> None:
        raise LookupError("said")

    with pytest.raises(LookupError, match="said"):
        await followed(work, lambda _done: None)


async def test_cancelled_it_stops_the_work_and_waits_for_it() -> None:
    """Otherwise the thread would write on, without the lock."""
    started, ended = threading.Event(), threading.Event()

    def work(progress: Progress) -> None:
        try:
            while True:
                progress.add(1)
                started.set()
        finally:
            ended.set()

    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(followed(work, lambda _done: None))
        await asyncio.to_thread(started.wait, 30)
        task.cancel()

    assert task.cancelled()
    assert ended.is_set()
