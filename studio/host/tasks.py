"""Tasks that belong together, with the plain error of the one that failed instead of a group."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable

Work = Callable[[], Awaitable[None]]


async def together(works: Iterable[Work]) -> None:
    """Run all; the first error ends the others and is raised as it is."""
    try:
        async with asyncio.TaskGroup() as group:
            for work in works:
                group.create_task(_run(work))
        return
    except ExceptionGroup as failed:
        error = first_of(failed)
    raise error


async def beside(work: Work, *helpers: Work) -> None:
    """Run `work` to its end, and the helpers as long as it takes; any error ends all."""
    try:
        async with asyncio.TaskGroup() as group:
            running = [group.create_task(_run(helper)) for helper in helpers]
            await work()
            for task in running:
                task.cancel()
        return
    except ExceptionGroup as failed:
        error = first_of(failed)
    raise error


async def to_the_end(works: Iterable[Coroutine[object, object, None]]) -> None:
    """Run all even when the caller is cancelled meanwhile, who then hears of it afterwards.

    For closing what would be lost otherwise: a list of connections that is walked through with a
    wait at each is cut short by a cancellation, and who is behind it stays open.
    """
    closing = asyncio.gather(*works, return_exceptions=True)
    try:
        ended = await asyncio.shield(closing)
    except asyncio.CancelledError:
        await asyncio.wait({closing})
        raise
    for one in ended:
        if isinstance(one, BaseException):
            raise one


async def _run(work: Work) -> None:
    await work()


def first_of(failed: ExceptionGroup[Exception]) -> Exception:
    """Return the first error of a group, which is the one that ended the others."""
    error: Exception = failed
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    return error
