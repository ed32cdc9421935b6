"""The one queue of what is fetched: what somebody waits for first, then models one by one.

A download that was running when the service ended, however it ended, goes on at its next start; one
that a person paused stays paused. While a runtime is fetched, or the model of `weir up`, the others
leave the line to it (app/urgent). Without a service the list is the one that was left; a model that
is asked for is then fetched here and now. Called on the service's event loop.
"""

import asyncio
import os
import uuid
from collections.abc import Awaitable, Callable, Mapping

import msgspec

from studio.app import download_book
from studio.app.download_book import Book, Kept
from studio.app.urgent import Urgent
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
from studio.domain.errors import BadInput, Busy, ErrorInfo, NotFound, StudioError
from studio.domain.events import DownloadsChanged, Event, StageProgress
from studio.host import network
from studio.host.paths import Paths
from studio.host.transfer.progress import Progress
from studio.host.transfer.throttle import Throttle
from studio.hub import get as hub_get
from studio.hub import whoami
from studio.hub.access import Access
from studio.hub.whoami import Account

_PUBLISH_S = 0.25
_LEAST_LIMIT = 16 << 10
_MOST_LIMIT = 100_000_000_000
_HUB_WAIT_S = 330.0
"""Hugging Face counts requests over five minutes, and says how long to wait."""
_MOST_DONE = 20
"""How many that are done the list shows."""
_WAITING = (DownloadState.QUEUED, DownloadState.RUNNING, DownloadState.PAUSED)


class _Job:
    def __init__(
        self, id_: str, request: GetRequest, state: DownloadState, *, is_first: bool = False
    ) -> None:
        self.id = id_
        self.request = request
        self.state = state
        self.is_first = is_first
        self.is_here = False
        """Fetched by a command without a service: nothing of it is kept in the book."""
        self.progress: Progress | None = None
        self.error: StudioError | None = None
        self.failed: ErrorInfo | None = None
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
            error=self.failed,
            result=self.result,
            is_first=self.is_first,
        )

    def fail(self, error: StudioError) -> None:
        self.error, self.failed, self.state = error, error.info, DownloadState.FAILED

    def begin_again(self) -> None:
        self.error = self.failed = None
        self.state = DownloadState.QUEUED
        self.ended.clear()

    def kept(self) -> Kept:
        return Kept(
            id=self.id, request=self.request, state=self.state, is_first=self.is_first,
            error=self.failed,
        )  # fmt: skip


class Downloads:
    """The queue of one home."""

    def __init__(
        self,
        paths: Paths,
        publish: Callable[[Event], None],
        environ: Mapping[str, str] = os.environ,
        on_fetched: Callable[[Fetched], Awaitable[None]] | None = None,
    ) -> None:
        """`on_fetched` hears of what has come, before anybody is told that it is done."""
        self._on_fetched = on_fetched
        self._paths = paths
        self._publish = publish
        self._environ = environ
        self._throttle = Throttle()
        self._jobs: list[_Job] = []
        self._urgent = Urgent()
        self._wake = asyncio.Event()
        self._is_changed = False
        self._is_running = False
        self._is_read = False
        self._reading = asyncio.Lock()
        self._writing = asyncio.Lock()
        self._written: Book | None = None

    async def run(self) -> None:
        """Take up what was left, and fetch one model after another until cancelled."""
        self._is_running = True
        await self._ready()
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
        if job is None or not self._is_running:
            job = _Job(uuid.uuid4().hex[:8], request, DownloadState.QUEUED)
            self._jobs.append(job)
        if first:
            job.is_first = True
            self._move_first(job)
        if not self._is_running:
            job.is_here = True
            await self._work(job)
        else:
            if job.state is DownloadState.PAUSED:
                job.state = DownloadState.QUEUED
            if first:
                self._make_way(job)
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
                job.begin_again()
            case DownloadDeed.CANCEL:
                self._stop(job, DownloadState.FAILED)
                self._jobs.remove(job)
                job.ended.set()
            case DownloadDeed.FIRST if job.state in _WAITING:
                self._move_first(job)
                self._make_way(job)
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
        self._throttle.limit(request.bytes_per_s)
        await self._save()
        return self.listed()

    async def list(self) -> DownloadList:
        """Return the queue; without a service, the one that was left."""
        await self._ready()
        return self.listed()

    def listed(self) -> DownloadList:
        """Return the queue as far as it is known here."""
        return DownloadList(
            downloads=(*self._urgent.infos(), *(job.info() for job in self._jobs)),
            limit_bytes_per_s=self._throttle.bytes_per_s,
            is_held=self._urgent.is_any and any(job.state in _WAITING for job in self._jobs),
            is_at_work=self._is_running,
        )

    async def login(self, request: LoginRequest) -> LoginInfo:
        """Keep a hub's token when the hub knows it, or forget it; say whose it is.

        A token that cannot be proven now, because the hub does not answer, is kept too.

        Raises: BadInput (`hub-token`, `hub-token-refused`), HostLacks.
        """
        access, hub = await self._access(), request.hub
        if request.token is None:
            return await asyncio.to_thread(access.keep_token, hub, None)
        token = access.given(hub, request.token)
        found = await whoami.account(access, hub, token)
        info = await asyncio.to_thread(access.keep_token, hub, token.text)
        return _of(info, found, given=token.source)

    async def login_state(self, hub: HubName) -> LoginInfo:
        """Return which token a hub gets and whose it is, without the token.

        Raises: BadInput (`hub-token`, `hub-token-refused`), HostLacks.
        """
        access = await self._access()
        token = await asyncio.to_thread(access.token, hub)
        info = LoginInfo(hub=hub, endpoint=access.endpoint(hub))
        if token is None:
            return info
        info = msgspec.structs.replace(info, source=token.source)
        return _of(info, await whoami.account(access, hub, token), given=token.source)

    def heard(self, event: Event) -> None:
        """Let models wait while what somebody waits for is being fetched."""
        if isinstance(event, StageProgress):
            now = asyncio.get_running_loop().time()
            if self._urgent.hear(event, now):
                self._hold()

    def _hold(self) -> None:
        self._throttle.hold(is_held=self._urgent.is_any)
        self._is_changed = True

    def _move_first(self, job: _Job) -> None:
        self._jobs.remove(job)
        self._jobs.insert(0, job)

    def _make_way(self, job: _Job) -> None:
        """Put back what runs in place of a download that comes first."""
        if job.state is not DownloadState.QUEUED:
            return
        for other in self._jobs:
            if other is not job and other.state is DownloadState.RUNNING:
                self._stop(other, DownloadState.QUEUED)

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
            if self._on_fetched is not None:
                await self._on_fetched(job.result)
            job.state = DownloadState.DONE
        except StudioError as error:
            job.fail(error)
        try:
            await self._save()
        finally:
            job.ended.set()  # also when cancelled meanwhile: somebody waits

    async def _ready(self) -> None:
        """Take up what was left, once: nobody adds to the queue before."""
        async with self._reading:
            if self._is_read:
                return
            book = await asyncio.to_thread(download_book.read, self._paths)
            self._throttle.limit(book.limit_bytes_per_s)
            self._jobs = [_again(kept) for kept in book.jobs]
            self._written = book
            self._is_read = True

    async def _access(self) -> Access:
        policy = await asyncio.to_thread(network.in_force, self._paths, self._environ)
        wait_most_s = max(policy.wait_most_s, _HUB_WAIT_S)
        policy = msgspec.structs.replace(policy, wait_most_s=wait_most_s)
        return Access(paths=self._paths, policy=policy, environ=self._environ)

    async def _announce(self) -> None:
        """Tell of changes, at most four times a second."""
        while True:
            await asyncio.sleep(_PUBLISH_S)
            if self._urgent.forget_quiet(asyncio.get_running_loop().time()):
                self._hold()
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
        """Write down what has to go on after a restart, and forget the oldest that are done."""
        self._is_changed = True
        done = [job for job in self._jobs if job.state is DownloadState.DONE]
        for job in done[: max(0, len(done) - _MOST_DONE)]:
            self._jobs.remove(job)
        kept = (job for job in self._jobs if job not in done and not job.is_here)
        book = Book(
            jobs=tuple(job.kept() for job in kept),
            limit_bytes_per_s=self._throttle.bytes_per_s,
        )
        async with self._writing:
            if book != self._written:
                await asyncio.to_thread(download_book.write, self._paths, book)
                self._written = book


def _again(kept: Kept) -> _Job:
    is_running = kept.state is DownloadState.RUNNING
    state = DownloadState.QUEUED if is_running else kept.state
    job = _Job(kept.id, kept.request, state, is_first=kept.is_first)
    job.failed = kept.error
    return job


def _of(info: LoginInfo, found: Account, *, given: str) -> LoginInfo:
    """Return a login with what its hub says, and with what is used in place of what was given."""
    note = found.note
    if info.source is not None and info.source != given:
        note = f"{info.source} is set too, and is used in its place."
    return msgspec.structs.replace(info, account=found.name, role=found.role, note=note)
