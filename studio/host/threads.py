"""Blocking work of some seconds, off the event loop."""

import asyncio
import concurrent.futures
import contextlib
import threading
from collections.abc import Callable, Coroutine
from typing import TypeVar

T = TypeVar("T")


async def in_thread(work: Callable[[], T]) -> T:
    """Run `work` in a thread; a cancelled caller waits for its end.

    Otherwise the thread would go on writing after whoever asked has let go of the lock.
    """
    future = asyncio.get_running_loop().run_in_executor(None, work)
    try:
        return await asyncio.shield(future)
    except asyncio.CancelledError:
        await asyncio.wait({future})
        if not future.cancelled():
            future.exception()  # seen: whoever cancels does not want to know
        raise


async def in_stoppable_thread(work: Callable[[threading.Event], T]) -> T:
    """Run `work` in a thread of its own; a cancelled caller sets its event and waits for its end.

    For work of minutes that can stop in between: copying, hashing.
    """
    stop = threading.Event()
    thread = concurrent.futures.ThreadPoolExecutor(1, thread_name_prefix="weir-work")
    future = asyncio.get_running_loop().run_in_executor(thread, work, stop)
    thread.shutdown(wait=False)
    try:
        return await asyncio.shield(future)
    except asyncio.CancelledError:
        stop.set()
        await asyncio.wait({future})
        if not future.cancelled():
            future.exception()  # seen: whoever cancels does not want to know
        raise


async def in_own_loop(work: Callable[[], Coroutine[object, object, T]]) -> T:
    """Run a coroutine on an event loop of its own, in a thread; cancelling the caller cancels it.

    For work that writes to disks or keeps a processor busy: the loop of the caller, through which
    every token of every client passes, goes on meanwhile. Returns when the work has really ended.
    """
    inner: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[T]]] = []
    is_cancelled = threading.Event()

    async def begin() -> T:
        task = asyncio.current_task()
        assert task is not None
        inner.append((asyncio.get_running_loop(), task))
        if is_cancelled.is_set():
            raise asyncio.CancelledError
        return await work()

    # Not one of the loop's own few threads: it may take hours.
    thread = concurrent.futures.ThreadPoolExecutor(1, thread_name_prefix="weir-work")
    future = asyncio.get_running_loop().run_in_executor(thread, lambda: asyncio.run(begin()))
    thread.shutdown(wait=False)
    try:
        return await asyncio.shield(future)
    except asyncio.CancelledError:
        is_cancelled.set()
        for loop, task in inner:
            with contextlib.suppress(RuntimeError):  # it has ended by itself meanwhile
                loop.call_soon_threadsafe(task.cancel)
        await asyncio.wait({future})
        if not future.cancelled():
            future.exception()  # seen: whoever cancels does not want to know
        raise
