"""Files of a repository, whole and proven: what is here is not fetched, what was begun goes on.

Which commit a branch names is asked once and written down (`refs`); only `update` follows a branch
that has moved on. Small files come many at a time, large ones few, each over several connections.
"""

import asyncio
import functools
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path, PurePosixPath

import httpx
import msgspec

from studio.domain.downloads import Fetched, FetchedFile, GetRequest, HubName
from studio.domain.errors import BadInput, HostLacks, NetworkFailure
from studio.host import wsl
from studio.host.files import free_bytes, from_os_error, require_space
from studio.host.network import NetworkPolicy
from studio.host.tasks import beside, together
from studio.host.threads import in_own_loop
from studio.host.transfer.fetching import Fetching, is_light, is_whole, tidy
from studio.host.transfer.part import flush_files, flush_folder, part_of
from studio.host.transfer.progress import Progress, Tracker
from studio.host.transfer.throttle import Throttle
from studio.host.transfer.wanted import Wanted
from studio.hub import huggingface, modelscope, room
from studio.hub.access import Access
from studio.hub.asking import Asking, Subject, opened
from studio.hub.choose import chosen
from studio.hub.layout import Layout, locked
from studio.hub.names import require_apart
from studio.hub.repository import Repository, require_name, selected

_REPORT_S = 0.2
_SMALL_BYTES = 4 << 20
"""A file of this size is one request (transfer/session)."""
_SMALL_TOGETHER = 16
_LARGE_TOGETHER = 2
_LARGE_CONNECTIONS = 4
_FLUSH_TOGETHER = 8
_MOST_REVISION = 255
_HELD = "waits while something more urgent is fetched"
_HUBS = {HubName.HUGGING_FACE: huggingface, HubName.MODEL_SCOPE: modelscope}
OnProgress = Callable[[Progress], None]


async def get(
    request: GetRequest,
    access: Access,
    *,
    on_progress: OnProgress = lambda _progress: None,
    throttle: Throttle | None = None,
) -> Fetched:
    """Bring the files that are asked for; what is here already costs no byte of theirs.

    `on_progress` is called five times a second on the caller's loop. Cancelled, all that has come
    stays for the next run, as after a kill.

    Raises: BadInput (`model-name`, `model-revision`, `model-no-files`, `hub-endpoint`), what
    `Asking.get` raises, and what `studio.host.download.fetch` raises.
    """
    caller = asyncio.get_running_loop()

    def report(progress: Progress) -> None:
        caller.call_soon_threadsafe(on_progress, progress)

    return await in_own_loop(lambda: _get(request, access, report, throttle))


async def listed(request: GetRequest, access: Access) -> Repository:
    """Return what is asked for as its hub lists it; fetches nothing. Raises: as `get`."""
    hub = await chosen(request, access)
    async with opened(access, hub) as asking:
        repository, _newer = await _resolve(request, access, asking)
    files = selected(repository, request.include, request.exclude)
    return msgspec.structs.replace(repository, files=files)


async def _get(
    request: GetRequest, access: Access, report: OnProgress, throttle: Throttle | None
) -> Fetched:
    hub = await chosen(request, access)
    tracker = Tracker()
    loop = asyncio.get_running_loop()

    def note(text: str) -> None:
        tracker.note = text
        report(tracker.at(loop.time(), 0, None))

    try:
        async with opened(access, hub, note) as asking:
            repository, newer = await _resolve(request, access, asking)
            files = selected(repository, request.include, request.exclude)
            getting = _Getting(request, access, asking, repository, files, throttle)
            tracker.note = None
            try:
                await getting.run(tracker, report)
            except (HostLacks, OSError) as error:
                raise getting.failed(error) from error
    except OSError as error:
        place = Path(error.filename) if isinstance(error.filename, str) else access.cache(hub)
        raise from_os_error(error, place) from error
    return Fetched(
        repository=repository.id,
        hub=hub,
        asked=repository.asked,
        commit=repository.commit,
        folder=str(getting.folder),
        files=files,
        fetched_bytes=getting.fetched_bytes,
        newer_commit=newer,
    )


async def _resolve(
    request: GetRequest, access: Access, asking: Asking
) -> tuple[Repository, str | None]:
    """Return the repository at the commit that counts, and a newer one that the branch has."""
    name = require_name(request.repository)
    hub = _HUBS[asking.hub]
    revision = _revision(request.revision or hub.MAIN)
    layout = Layout(access.cache(asking.hub), name)
    kept = None if request.into is not None else layout.commit_of(revision)
    now = revision if kept == revision else await hub.commit(asking, name, revision)
    at = now if kept is None or request.update else kept
    return await hub.listed(asking, name, revision, at), (now if now != at else None)


def _revision(text: str) -> str:
    parts = PurePosixPath(text).parts
    is_bad = not parts or text.startswith(("/", "-")) or len(text) > _MOST_REVISION
    if is_bad or ".." in parts or not text.isprintable() or "\\" in text:
        raise BadInput(
            "model-revision",
            f"`{text[:100]}` is no revision.",
            hint="A revision is a branch, a tag or a commit of 40 hex digits.",
        )
    return text


class _Getting:
    """The files of one repository on their way."""

    def __init__(
        self,
        request: GetRequest,
        access: Access,
        asking: Asking,
        repository: Repository,
        files: Sequence[FetchedFile],
        throttle: Throttle | None,
    ) -> None:
        self._access = access
        self._asking = asking
        self._repository = repository
        self._files = files
        self._throttle = throttle
        self._layout = Layout(access.cache(asking.hub), repository.id)
        into = wsl.meant(request.into) if request.into is not None else None
        self._into = Path(into).expanduser() if into is not None else None
        self._active: list[Fetching] = []
        self._total = sum(file.bytes for file in files)
        self._done = 0
        self._large_together = _LARGE_TOGETHER
        self._unflushed: list[Path] = []
        self._note: str | None = None
        self._warnings: list[str] = []
        self.fetched_bytes = 0

    @property
    def folder(self) -> Path:
        """Return where the files are found."""
        return self._into or self._layout.snapshot(self._repository.commit)

    async def run(self, tracker: Tracker, report: OnProgress) -> None:
        """Bring all that is missing. Raises: StudioError, OSError."""
        missing = [file for file in self._files if not self._is_placed(file)]
        self._done = self._total - sum(file.bytes for file in missing)
        await asyncio.to_thread(self._prepare, missing)
        to_fetch = [file for file in missing if self._into or not self._is_blob_here(file)]
        if to_fetch:
            one = to_fetch[0]
            await self._asking.may_fetch(self._url(one), self._subject(one))

        async def tick() -> None:
            while True:
                report(self._now(tracker))
                await asyncio.sleep(_REPORT_S)

        await beside(lambda: self._bring_all(missing), tick)
        await self._settle(missing)
        report(self._now(tracker))

    def failed(self, error: HostLacks | OSError) -> HostLacks:
        """Return what ended it, a full disk with how much is missing."""
        if isinstance(error, OSError):
            place = Path(error.filename) if isinstance(error.filename, str) else self.folder
            error = from_os_error(error, place)
        return room.full(
            error,
            repository=self._repository.id,
            folder=self.folder,
            missing_bytes=max(0, self._total - self._done),
            free_bytes=_free_in(self.folder),
        )

    def _is_placed(self, file: FetchedFile) -> bool:
        if self._into is not None or not self._layout.is_here(self._repository.commit, file):
            return False
        return self._is_right(self._layout.pointer(self._repository.commit, file), file)

    def _is_blob_here(self, file: FetchedFile) -> bool:
        return self._layout.is_blob_here(file) and self._is_right(self._layout.blob(file), file)

    def _is_right(self, path: Path, file: FetchedFile) -> bool:
        """Look into a file that may have got its name before its bytes were on the disk."""
        wanted = self._wanted(file)
        return not is_light(wanted) or is_whole(path, wanted)

    def _prepare(self, missing: Sequence[FetchedFile]) -> None:
        """Look for room for everything and for a name for each, and make the folder."""
        self.folder.mkdir(parents=True, exist_ok=True)
        require_apart(
            (file.path for file in self._files),
            self.folder,
            self._repository.id,
            is_plain=self._into is not None,
        )
        needed = 0
        for file in missing:
            target = self._target(file)
            if not target.exists():
                needed += max(0, file.bytes - _taken(part_of(target)))
        require_space(self.folder, needed, f"What is missing of {self._repository.id}")

    def _target(self, file: FetchedFile) -> Path:
        if self._into is None:
            return self._layout.blob(file)
        return self._into.joinpath(*PurePosixPath(file.path).parts)

    def _url(self, file: FetchedFile) -> str:
        hub = _HUBS[self._asking.hub]
        commit = self._repository.commit
        return str(hub.file_url(self._asking, self._repository.id, commit, file.path))

    async def _settle(self, missing: Sequence[FetchedFile]) -> None:
        """Bring what came to the disk, its names too; only then a branch is said to be here.

        Several at a time: a file system writes its own journal once for all that wait for it.
        """
        shares = [self._unflushed[one::_FLUSH_TOGETHER] for one in range(_FLUSH_TOGETHER)]
        flushes = (functools.partial(flush_files, share) for share in shares if share)
        await together(functools.partial(asyncio.to_thread, flush) for flush in flushes)
        await asyncio.to_thread(self._settle_names, missing)

    def _settle_names(self, missing: Sequence[FetchedFile]) -> None:
        for folder in {self._target(file).parent for file in missing}:
            if folder.is_dir():  # where there are no links, nothing stays among the blobs
                flush_folder(folder)
        if self._into is None:
            self._layout.note_commit(self._repository.asked, self._repository.commit)

    async def _bring_all(self, missing: Sequence[FetchedFile]) -> None:
        """Bring files with a few workers: a repository may have tens of thousands of them."""
        small = [file for file in missing if file.bytes <= _SMALL_BYTES]
        large = [file for file in missing if file.bytes > _SMALL_BYTES]
        self._large_together = min(_LARGE_TOGETHER, max(1, len(large)))
        workers = min(_SMALL_TOGETHER, len(small))
        works = [functools.partial(self._bring_each, iter(small))] * workers
        works += [functools.partial(self._bring_each, iter(large))] * self._large_together
        await together(works)

    async def _bring_each(self, files: Iterator[FetchedFile]) -> None:
        async with self._asking.another_client() as client:
            for file in files:
                await self._bring(file, client)

    async def _bring(self, file: FetchedFile, client: httpx.AsyncClient) -> None:
        if self._into is not None:
            await self._fetch(file, client)
            self._note_unflushed(self._target(file), file)
            return
        async with locked(self._layout.lock(file), self._waits):
            self._note = None
            if not self._is_blob_here(file):
                await self._fetch(file, client)
            else:
                self._done += file.bytes
                tidy(self._layout.blob(file))
            self._layout.place(self._repository.commit, file)
            self._note_unflushed(self._layout.pointer(self._repository.commit, file), file)

    def _note_unflushed(self, path: Path, file: FetchedFile) -> None:
        if is_light(self._wanted(file)):
            self._unflushed.append(path)

    def _waits(self) -> None:
        self._note = "another program is fetching it; waiting for its end"

    async def _fetch(self, file: FetchedFile, client: httpx.AsyncClient) -> None:
        is_small = file.bytes <= _SMALL_BYTES
        fetching = Fetching(
            self._wanted(file), self._target(file), self._policy(file), self._throttle,
            together=2 * (_SMALL_TOGETHER if is_small else self._large_together),
        )  # fmt: skip
        self._active.append(fetching)
        try:
            await fetching.run(lambda: client)
            self.fetched_bytes += file.bytes
        except NetworkFailure:
            # A token that was revoked meanwhile is no matter of the network.
            await self._asking.hear_refusal(self._url(file), self._subject(file))
            raise
        finally:
            self._active.remove(fetching)
            self._done += fetching.done
            self._warnings += fetching.warnings

    def _wanted(self, file: FetchedFile) -> Wanted:
        return Wanted(
            url=self._url(file),
            sha256=file.sha256,
            git_blob=file.blob_id,
            bytes=file.bytes,
            headers=self._asking.headers,
        )

    def _subject(self, file: FetchedFile) -> Subject:
        found = self._repository
        return Subject(repository=found.id, revision=found.asked, file=file.path)

    def _policy(self, file: FetchedFile) -> NetworkPolicy:
        connections = 1 if file.bytes <= _SMALL_BYTES else _LARGE_CONNECTIONS
        most = min(connections, self._access.policy.connections)
        return msgspec.structs.replace(self._access.policy, connections=most)

    def _now(self, tracker: Tracker) -> Progress:
        notes = [one.note for one in self._active if one.note is not None]
        tracker.note = notes[-1] if notes else self._note
        if self._throttle is not None and self._throttle.is_held:
            tracker.note = _HELD
        active = [warning for one in self._active for warning in one.warnings]
        tracker.warnings = [*self._warnings, *active]
        done = self._done + sum(one.done for one in self._active)
        return tracker.at(asyncio.get_running_loop().time(), done, self._total)


def _free_in(folder: Path) -> int | None:
    try:
        return free_bytes(folder)
    except OSError:
        return None


def _taken(part: Path) -> int:
    try:
        return part.stat().st_blocks * 512
    except OSError:
        return 0
