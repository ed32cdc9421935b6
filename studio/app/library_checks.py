"""The checks of models: one file after another, last in line, and not while an engine needs the
machine. What was read stays read: a check goes on after the death of the service.

Called on the service's event loop; the reading is in a thread of its own.
"""

import asyncio
import collections
import contextlib
import functools
import threading
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import msgspec

from studio.domain.errors import Damaged, HostLacks, StudioError
from studio.domain.library import CheckInfo, CheckState
from studio.host import quiet_reading
from studio.host.documents import read_json, write_json
from studio.models import checking, proof
from studio.models.checked import write_checked
from studio.models.digests import Digest, DigestBook
from studio.models.finding import File
from studio.models.shelf import Model

T = TypeVar("T")

QUEUE = ".check-queue.json"
_LOOK_S = 0.5
_RATE_S = 5.0
_MOST_OVER = 50
_LIVE = (CheckState.QUEUED, CheckState.RUNNING, CheckState.WAITING)


class Stopped(Exception):
    """The check is to end here; what was read is kept."""


class _Kept(msgspec.Struct, frozen=True, kw_only=True):
    path: str
    begun_at_s: float


class _Queue(msgspec.Struct, frozen=True, kw_only=True):
    checks: tuple[_Kept, ...] = ()


class _Job:
    def __init__(self, model: str, path: str, begun_at_s: float) -> None:
        self.model = model
        self.path = path
        self.begun_at_s = begun_at_s
        self.state = CheckState.QUEUED
        self.done = 0
        self.total: int | None = None
        self.error: StudioError | None = None
        self.is_dropped = False
        self.seen: collections.deque[tuple[float, int]] = collections.deque()

    def info(self) -> CheckInfo:
        rate = self._rate()
        left = None if not rate or self.total is None else (self.total - self.done) / rate
        return CheckInfo(
            model=self.model,
            path=self.path,
            state=self.state,
            done_bytes=self.done,
            total_bytes=self.total,
            rate=rate,
            left_s=left,
            error=self.error.info if self.error is not None else None,
        )

    def read(self, count: int) -> None:
        """Hear of bytes that were read, in whatever thread."""
        self.done += count
        now = time.monotonic()
        self.seen.append((now, self.done))
        while now - self.seen[0][0] > _RATE_S:
            self.seen.popleft()

    def _rate(self) -> float | None:
        if self.state is not CheckState.RUNNING or len(self.seen) < 2:
            return None
        (begin, before), (end, after) = self.seen[0], self.seen[-1]
        return (after - before) / (end - begin) if end > begin else None


class Checks:
    """The queue of one home."""

    def __init__(
        self,
        models: Path,
        digests: DigestBook,
        *,
        find: Callable[[str], Awaitable[Model | None]],
        is_busy: Callable[[], bool],
        on_change: Callable[[], None],
    ) -> None:
        """`find` returns the model at a path as it is now, `is_busy` whether an engine needs us."""
        self._models = models
        self._digests = digests
        self._find = find
        self._is_busy = is_busy
        self._on_change = on_change
        self._jobs: list[_Job] = []
        self._doubles: dict[tuple[int, int], File] = {}
        self._hopeless: set[File] = set()
        """Files that could not be read as they are now: not to be tried for ever."""
        self._wake = asyncio.Event()
        self._may_read = threading.Event()
        self._may_read.set()
        self._is_ending = threading.Event()
        self._current: _Job | None = None
        self.is_running = False

    def listed(self) -> tuple[CheckInfo, ...]:
        """Return those under way, then those that are over."""
        live = [job for job in self._jobs if job.state in _LIVE]
        over = [job for job in self._jobs if job.state not in _LIVE]
        return tuple(job.info() for job in (*live, *over))

    def of(self, path: str) -> CheckInfo | None:
        """Return the check under way of the model at a path."""
        found = next((j for j in self._jobs if j.path == path and j.state in _LIVE), None)
        return found.info() if found is not None else None

    async def add(self, models: Iterable[Model]) -> None:
        """Queue checks; without a running service they are done here and now."""
        fresh = []
        for model in models:
            path = str(model.place)
            if self.of(path) is None:
                self._jobs = [job for job in self._jobs if job.path != path]
                fresh.append(_Job(model.entry.name, path, time.time()))
        self._jobs += fresh
        await self._save()
        self._wake.set()
        self._on_change()
        if not self.is_running:
            with _reader() as thread:
                for job in fresh:
                    await self._work(job, thread)

    async def drop(self, path: str) -> None:
        """End the check of a model, if there is one; what was read of it stays read."""
        for job in [job for job in self._jobs if job.path == path]:
            job.is_dropped = True
            self._jobs.remove(job)
        await self._save()
        self._on_change()

    def compare(self, files: Iterable[File]) -> None:
        """Hash these when nothing else is to do: they may be the same as others."""
        self._doubles = {
            (file.device, file.inode): file for file in files if file not in self._hopeless
        }
        if self._doubles:
            self._wake.set()

    async def run(self, after_compare: Callable[[], Awaitable[None]]) -> None:
        """Work through the queue until cancelled."""
        self.is_running = True
        self._is_ending.clear()
        await self._take_up()
        async with asyncio.TaskGroup() as tasks:
            watching = tasks.create_task(self._watch())
            try:
                with _reader() as thread:
                    number = await _in(thread, quiet_reading.step_back)
                    await quiet_reading.step_back_at_the_disk(number)
                    await self._loop(thread, after_compare)
            finally:
                self._is_ending.set()
                self._may_read.set()
                self.is_running = False
                watching.cancel()

    async def _loop(
        self, thread: ThreadPoolExecutor, after_compare: Callable[[], Awaitable[None]]
    ) -> None:
        while True:
            job = next((one for one in self._jobs if one.state is CheckState.QUEUED), None)
            if job is not None:
                await self._work(job, thread)
            elif self._doubles:
                await self._hash_one(thread)
                if not self._doubles:
                    await after_compare()
            else:
                self._wake.clear()
                await self._wake.wait()

    async def _take_up(self) -> None:
        """Go on with what the last service left."""
        try:
            kept = await asyncio.to_thread(read_json, self._models / QUEUE, _Queue)
        except StudioError:
            return  # it costs a check that somebody can ask for again
        for one in kept.checks if kept is not None else ():
            model = await self._find(one.path)
            if model is not None:
                self._jobs.append(_Job(model.entry.name, one.path, one.begun_at_s))

    async def _watch(self) -> None:
        """Let the reader wait while somebody else needs the machine."""
        while True:
            if self._current is None and not self._doubles:
                await self._wake.wait()  # nothing is read, so nobody has to wait
            self._regard(self._current)
            await asyncio.sleep(_LOOK_S)

    def _regard(self, job: _Job | None) -> None:
        """Let the reader wait or go on, as an engine needs it now."""
        is_busy = self.is_running and self._is_busy()
        if is_busy:
            self._may_read.clear()
        else:
            self._may_read.set()
        if job is not None and job.state in (CheckState.RUNNING, CheckState.WAITING):
            job.state = CheckState.WAITING if is_busy else CheckState.RUNNING
            self._on_change()

    async def _work(self, job: _Job, thread: ThreadPoolExecutor) -> None:
        self._current = job
        try:
            model = await self._find(job.path)
            if model is None or job.is_dropped:
                self._jobs = [one for one in self._jobs if one is not job]
                return
            job.state = CheckState.RUNNING
            self._regard(job)
            await _in(thread, functools.partial(self._check, job, model))
            job.state = CheckState.DONE
        except Stopped:
            return
        except StudioError as error:
            job.error, job.state = error, CheckState.FAILED
        finally:
            self._current = None
        self._forget_old()
        await self._save()
        self._on_change()

    def _check(self, job: _Job, model: Model) -> None:
        """Read what was not read since the check began, and keep what came of it. In a thread."""
        files = checking.files_of(model)
        job.total = sum(file.size or 0 for file in files)
        try:
            read = self._read_all(job, model, files)
        finally:
            self._digests.flush()
        came = checking.outcome(model, read)
        write_checked(model.place, self._models, came.checked)
        if came.proof is not None:
            proof.write_proof(model.place, self._models, came.proof)
        if came.checked.result.damaged:
            names = ", ".join(came.checked.result.damaged[:3])
            raise Damaged(
                "model-files-damaged",
                f"{model.entry.name} is damaged: {names}.",
                hint="Remove it and fetch it again; `weir models show` lists every file.",
            )

    def _read_all(
        self, job: _Job, model: Model, files: list[File]
    ) -> dict[tuple[int, int], Digest]:
        read: dict[tuple[int, int], Digest] = {}
        for file in files:
            with_git = checking.wants_git(model, file)
            known = self._digests.get(file)
            if known is not None and known.at_s >= job.begun_at_s:
                job.done += file.size or 0
                read[file.device, file.inode] = known
                continue
            digest = self._read(file, job, with_git=with_git)
            if digest is not None:
                read[file.device, file.inode] = digest
        return read

    def _read(self, file: File, job: _Job, *, with_git: bool) -> Digest | None:
        def gate() -> None:
            self._gate()
            if job.is_dropped:
                raise Stopped

        try:
            return self._digest(file, gate, job.read, with_git=with_git)
        except (OSError, quiet_reading.Written):
            return None

    async def _hash_one(self, thread: ThreadPoolExecutor) -> None:
        key, file = next(iter(self._doubles.items()))
        self._regard(None)
        try:
            await _in(thread, lambda: self._digest(file, self._compare_gate, lambda _count: None))
        except (OSError, quiet_reading.Written, HostLacks):
            self._hopeless.add(file)  # it went, may not be read, or is written all the time
        except Stopped:
            return  # somebody asked for a check: that goes first
        self._doubles.pop(key, None)
        if not self._doubles:
            with contextlib.suppress(HostLacks):
                await asyncio.to_thread(self._digests.flush)

    def _digest(
        self,
        file: File,
        gate: Callable[[], None],
        on_bytes: Callable[[int], None],
        *,
        with_git: bool = False,
    ) -> Digest:
        read = quiet_reading.content(
            Path(file.path), with_git=with_git, gate=gate, on_bytes=on_bytes
        )
        digest = Digest(
            size_bytes=read.size,
            modified_ns=read.modified_ns,
            sha256=read.sha256,
            git_blob=read.git_blob,
            at_s=time.time(),
        )
        self._digests.put(file, digest)
        return digest

    def _gate(self) -> None:
        """Wait while an engine needs the machine. Raises: Stopped when the service ends."""
        while not self._may_read.wait(_LOOK_S):
            if self._is_ending.is_set():
                raise Stopped
        if self._is_ending.is_set():
            raise Stopped

    def _compare_gate(self) -> None:
        self._gate()
        if any(job.state is CheckState.QUEUED for job in self._jobs):
            raise Stopped

    def _forget_old(self) -> None:
        over = [job for job in self._jobs if job.state not in _LIVE]
        for job in over[:-_MOST_OVER]:
            self._jobs.remove(job)

    async def _save(self) -> None:
        if not self.is_running:
            return
        queue = _Queue(
            checks=tuple(
                _Kept(path=job.path, begun_at_s=job.begun_at_s)
                for job in self._jobs
                if job.state in _LIVE
            )
        )
        await asyncio.to_thread(write_json, self._models / QUEUE, queue)


@contextlib.contextmanager
def _reader() -> Iterator[ThreadPoolExecutor]:
    thread = ThreadPoolExecutor(1, thread_name_prefix="weir-check")
    try:
        yield thread
    finally:
        thread.shutdown(wait=False)


async def _in(thread: ThreadPoolExecutor, work: Callable[[], T]) -> T:
    return await asyncio.get_running_loop().run_in_executor(thread, work)
