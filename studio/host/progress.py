"""Long work in a thread that says how far it is, and that can be ended from outside."""

import asyncio
import contextlib
from collections.abc import Callable
from typing import TypeVar

from studio.host.threads import in_thread

T = TypeVar("T")

_TICK_S = 0.2


class Stopped(Exception):
    """The work was ended from outside; nobody but `followed` sees it."""


class Progress:
    """A counter that one thread raises and the event loop reads."""

    def __init__(self) -> None:
        self.done = 0
        self._is_stopped = False

    def add(self, amount: int) -> None:
        """Count; the place at which the work ends when it was stopped. Raises: Stopped."""
        if self._is_stopped:
            raise Stopped
        self.done += amount

    def stop(self) -> None:
        """Let the work end at its next count."""
        self._is_stopped = True


async def followed(work: Callable[[Progress], T], on_tick: Callable[[int], None]) -> T:
    """Run `work` in a thread and tell `on_tick` on the event loop how far it is.

    A cancelled caller stops the work and waits for its end. What the work raises comes out as it
    is, not in a group.
    """
    progress = Progress()
    outcome: list[T] = []

    async def watched() -> None:
        with contextlib.suppress(Stopped):
            outcome.append(await in_thread(lambda: work(progress)))

    try:
        async with asyncio.TaskGroup() as tasks:
            task = tasks.create_task(watched())
            try:
                while not task.done():
                    await asyncio.wait({task}, timeout=_TICK_S)
                    on_tick(progress.done)
            finally:
                progress.stop()
                await asyncio.wait({task})
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None
    return outcome[0]
