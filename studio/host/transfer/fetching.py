"""One file from its sources in order: waits its turn, goes on where it was, blames who lies."""

import asyncio
import contextlib
import functools
import os
import stat
from collections.abc import Callable
from pathlib import Path

import httpx
import msgspec

from studio.host.files import from_os_error, require_space, sha256_file
from studio.host.network import NetworkPolicy, redacted
from studio.host.tasks import beside
from studio.host.threads import in_thread
from studio.host.transfer.digest import DigestKind, Follower, git_blob_of
from studio.host.transfer.faults import Fault, Kind
from studio.host.transfer.part import (
    LIGHT_BYTES,
    RECORD_EVERY_BYTES,
    PartFile,
    journal_of,
    part_of,
)
from studio.host.transfer.session import Budget, Session
from studio.host.transfer.source import Source
from studio.host.transfer.throttle import Throttle
from studio.host.transfer.wanted import Failure, Wanted, local_path, switched_off, unreachable

_LOCK_LOOK_S = 0.1
_CHUNK = 1 << 20


class Fetching:
    """One file on its way. `done`, `total`, `note` and `warnings` may be read meanwhile."""

    def __init__(
        self,
        wanted: Wanted,
        target: Path,
        policy: NetworkPolicy,
        throttle: Throttle | None = None,
        *,
        together: int = 1,
    ) -> None:
        """`throttle` is what it shares a bandwidth limit with, `together` how many files come."""
        digest = wanted.sha256.lower() if wanted.sha256 is not None else None
        self._wanted = msgspec.structs.replace(wanted, sha256=digest)
        self._target = target
        self._policy = policy
        self._throttle = throttle
        self._is_alone = together == 1
        self._is_light = is_light(wanted) and not self._is_alone
        self._record_every = RECORD_EVERY_BYTES // together
        self._budget = Budget(policy.most_tries)
        self._part: PartFile | None = None
        self._done = 0
        self._total = wanted.bytes
        self._note: tuple[str, int] | None = None
        self.warnings: list[str] = []

    @property
    def done(self) -> int:
        """Return how many bytes are here."""
        return self._part.present if self._part is not None else self._done

    @property
    def total(self) -> int | None:
        """Return the size of the file, or None while not known."""
        return self._part.size if self._part is not None else self._total

    @property
    def note(self) -> str | None:
        """Return what is unusual right now; bytes that come put an end to it."""
        if self._note is None or self.done > self._note[1]:
            return None
        return self._note[0]

    def say(self, note: str) -> None:
        """Say what is unusual right now."""
        self._note = (note, self.done)

    async def run(self, client: Callable[[], httpx.AsyncClient]) -> None:
        """Bring the file, unless it is here.

        Raises: NetworkFailure, Damaged, HostLacks as `studio.host.download.fetch`.
        """
        part_path = part_of(self._target)
        try:
            if await self._is_here():
                tidy(self._target)
                return
            _require_folder(self._target.parent)
            part = await self._take_turn(part_path)
            try:
                if not await self._is_here():
                    self._part = part
                    await self._bring(part, client)
            finally:
                if self._part is not None:
                    self._done, self._total, self._part = part.present, part.size, None
                part.close()
        except OSError as error:
            raise from_os_error(error, part_path) from error

    async def _is_here(self) -> bool:
        """Return whether the file is whole already; also how one that was put there is found."""
        size = _size_of(self._target)
        if size is None or self._wanted.bytes not in (None, size):
            return False
        if not await in_thread(functools.partial(is_whole, self._target, self._wanted)):
            return False
        self._done = self._total = size
        return True

    async def _take_turn(self, path: Path) -> PartFile:
        """Return the part as soon as nobody else holds it."""
        while (part := PartFile.try_open(path, is_light=self._is_light)) is None:
            self.say("another process is fetching it; waiting for its end")
            await asyncio.sleep(_LOCK_LOOK_S)
        self._note = None
        part.record_every_bytes = self._record_every
        return part

    async def _bring(self, part: PartFile, client: Callable[[], httpx.AsyncClient]) -> None:
        addresses = self._wanted.addresses(self._policy)
        if not addresses:
            raise switched_off(self._wanted, self._target, self._policy)
        sources = {address: _digest(address) for address in addresses}
        part.resume(
            sha256=self._wanted.digest,
            size=self._wanted.bytes,
            sources=set(sources.values()),
        )
        if self._wanted.digest is None:
            # Bytes of two sources are never joined unless a digest will tell.
            addresses = tuple(sorted(addresses, key=lambda a: sources[a] not in part.contributors))
        failures: list[Failure] = []
        for address in addresses:
            fault = await self._try(address, part, client, is_last=address == addresses[-1])
            if fault is None:
                publish = functools.partial(part.publish, is_alone=self._is_alone)
                if self._is_light:
                    publish(self._target)
                else:
                    await in_thread(functools.partial(publish, self._target))
                return
            failures.append(Failure(shown=redacted(address), fault=fault))
            if address != addresses[-1]:
                self.warnings.append(f"{failures[-1].text} Trying the next source.")
        raise unreachable(self._wanted, self._target, failures)

    async def _try(
        self,
        address: str,
        part: PartFile,
        client: Callable[[], httpx.AsyncClient],
        *,
        is_last: bool,
    ) -> Fault | None:
        """Ask one source; None when the file is whole and right.

        Wrong bytes are its fault only when all of them are its own, of this run: else they go, and
        it is asked once more for everything.
        """
        digest = _digest(address)
        while True:
            if self._wanted.digest is None and part.contributors - {digest}:
                part.reset(size=self._wanted.bytes)
            is_mixed = part.present > 0
            try:
                found = await self._whole(address, part, client, is_last=is_last)
            except Fault as fault:
                return fault
            if self._wanted.digest in (None, found):
                return None
            part.reset(size=self._wanted.bytes)
            if not is_mixed:
                return Fault(_mismatch(self._wanted, found), kind=Kind.WRONG)
            self.say("what was here before did not fit; beginning anew")

    async def _whole(
        self,
        address: str,
        part: PartFile,
        client: Callable[[], httpx.AsyncClient],
        *,
        is_last: bool,
    ) -> str:
        """Bring every byte, and return the digest of the whole (see `Wanted.digest`)."""
        follower = Follower(part, kind=_kind_of(self._wanted))
        local = local_path(address)
        if local is not None:
            await beside(lambda: self._copy(local, part), follower.follow)
        elif not part.is_complete:
            session = Session(
                Source(address, client(), self._policy, self._headers(address)),
                part,
                self._policy,
                name=self._target.name,
                expected=self._wanted.bytes,
                is_pinned=self._wanted.digest is not None,
                is_last=is_last,
                budget=self._budget,
                on_note=self.say,
                on_size=lambda: self._make_room(part),
                throttle=self._throttle,
            )
            await self._run(session, part, follower)
        return await follower.finish() if self._wanted.digest is not None else ""

    async def _run(self, session: Session, part: PartFile, follower: Follower) -> None:
        if self._is_light:  # there is room for it, and nothing to follow
            await session.run()
            return
        self._require_space(part)
        await beside(session.run, follower.follow)

    def _headers(self, address: str) -> dict[str, str]:
        return self._wanted.headers if address == self._wanted.url else {}

    def _make_room(self, part: PartFile) -> None:
        """Take the room that the rest needs, where it can be had at once; else only look."""
        self._require_space(part)
        part.reserve()

    def _require_space(self, part: PartFile) -> None:
        """Raise HostLacks (`disk-space`) when the rest does not fit."""
        needed = part.unwritten_bytes
        if needed:
            require_space(self._target.parent, needed, f"The rest of {self._target.name}")

    async def _copy(self, local: Path, part: PartFile) -> None:
        """Copy a file of this machine: from a stick, a share, a mirror's folder."""
        try:
            file = local.open("rb")
        except OSError as error:
            raise Fault(_unreadable(local, error)) from error
        with file:
            size = os.fstat(file.fileno()).st_size
            if self._wanted.bytes not in (None, size):
                words = f"it has {size:,} bytes, {self._wanted.bytes:,} are expected"
                raise Fault(words, kind=Kind.WRONG)
            part.reset(size=size)
            part.comes_from(_digest(str(local)), None)
            self._require_space(part)
            at = 0
            while data := self._read(file.read, local):
                part.write(at, data)
                at += len(data)
                await asyncio.sleep(0)
        part.expect(at)

    def _read(self, read: Callable[[int], bytes], local: Path) -> bytes:
        try:
            return read(_CHUNK)
        except OSError as error:
            raise Fault(_unreadable(local, error)) from error


def tidy(target: Path) -> None:
    """Remove what is left of the unfinished form of a file that is here, unless it is in use.

    The file may have come another way, or a kill may have hit right after it got its name.
    """
    part_path = part_of(target)
    with contextlib.suppress(OSError):
        if not part_path.is_file():
            journal_of(part_path).unlink(missing_ok=True)
        elif (part := PartFile.try_open(part_path)) is not None:
            part.discard()
            part.close()


def is_light(wanted: Wanted) -> bool:
    """Return whether a file is so small that it comes without a journal and unflushed."""
    return wanted.digest is not None and wanted.bytes is not None and wanted.bytes <= LIGHT_BYTES


def is_whole(path: Path, wanted: Wanted) -> bool:
    """Return whether a file of that name is here and right, as far as can be told."""
    if not path.is_file():
        return False
    if wanted.bytes is not None and path.stat().st_size != wanted.bytes:
        return False
    if wanted.sha256 is None and wanted.git_blob is not None:
        return f"git:{git_blob_of(path)}" == wanted.digest
    return wanted.sha256 is None or sha256_file(path) == wanted.sha256


def _size_of(path: Path) -> int | None:
    """Return the size of a file; None: there is none."""
    try:
        found = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return found.st_size if stat.S_ISREG(found.st_mode) else None


def _require_folder(path: Path) -> None:
    if not path.is_dir():
        path.mkdir(parents=True, exist_ok=True)


def _kind_of(wanted: Wanted) -> DigestKind | None:
    if wanted.digest is None:
        return None
    return DigestKind.SHA256 if wanted.sha256 is not None else DigestKind.GIT_BLOB


def _mismatch(wanted: Wanted, found: str) -> str:
    name = "sha256" if wanted.sha256 is not None else "git blob"
    expected = str(wanted.digest).removeprefix("git:")
    return f"expected {name} {expected[:12]}…, found {found.removeprefix('git:')[:12]}…"


def _digest(address: str) -> str:
    return Source.digest_of(address)


def _unreadable(local: Path, error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return f"there is no such file {local}"
    return f"{local} cannot be read: {error.strerror or error}"
