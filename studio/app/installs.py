"""Installations under way in this service, by runtime: what is under way can be stopped.

An installation runs in the task of whoever asked for it, and is stopped by cancelling what that
task waits for. It is a journal of steps that can be cut anywhere (studio/runtimes/install.py), so
nothing is cleared up: what is in use stays in use, and the next try goes on from there.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import msgspec

from studio.domain.errors import Busy
from studio.domain.events import Stage, StageProgress, StageState
from studio.domain.runtimes import InstallStopped
from studio.host.meter import Report
from studio.host.paths import Paths
from studio.runtimes import folder as folders

T = TypeVar("T")

STOPPED = "Stopped. What was fetched is kept; the next try goes on from there."


class _Job:
    """One installation under way."""

    def __init__(self, task: asyncio.Task[object]) -> None:
        self.task = task
        self.is_stopped = False
        self.is_finished = False
        self.over = asyncio.Event()

    def stop(self) -> None:
        """Cancel it, once: a second time would cut short the clearing up after the first."""
        if not self.is_stopped:
            self.is_stopped = True
            self.task.cancel()

    def settle(self) -> bool:
        """Take our own cancellation back; tell whether somebody else wants the task ended too."""
        return (self.task.uncancel() if self.is_stopped else self.task.cancelling()) > 0


class Installs:
    """What is being installed, updated or imported. One per home and service."""

    def __init__(self, paths: Paths) -> None:
        self._paths = paths
        self._jobs: dict[str, _Job] = {}

    async def run(
        self, name: str, title: str, report: Report, work: Callable[[Report], Awaitable[T]]
    ) -> T:
        """Install the runtime `name` by `work`, which reports its progress to what it is given.

        `work` is called again when it was stopped too late: it then finds all done.

        Raises: Busy (`install-running`, `install-stopped`), and what `work` raises.
        """
        before = await asyncio.to_thread(folders.current, self._paths, name)
        if name in self._jobs:
            raise Busy(
                "install-running",
                f"{title} is being installed already.",
                hint=f"Wait until it is done, or stop it with `weir runtime stop {name}`.",
            )
        task = asyncio.current_task()
        assert task is not None
        job = self._jobs[name] = _Job(task)

        def told(progress: StageProgress) -> None:
            report(msgspec.structs.replace(progress, runtime=name))

        is_ended = False
        try:
            try:
                result = await work(told)
            finally:
                is_ended = job.settle()
        except asyncio.CancelledError:
            if not job.is_stopped or is_ended:
                raise
            now = await asyncio.to_thread(folders.current, self._paths, name)
            if now is None or now == before:
                told(_stopped(title))
                raise _refusal(title) from None
            result = await work(told)
        finally:
            del self._jobs[name]
            job.over.set()
        job.is_finished = True
        return result

    async def stop(self, name: str) -> InstallStopped:
        """Stop what is being done to get `name`, and wait until it has ended.

        Nothing under way is no error: whoever stops it twice has what they want.
        """
        job = self._jobs.get(name)
        if job is not None:
            job.stop()
            await job.over.wait()
        now = await asyncio.to_thread(folders.current, self._paths, name)
        return InstallStopped(
            runtime=name,
            was_running=job is not None,
            is_finished=job is not None and job.is_finished,
            current=now.runtime_id if now is not None else None,
        )


def _stopped(title: str) -> StageProgress:
    return StageProgress(stage=Stage.RUNTIME, state=StageState.FAILED, title=title, note=STOPPED)


def _refusal(title: str) -> Busy:
    return Busy(
        "install-stopped",
        f"The installation of {title} was stopped before it was finished.",
        hint="What was in use stays in use, and what was fetched is kept: the next try goes on "
        "from there.",
    )
