"""Updates of the Studio itself: looking, fetching and staging; `update_trial.py` takes them over.

Nothing is asked of the network unless a person asks, or has allowed a daily look. Nothing of a
release is used before its feed's signature and its own sha256 have been held against what is
known. A package of the system, an AppImage and a checkout are exchanged by whoever owns them.
"""

import asyncio
import contextlib
import functools
import logging
import shlex
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from studio import __version__
from studio.app import staging, update_feed
from studio.app.state_copies import StateCopies
from studio.app.update_feed import Found, Release
from studio.app.update_records import Failed, Ran, Records, Staged
from studio.app.update_watch import Watch
from studio.domain.errors import BadInput, Busy, Damaged, NotFound, StudioError
from studio.domain.self_update import (
    FEED_FILE,
    SIGNATURE_SUFFIX,
    Came,
    Feed,
    FeedPackage,
    UpdateApplyRequest,
    UpdateCheckRequest,
    UpdateState,
    UpdateStatus,
    is_look_due,
    is_newer,
)
from studio.host import (
    download,
    files,
    kept_versions,
    network,
    own_program,
    processes,
)
from studio.host.documents import read_json, write_json
from studio.host.network import NetworkPolicy
from studio.host.own_program import Installed
from studio.host.paths import Paths, bundled_root
from studio.host.transfer.wanted import Wanted

logger = logging.getLogger(__name__)

_LOOK_S = 600.0
_KINDS = {Came.RUN: "run", Came.DEB: "deb", Came.APPIMAGE: "appimage", Came.SETUP: "setup"}
_UNPACKED = 4
"""An unpacked package takes so many times its size (a .run of 2026-11: 55 MB, 190 MB)."""


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """`seen.json`: the newest feed that was ever believed, so that no older one is."""

    sequence: int = 0
    checked_at: float | None = None
    address: str | None = None


class SelfUpdate:
    """The updates of the program that runs, as one home knows them."""

    def __init__(
        self,
        paths: Paths,
        *,
        version: str = __version__,
        installed: Callable[[], Installed] = own_program.installed,
        release: Callable[[], Release] = lambda: update_feed.release(bundled_root()),
        policy: Callable[[Paths], NetworkPolicy] = network.in_force,
    ) -> None:
        self._paths = paths
        self._version = version
        self._installed = installed
        self._release = release
        self._policy = policy
        self._records = Records(paths)
        self._copies = StateCopies(paths)
        self._folder = self._records.folder
        self._fetched: int | None = None

    async def status(self) -> UpdateStatus:
        """Return where everything stands; asks nobody. Raises: HostLacks (`not-readable`)."""
        return await asyncio.to_thread(self._status)

    async def check(self, request: UpdateCheckRequest) -> UpdateStatus:
        """Look at the feed. Raises: Busy (`update-busy`), and what `update_feed.fetch` raises."""
        with self._alone():
            await self._look(request.source)
        return await self.status()

    async def get(self, request: UpdateCheckRequest) -> UpdateStatus:
        """Fetch the newest version, prove it, and lay it beside the present one.

        Raises: Busy (`update-busy`), BadInput (`update-by-git`, `update-too-old`), NotFound
        (`update-none`, `update-no-package`), Damaged, HostLacks, NetworkFailure, and what
        `staging.stage` raises.
        """
        with self._alone():
            found = await self._look(request.source)
            package = self._wanted(found.feed)
            path = await self._fetch(found, package)
            if kept_versions.are_kept(self._installed()):
                await self._stage(path, found.feed.version)
                # What was in it lies beside the present version.
                await asyncio.to_thread(_forget, path)
        return await self.status()

    async def apply(self, request: UpdateApplyRequest) -> UpdateStatus:
        """Let the staged version take over when the service starts next, or not.

        Raises: NotFound (`update-not-staged`), BadInput (`update-by-other-means`), Busy.
        """
        with self._alone():
            await asyncio.to_thread(self._want, wanted=request.wanted)
        return await self.status()

    async def rollback(self) -> UpdateStatus:
        """Let the version before take over when the service starts next.

        Raises: NotFound (`update-no-previous`), BadInput (`update-by-other-means`), Busy.
        """
        with self._alone():
            await asyncio.to_thread(self._go_back)
        return await self.status()

    async def run(self, is_allowed: Callable[[], bool]) -> None:
        """Look once a day while a person allows it; until cancelled."""
        tried_at = 0.0
        while True:
            await asyncio.sleep(_LOOK_S)
            now = time.time()
            if is_allowed() and is_look_due(now, self._seen().checked_at, tried_at):
                tried_at = now
                try:
                    await self.check(UpdateCheckRequest())
                except StudioError as error:
                    logger.info("no word of updates: %s", error.message)

    # -- looking and fetching --------------------------------------------------------------

    async def _look(self, source: str | None) -> Found:
        seen = self._seen()
        found = await update_feed.fetch(
            self._release(), source, self._policy(self._paths), seen=seen.sequence
        )
        await asyncio.to_thread(self._keep, found)
        return found

    def _keep(self, found: Found) -> None:
        files.make_private(self._folder)
        files.write_atomic(self._folder / FEED_FILE, found.raw, mode=0o600)
        sign = self._folder / f"{FEED_FILE}{SIGNATURE_SUFFIX}"
        files.write_atomic(sign, found.signature, mode=0o600)
        seen = Seen(sequence=found.feed.sequence, checked_at=time.time(), address=found.address)
        write_json(self._folder / "seen.json", seen, mode=0o600)

    def _wanted(self, feed: Feed) -> FeedPackage:
        came = self._installed().came
        if came not in _KINDS:
            raise BadInput(
                "update-by-git",
                f"This program is a {came.value}, which the Studio does not exchange.",
                hint=_command(came, None, None) or "Install a package instead.",
            )
        used = self._used(self._installed())
        if not is_newer(feed.version, used):
            raise NotFound(
                "update-none",
                f"Version {used} is the newest: the feed offers {feed.version}.",
            )
        if is_newer(feed.minimum_version, used):
            raise BadInput(
                "update-too-old",
                f"Version {feed.version} takes over from {feed.minimum_version} or newer; this is "
                f"{used}.",
                hint=f"Install version {feed.minimum_version} first.",
            )
        package = feed.package(_KINDS[came])
        if package is None:
            raise NotFound(
                "update-no-package",
                f"Version {feed.version} has no .{_KINDS[came]} for this machine.",
                hint="Look at the published files, and install another kind by hand.",
            )
        return package

    async def _fetch(self, found: Found, package: FeedPackage) -> Path:
        folder = self._folder / "packages"
        target = folder / package.file
        await asyncio.to_thread(self._tidy, folder, package.file)
        if not target.exists():
            files.require_space(folder, package.bytes * (1 + _UNPACKED), "This update")

        def heard(progress: download.Progress) -> None:
            self._fetched = int(progress.done)

        try:
            await download.fetch(
                Wanted(
                    url=found.address_of(package.file), sha256=package.sha256, bytes=package.bytes
                ),
                target,
                policy=self._policy(self._paths),
                on_progress=heard,
            )
        finally:
            self._fetched = None
        found_sha256 = await asyncio.to_thread(files.sha256_file, target)
        if found_sha256 != package.sha256:
            await asyncio.to_thread(functools.partial(target.unlink, missing_ok=True))
            raise Damaged(
                "update-package-damaged",
                f"{target.name} has changed on this disk: expected sha256 {package.sha256}, got "
                f"{found_sha256}.",
                hint="It was removed; `weir update get` fetches it again.",
            )
        return target

    def _tidy(self, folder: Path, kept: str) -> None:
        """Remove packages of other releases, and what a staging that was cut off unpacked."""
        files.make_private(folder)
        shutil.rmtree(self._folder / "unpacked", ignore_errors=True)
        for path in folder.iterdir():
            if path.is_file() and not path.name.startswith(kept):
                _forget(path)

    async def _stage(self, package: Path, version: str) -> None:
        """Let the package lay its version beside the present one, which tries it."""
        unpacked = self._folder / "unpacked"
        unpacked.mkdir(mode=0o700, exist_ok=True)
        try:
            await staging.stage(self._installed(), package, version, unpacked)
        finally:
            await asyncio.to_thread(functools.partial(shutil.rmtree, unpacked, ignore_errors=True))
        self._records.write(Staged(version=version))

    # -- taking over -----------------------------------------------------------------------

    def _want(self, *, wanted: bool) -> None:
        staged = self._records.staged()
        status = self._status()
        if staged is None:
            if status.command is not None and status.state is UpdateState.FETCHED:
                raise BadInput(
                    "update-by-other-means",
                    f"{status.file} is here and proven; the Studio does not install it itself.",
                    hint=status.command,
                )
            raise NotFound(
                "update-not-staged",
                "No other version lies here to take over.",
                hint="`weir update get` brings the newest.",
            )
        self._records.forget(Failed)
        if staged.is_rollback and not wanted:
            self._records.forget(Staged)  # else it would stand there as if it were the newer one
        else:
            self._records.write(msgspec.structs.replace(staged, wanted=wanted))

    def _go_back(self) -> None:
        installed = self._installed()
        previous = self._previous(installed)
        if not kept_versions.are_kept(installed):
            raise BadInput(
                "update-by-other-means",
                "Which version of this program is installed is not the Studio's to choose.",
                hint=_back_command(installed.came, self._ran()),
            )
        if previous is None:
            raise NotFound(
                "update-no-previous",
                "There is no version before this one on this machine.",
                hint="An older package can be installed by hand; its databases are put back.",
            )
        self._records.forget(Failed)
        self._records.write(Staged(version=previous, wanted=True, is_rollback=True))

    def _previous(self, installed: Installed) -> str | None:
        """Return the version that was in use before the one that is, and lies here.

        Where no service has noted one, as after a first installation over another by hand, it is
        the one that Windows' setup program has noted, or the newest of the older ones.
        """
        if not kept_versions.are_kept(installed):
            return None
        used = self._used(installed)
        ran = self._ran()
        name = None if ran is None else ran.previous if ran.version == used else ran.version
        if name not in (None, used) and kept_versions.has(installed, str(name)):
            return name
        return kept_versions.before(installed, used)

    def _used(self, installed: Installed) -> str:
        """Return the version that is started next: this one may run since before an update."""
        return kept_versions.current(installed) or self._version

    # -- what there is ---------------------------------------------------------------------

    def _status(self) -> UpdateStatus:
        installed, seen = self._installed(), self._seen()
        release = self._known_release()
        feed = self._last_feed(release)
        failed, ran = self._records.failed(), self._ran()
        used = self._used(installed)
        is_offered = feed is not None and is_newer(feed.version, used)
        offered = feed if is_offered else None
        package = offered.package(_KINDS.get(installed.came, "")) if offered is not None else None
        path = self._folder / "packages" / package.file if package is not None else None
        is_here = path is not None and path.is_file()
        previous = self._previous(installed)
        is_too_old = offered is not None and is_newer(offered.minimum_version, used)
        state = self._state(used, seen, offered, is_here=is_here)
        return UpdateStatus(
            version=self._version,
            came=installed.came,
            used=used,
            state=state,
            feed=seen.address or (release.feed or None if release is not None else None),
            checked_at=seen.checked_at,
            offered=offered.version if offered is not None else None,
            waiting=self._waiting(),
            minimum_version=offered.minimum_version if offered is not None and is_too_old else None,
            changes=offered.changes if offered is not None else (),
            file=str(path) if is_here else package.file if package is not None else None,
            bytes=package.bytes if package is not None else None,
            fetched_bytes=self._fetched,
            command=_command(installed.came, path if is_here else None, offered),
            previous=previous,
            previous_bytes=kept_versions.size_bytes(installed, previous),
            copies=self._copies.all(),
            service_version=self._service_version(),
            failed=failed.error if failed is not None else None,
            last_version=ran.version if ran is not None else None,
            ends=self._ends(used),
        )

    def _state(self, used: str, seen: Seen, offered: Feed | None, *, is_here: bool) -> UpdateState:
        staged = self._records.staged()
        if self._records.trial() is not None:
            return UpdateState.TRIAL
        if staged is not None and staged.version != used:
            return UpdateState.WAITING if staged.wanted else UpdateState.STAGED
        if offered is not None:
            is_by_hand = not kept_versions.are_kept(self._installed())
            return UpdateState.FETCHED if is_here and is_by_hand else UpdateState.OFFERED
        return UpdateState.NOT_CHECKED if seen.checked_at is None else UpdateState.NEWEST

    def _waiting(self) -> str | None:
        trial, staged = self._records.trial(), self._records.staged()
        if trial is not None:
            return trial.new
        return staged.version if staged is not None and staged.wanted else None

    def _last_feed(self, release: Release | None) -> Feed | None:
        """Return the feed that was believed last, held against its signature again."""
        try:
            raw = (self._folder / FEED_FILE).read_bytes()
            signature = (self._folder / f"{FEED_FILE}{SIGNATURE_SUFFIX}").read_bytes()
            signers = release.signers if release is not None else ()
            update_feed.require_signed(raw, signature, signers, FEED_FILE)
            return update_feed.parse(raw, FEED_FILE)
        except (OSError, Damaged):
            return None

    def _known_release(self) -> Release | None:
        try:
            return self._release()
        except StudioError:
            return None

    def _seen(self) -> Seen:
        with contextlib.suppress(StudioError):
            return read_json(self._folder / "seen.json", Seen) or Seen()
        return Seen()

    def _ran(self) -> Ran | None:
        return self._records.ran()

    def _ends(self, used: str) -> int | None:
        known = Watch(self._folder).now()
        return known.ends if known is not None and known.version == used else None

    def _service_version(self) -> str | None:
        with contextlib.suppress(StudioError):
            known = read_json(self._paths.service / "service.json", _Running)
            if known is not None and processes.started_at(known.pid) is not None:
                return known.version
        return None

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        files.make_private(self._folder)
        with files.exclusive(self._folder / "lock") as is_ours:
            if not is_ours:
                raise Busy(
                    "update-busy",
                    "Another process of the Studio is at an update.",
                    hint="Wait until it has ended; `weir update status` shows how far it is.",
                )
            yield


class _Running(msgspec.Struct, frozen=True, kw_only=True):
    """What is needed of `service/service.json`."""

    pid: int
    version: str


def _forget(package: Path) -> None:
    """Remove a package; one that is held, as by a virus scanner, goes with the next look."""
    with contextlib.suppress(PermissionError):
        package.unlink(missing_ok=True)


def _command(came: Came, package: Path | None, offered: Feed | None) -> str | None:
    """Return what a person types where the Studio does not exchange the program itself."""
    if came is Came.CHECKOUT:
        return "git pull && make deps"
    if package is None or offered is None:
        return None
    if came is Came.DEB:
        return f"sudo apt install {shlex.quote(str(package))}"
    if came is Came.APPIMAGE:
        return f'install -m 755 {shlex.quote(str(package))} "$APPIMAGE"'
    return None


def _back_command(came: Came, ran: Ran | None) -> str:
    previous = ran.previous if ran is not None else None
    if came is Came.DEB:
        # By its file: a folder of apt's holds the newest alone.
        return (
            f"sudo apt install --allow-downgrades ./weir-studio_{previous or 'VERSION'}_amd64.deb"
        )
    if came is Came.CHECKOUT:
        return "git checkout TAG && make deps"
    return "Put the older file in its place."
