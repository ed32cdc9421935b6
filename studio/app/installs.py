"""What is being done to runtimes in this service, by runtime: what is under way can be stopped.

Work runs in the task of whoever asked for it, and is stopped by cancelling what that task waits
for. An installation is a journal of steps that can be cut anywhere (studio/runtimes/install.py), a
repair moves whole files, an export has its name only when it is whole, and a comparison changes
nothing: so nothing is cleared up here, and what is in use stays in use.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import NamedTuple, TypeVar

import msgspec

from studio.domain.errors import Busy
from studio.domain.events import Stage, StageProgress, StageState
from studio.domain.runtimes import InstallStopped, RuntimeWork
from studio.host.meter import Report
from studio.host.paths import Paths
from studio.runtimes import folder as folders

T = TypeVar("T")

STOPPED = "Stopped. What was fetched is kept; the next try goes on from there."


class _Words(NamedTuple):
    """What is told of one kind of work."""

    note: str
    code: str
    message: str
    hint: str
    running: str


_WORDS = {
    RuntimeWork.INSTALL: _Words(
        STOPPED,
        "install-stopped",
        "The installation of {title} was stopped before it was finished.",
        "What was in use stays in use, and what was fetched is kept: the next try goes on from "
        "there.",
        "{title} is being installed already.",
    ),
    RuntimeWork.REPAIR: _Words(
        "Stopped. What is restored stays restored; the next repair does the rest.",
        "repair-stopped",
        "The repair of {title} was stopped before it was finished.",
        "What is restored stays restored, and what was fetched is kept: `weir runtime repair "
        "{name}` does the rest, and so does the next start.",
        "{title} is being repaired.",
    ),
    RuntimeWork.VERIFY: _Words(
        "Stopped. Nothing is said of the files.",
        "verify-stopped",
        "The comparison of {title} was stopped before it was finished.",
        "Nothing was changed, and nothing is known of what was not read. `weir runtime verify "
        "{name} --full` begins anew.",
        "{title} is being compared with the list of its files.",
    ),
    RuntimeWork.EXPORT: _Words(
        "Stopped. No file was written.",
        "export-stopped",
        "The export of {title} was stopped before it was finished.",
        "No file was written, and the runtime is as it was. `weir runtime export {name}` begins "
        "anew.",
        "{title} is being exported.",
    ),
}


class _Job:
    """One piece of work under way."""

    def __init__(self, task: asyncio.Task[object], work: RuntimeWork) -> None:
        self.task = task
        self.work = work
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
    """What is being done to runtimes. One per home and service."""

    def __init__(self, paths: Paths) -> None:
        self._paths = paths
        self._jobs: dict[str, list[_Job]] = {}

    async def run(
        self,
        name: str,
        title: str,
        report: Report,
        work: Callable[[Report], Awaitable[T]],
        kind: RuntimeWork = RuntimeWork.INSTALL,
    ) -> T:
        """Do `work` with the runtime `name`; it reports its progress to what it is given.

        An installation is called again when it was stopped too late: it then finds all done.
        One thing at a time is done to a runtime; only comparisons may run beside anything.

        Raises: Busy (`install-running`, `install-stopped` and the like), and what `work` raises.
        """
        before = await asyncio.to_thread(folders.current, self._paths, name)
        if kind is not RuntimeWork.VERIFY:
            self._require_idle(name, title)
        task = asyncio.current_task()
        assert task is not None
        job = _Job(task, kind)
        jobs = self._jobs.setdefault(name, [])
        jobs.append(job)
        shown = title

        def told(progress: StageProgress) -> None:
            nonlocal shown
            shown = progress.title
            report(msgspec.structs.replace(progress, runtime=name, work=kind))

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
            if kind is not RuntimeWork.INSTALL or now is None or now == before:
                told(_stopped(shown, kind))
                raise _refusal(name, title, kind) from None
            result = await work(told)
        finally:
            jobs.remove(job)
            job.over.set()
        job.is_finished = True
        return result

    async def stop(self, name: str) -> InstallStopped:
        """Stop what is being done to `name`, and wait until it has ended.

        Nothing under way is no error: whoever stops it twice has what they want.
        """
        jobs = list(self._jobs.get(name, ()))
        for job in jobs:
            job.stop()
        for job in jobs:
            await job.over.wait()
        now = await asyncio.to_thread(folders.current, self._paths, name)
        # What was done to it goes before a comparison beside it.
        told = min(jobs, key=lambda job: job.work is RuntimeWork.VERIFY, default=None)
        return InstallStopped(
            runtime=name,
            was_running=bool(jobs),
            work=told.work if told is not None else None,
            is_finished=told is not None and told.is_finished,
            current=now.runtime_id if now is not None else None,
        )

    def _require_idle(self, name: str, title: str) -> None:
        for job in self._jobs.get(name, ()):
            if job.work is not RuntimeWork.VERIFY:
                raise Busy(
                    "install-running",
                    _WORDS[job.work].running.format(title=title),
                    hint=f"Wait until it is done, or stop it with `weir runtime stop {name}`.",
                )


def _stopped(title: str, kind: RuntimeWork) -> StageProgress:
    note = _WORDS[kind].note
    return StageProgress(stage=Stage.RUNTIME, state=StageState.FAILED, title=title, note=note)


def _refusal(name: str, title: str, kind: RuntimeWork) -> Busy:
    words = _WORDS[kind]
    return Busy(words.code, words.message.format(title=title), hint=words.hint.format(name=name))
