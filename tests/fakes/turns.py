"""A loop in which something happens at one of its turns: every instant can be tried."""

import asyncio
import selectors
from collections.abc import Callable, Coroutine


class CountingSelector(selectors.DefaultSelector):
    """Calls back before its so many-th look: a loop looks once in each of its turns."""

    def __init__(self) -> None:
        super().__init__()
        self.looks = 0
        self.at = 0
        self.then: Callable[[], object] = lambda: None

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Look what is ready."""
        self.looks += 1
        if self.looks == self.at:
            self.then()
            timeout = 0
        return super().select(timeout)


def cancelled_at(turn: int, work: Callable[[], Coroutine[object, object, None]]) -> bool:
    """Cancel all at one turn of the loop; return whether it had ended before."""
    selector = CountingSelector()
    loop = asyncio.SelectorEventLoop(selector)
    try:
        task = loop.create_task(work())
        selector.at, selector.then = turn, task.cancel
        loop.run_until_complete(asyncio.wait({task}))
        has_ended = not task.cancelled()
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.run_until_complete(loop.shutdown_default_executor())
    finally:
        selector.then = lambda: None
        loop.close()
    return has_ended
