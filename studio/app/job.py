"""One `weir up` under way: who waits for it, and how it is ended."""

import asyncio

from studio.domain.control import UpRequest, UpResult
from studio.domain.errors import StudioError


class Job:
    """One `up` under way."""

    def __init__(
        self, request: UpRequest, task: asyncio.Task[object], *, is_asked: bool = True
    ) -> None:
        self.request = request
        self.is_asked = is_asked
        """Whether a person wants it: then it is what `weir up` serves again next time."""
        self.outcome: asyncio.Future[UpResult] = asyncio.get_running_loop().create_future()
        self.is_cancelled = False
        self._task = task

    def end(self, error: StudioError | None) -> None:
        """Let go of those who wait too; without a result or an error they are let go empty."""
        if error is not None:
            self.outcome.set_exception(error)
            self.outcome.exception()  # nobody else may be waiting, and that is no mistake
        elif not self.outcome.done():
            self.outcome.cancel()

    async def cancel(self) -> None:
        """End it and wait until it has ended."""
        self.is_cancelled = True
        self._task.cancel()
        await asyncio.wait([self.outcome])
