"""The one queue of what is fetched: models one after another, runtimes before them.

A download that was running when the service ended, however it ended, goes on at its next start; one
that a person paused stays paused. While a runtime is fetched, models wait for the line: somebody
sits in front of the runtime. Called on the service's event loop.
"""

import asyncio
import os
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from studio.domain.downloads import (
    DownloadDeed,
    DownloadInfo,
    DownloadKind,
    DownloadList,
    DownloadState,
    Fetched,
    GetRequest,
    HubName,
    LimitRequest,
    LoginInfo,
    LoginRequest,
)
from studio.domain.errors import BadInput, Busy, NotFound, StudioError
from studio.domain.events import DownloadsChanged, Event, Stage, StageProgress, StageState
from studio.host import network
from studio.host.documents import read_json, write_json
from studio.host.paths import Paths
from studio.host.transfer.progress import Progress
from studio.host.transfer.throttle import Throttle
from studio.hub import get as hub_get
from studio.hub.access import Access

_PUBLISH_S = 0.25
_HOLD_S = 30.0
"""An installation that has said nothing for so long holds nobody up."""
_LEAST_LIMIT = 16 << 10
_MOST_LIMIT = 100_000_000_000
_WAITING = (DownloadState.QUEUED, DownloadState.RUNNING, DownloadState.PAUSED)


class _Kept(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    request: GetRequest
    state: DownloadState


class _Book(msgspec.Struct, frozen=True, kw_only=True):
    jobs: tuple[_Kept, ...] = ()
    limit_bytes_per_s: int | None = None


class _Job:
    def __init__(self, id_: str, request: GetRequest, state: DownloadState) -> None:
        self.id = id_
        self.request = request
        self.state = state
        self.progress: Progress | None = None
        self.error: StudioError | None = None
        self.result: Fetched | None = None
        self.task: asyncio.Task[None] | None = None
        self.ended = asyncio.Event()

    def info(self) -> DownloadInfo:
        now = self.progress or Progress(done=0)
        is_live = self.state is DownloadState.RUNNING
        return DownloadInfo(
            id=self.id,
            kind=DownloadKind.MODEL,
            title=self.request.repository,
            state=self.state,
            done_bytes=now.done if self.progress is not None else None,
            total_bytes=now.total,
            rate=now.rate if is_live else None,
            left_s=now.left_s if is_live else None,
            note=now.note if is_live else None,
            error=self.error.info if self.error is not None else None,
            result=self.result,
        )


class Downloads:
    """The queue of one home."""

    def __init__(
        self,
        paths: Paths,
        publish: Callable[[Event], None],
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        self._paths = paths
        self._publish = publish
        self._environ = environ
        self._throttle = Throttle()
        self._jobs: list[_Job] = []
        self._runtime: tuple[StageProgress, float] | None = None
        self._wake = asyncio.Event()
        self._is_changed = False
        self._is_running = False
        self._is_read = asyncio.Event()

    @property
    def _file(self) -> Path:
        return self._paths.home / "downloads.json"

    async def run(self) -> None:
        """Take up what was left, and fetch one model after another until cancelled."""
        self._is_running = True  # from now on whoever asks waits for what was left
        book = await asyncio.to_thread(read_json, self._file, _Book) or _Book()
        self._throttle.limit(book.limit_bytes_per_s)
        self._jobs = [*(_again(kept) for kept in book.jobs), *self._jobs]
        self._is_read.set()
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._announce())
            while True:
                job = next((one for one in self._jobs if one.state is DownloadState.QUEUED), None)
                if job is None:
                    self._wake.clear()
                    await self._wake.wait()
                    continue
                job.task = tasks.create_task(self._work(job))
                await asyncio.wait({job.task})

    async def get(self, request: GetRequest, *, first: bool = False) -> Fetched:
        """Queue a download and wait for its end; the same one is joined, not fetched twice.

        Whoever waits may go away: it stays in the queue. Without a running service it is fetched
        here and now.

        Raises: what `studio.hub.get.get` raises; Busy (`download-cancelled`).
        """
        await self._ready()
        job = next((j for j in self._jobs if j.request == request and j.state in _WAITING), None)
        if job is None:
            job = _Job(uuid.uuid4().hex[:8], request, DownloadState.QUEUED)
            self._jobs.insert(0 if first else len(self._jobs), job)
        if not self._is_running:
            await self._work(job)
        else:
            if job.state is DownloadState.PAUSED:
                job.state = DownloadState.QUEUED
            await self._save()
            self._wake.set()
            await job.ended.wait()
        if job.error is not None:
            raise job.error
        if job.result is None:
            raise Busy(
                "download-cancelled",
                f"The download of {request.repository} was cancelled.",
                hint="What has come stays; ask for it again to go on from there.",
            )
        return job.result

    async def change(self, reference: str, deed: DownloadDeed) -> DownloadList:
        """Pause, resume, cancel or move a download. Raises: NotFound (`download-unknown`)."""
        await self._ready()
        job = self._find(reference)
        match deed:
            case DownloadDeed.PAUSE if job.state in _WAITING:
                self._stop(job, DownloadState.PAUSED)
            case DownloadDeed.RESUME if job.state in (DownloadState.PAUSED, DownloadState.FAILED):
                job.error = None
                job.state = DownloadState.QUEUED
                job.ended.clear()
            case DownloadDeed.CANCEL:
                self._stop(job, DownloadState.FAILED)
                self._jobs.remove(job)
                job.ended.set()
            case DownloadDeed.FIRST:
                self._jobs.remove(job)
                self._jobs.insert(0, job)
                for other in self._jobs[1:]:
                    if other.state is DownloadState.RUNNING:
                        self._stop(other, DownloadState.QUEUED)
            case _:
                pass
        await self._save()
        self._wake.set()
        return self.listed()

    async def limit(self, request: LimitRequest) -> DownloadList:
        """Set the bandwidth of models, which holds at once. Raises: BadInput (`download-limit`)."""
        limit = request.bytes_per_s
        if limit is not None and not _LEAST_LIMIT <= limit <= _MOST_LIMIT:
            way = "low" if limit < _LEAST_LIMIT else "high"
            raise BadInput(
                "download-limit",
                f"A limit of {limit / 1e6:,.3g} MB a second is too {way}.",
                hint=f"It is at least {_LEAST_LIMIT:,} bytes a second, and at most "
                f"{_MOST_LIMIT:,}. `weir downloads pause` stops a download, "
                "`weir downloads limit off` takes the limit away.",
            )
        await self._ready()
        if not self._is_running:
            book = await asyncio.to_thread(read_json, self._file, _Book) or _Book()
            book = msgspec.structs.replace(book, limit_bytes_per_s=request.bytes_per_s)
            await asyncio.to_thread(write_json, self._file, book)
        self._throttle.limit(request.bytes_per_s)
        await self._save()
        return self.listed()

    def listed(self) -> DownloadList:
        """Return the queue."""
        runtimes = [_of_stage(self._runtime[0])] if self._runtime is not None else []
        return DownloadList(
            downloads=(*runtimes, *(job.info() for job in self._jobs)),
            limit_bytes_per_s=self._throttle.bytes_per_s,
            is_held=self._runtime is not None,
        )

    async def login(self, request: LoginRequest) -> LoginInfo:
        """Keep a hub's token, or forget it. Raises: BadInput (`hub-token`), HostLacks."""
        access = await self._access()
        return await asyncio.to_thread(access.keep_token, request.hub, request.token)

    async def login_state(self, hub: HubName) -> LoginInfo:
        """Return which token a hub gets, without the token."""
        access = await self._access()
        return await asyncio.to_thread(access.login, hub)

    def heard(self, event: Event) -> None:
        """Let models wait while a runtime is being fetched."""
        if isinstance(event, StageProgress) and event.stage is Stage.RUNTIME:
            is_busy = event.state is StageState.RUNNING
            now = asyncio.get_running_loop().time()
            self._hold((event, now) if is_busy else None)

    def _hold(self, runtime: tuple[StageProgress, float] | None) -> None:
        self._runtime = runtime
        self._throttle.hold(is_held=runtime is not None)
        self._is_changed = True

    async def _work(self, job: _Job) -> None:
        job.state = DownloadState.RUNNING
        await self._save()

        def on_progress(progress: Progress) -> None:
            job.progress = progress
            self._is_changed = True

        try:
            job.result = await hub_get.get(
                job.request, await self._access(), on_progress=on_progress, throttle=self._throttle
            )
            job.state = DownloadState.DONE
        except StudioError as error:
            job.error, job.state = error, DownloadState.FAILED
        await self._save()
        job.ended.set()

    async def _ready(self) -> None:
        if self._is_running:
            await self._is_read.wait()

    async def _access(self) -> Access:
        policy = await asyncio.to_thread(network.in_force, self._paths, self._environ)
        return Access(paths=self._paths, policy=policy, environ=self._environ)

    async def _announce(self) -> None:
        """Tell of changes, at most four times a second."""
        while True:
            await asyncio.sleep(_PUBLISH_S)
            now = asyncio.get_running_loop().time()
            if self._runtime is not None and now - self._runtime[1] > _HOLD_S:
                self._hold(None)
            if self._is_changed:
                self._is_changed = False
                self._publish(DownloadsChanged(downloads=self.listed()))

    def _stop(self, job: _Job, state: DownloadState) -> None:
        job.state = state
        if job.task is not None:
            job.task.cancel()

    def _find(self, reference: str) -> _Job:
        found = [one for one in self._jobs if reference in (one.id, one.request.repository)]
        if not found:
            raise NotFound(
                "download-unknown",
                f"There is no download `{reference}`.",
                hint="`weir downloads` lists them with their ids.",
            )
        return found[0]

    async def _save(self) -> None:
        """Write down what has to go on after a restart."""
        self._is_changed = True
        if not self._is_running:
            return
        jobs = tuple(
            _Kept(id=job.id, request=job.request, state=job.state)
            for job in self._jobs
            if job.state is not DownloadState.DONE
        )
        book = _Book(jobs=jobs, limit_bytes_per_s=self._throttle.bytes_per_s)
        await asyncio.to_thread(write_json, self._file, book)


def _again(kept: _Kept) -> _Job:
    is_running = kept.state is DownloadState.RUNNING
    return _Job(kept.id, kept.request, DownloadState.QUEUED if is_running else kept.state)


def _of_stage(progress: StageProgress) -> DownloadInfo:
    is_bytes = progress.unit == "bytes"
    done, total = progress.done, progress.total
    return DownloadInfo(
        id="runtime",
        kind=DownloadKind.RUNTIME,
        title=progress.title,
        state=DownloadState.RUNNING,
        done_bytes=int(done) if is_bytes and done is not None else None,
        total_bytes=int(total) if is_bytes and total is not None else None,
        rate=progress.rate if is_bytes else None,
        note=progress.note,
        can_change=False,
    )
