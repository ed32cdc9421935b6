"""Large wheels by our own downloader, before uv is asked for the rest.

uv fetches a wheel that was cut off from its beginning; `download.py` goes on where it was. So the
wheels of the missing pins that are large, as a table or their index says, are looked up where uv
would look, fetched into a folder under the names they have, and given to uv with an index of their
own, the first of all: uv still holds each against the lock. Whatever is odd about a wheel leaves it
to uv; nothing fails because of what is done here. When the packages are installed the folder goes.
"""

import functools
import logging
import re
import shutil
import urllib.parse
from collections.abc import Mapping
from pathlib import Path

import msgspec

from studio.domain.errors import HostLacks, StudioError
from studio.host import download, locks, package_index, uv, uv_cache
from studio.host.download import Job, Progress, Wanted
from studio.host.files import from_os_error, sha256_file, write_atomic
from studio.host.meter import Meter
from studio.host.network import NetworkPolicy
from studio.host.threads import in_thread

LARGE_BYTES = 8_000_000
"""A smaller wheel is fetched anew sooner than it is looked up."""
_LARGE_FILE = "large.lock"
_LOCAL_FILE = "fetched.lock"
_INDEX = "simple"
_FILE_NAME = re.compile(r"[A-Za-z0-9._+!]+(?:-[A-Za-z0-9._+!]+){4,5}\.whl")
_logger = logging.getLogger(__name__)


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """What is about to be installed, and where its large wheels lie until it is."""

    requirements: Path
    python: Path
    """The interpreter that decides which wheels fit."""
    folder: Path
    """Gets the wheels; a run that was killed goes on with what lies there."""
    work: Path
    """A folder of the installation's own, for two small files."""
    cache: Path
    """uv's cache: what it holds is not fetched."""
    sizes: Mapping[str, int] = {}
    """Bytes of wheels by their pin in plain form; those of others are asked of their index."""
    disk_bytes: int = 0
    """What the installation itself will write."""
    extra_indexes: tuple[str, ...] = ()


class Prefetched(msgspec.Struct, frozen=True, kw_only=True):
    """What uv installs from now: the requirements, and the folder of what is here already."""

    requirements: Path
    folders: tuple[Path, ...] = ()


async def prefetch(asked: Asked, meter: Meter, *, policy: NetworkPolicy) -> Prefetched:
    """Fetch the large ones of the wheels that a file requires, as far as that can be done.

    Raises: HostLacks (`disk-full`, `not-writable`) for the folder of the wheels.
    """
    fetched: dict[str, str] = {}
    if not policy.offline:
        try:
            fetched = await _Prefetch(asked, meter, policy).run()
        except StudioError as error:
            _logger.info("the large wheels are left to uv: %s", error.message)
        except OSError as error:
            failure = from_os_error(error, asked.folder)
            _logger.info("the large wheels are left to uv: %s", failure)
    is_of_use = functools.partial(_write_index, asked.folder, asked.requirements, fetched)
    if not await in_thread(is_of_use):
        return Prefetched(requirements=asked.requirements)
    return Prefetched(requirements=_localised(asked), folders=(asked.folder,))


def forget(folder: Path, work: Path) -> None:
    """Remove the wheels, whole or not, of an installation that has its packages."""
    shutil.rmtree(folder, ignore_errors=True)
    for name in (_LARGE_FILE, _LOCAL_FILE, package_index.ANSWER_FILE):
        for path in (work / name, *work.glob(f".{name}.*")):  # the second of a write cut off
            path.unlink(missing_ok=True)


def _write_index(folder: Path, requirements: Path, known: Mapping[str, str]) -> bool:
    """List the wheels of a folder as an index does (PEP 503); False when there is none.

    `known` says what was just verified. Any other wheel came before a kill, and is read.
    """
    hashes = locks.hashes(requirements.read_text("utf-8"))
    shutil.rmtree(folder / _INDEX, ignore_errors=True)
    listed = False
    for wheel in sorted(folder.glob("*.whl")):
        name, version = wheel.name.split("-")[:2]
        pin = locks.plain(f"{name}=={version}")
        sha256 = known.get(wheel.name) or sha256_file(wheel)
        if f"sha256:{sha256}" not in hashes.get(pin, ()):
            wheel.unlink()  # of another lock
            continue
        address = f"../../{urllib.parse.quote(wheel.name)}#sha256={sha256}"
        page = f'<!DOCTYPE html><html><body><a href="{address}">{wheel.name}</a></body></html>'
        write_atomic(folder / _INDEX / pin.partition("==")[0] / "index.html", page.encode())
        listed = True
    return listed


def _localised(asked: Asked) -> Path:
    """Return the requirements with those wheels asked for by version that are named by address."""
    text = asked.requirements.read_text("utf-8")
    local = locks.localised(text, [asked.folder])
    if local.splitlines() == text.splitlines():
        return asked.requirements
    target = asked.work / _LOCAL_FILE
    write_atomic(target, local.encode())
    return target


class _Prefetch:
    """The large wheels of one installation."""

    def __init__(self, asked: Asked, meter: Meter, policy: NetworkPolicy) -> None:
        self._asked = asked
        self._meter = meter
        self._policy = policy

    async def run(self) -> dict[str, str]:
        """Fetch what can be, and return its file names and sha256s; the rest is uv's."""
        text = self._asked.requirements.read_text("utf-8")
        if uv.holds_all(self._policy.sources.folders, self._asked.requirements):
            return {}
        pins = await in_thread(functools.partial(self._perhaps_large, text))
        if not pins:
            return {}
        self._meter.begin("Looking up the large wheels")
        target = self._asked.folder
        found = self._by_address(text, pins) | await self._listed(text, pins)
        wanted = {
            name: one for name, one in found.items() if (one.bytes or LARGE_BYTES) >= LARGE_BYTES
        }
        jobs = [Job(wanted=one, target=target / name) for name, one in sorted(wanted.items())]
        said = sum(job.wanted.bytes or 0 for job in jobs)
        known = sum(self._asked.sizes.get(pin, 0) for pin in pins)
        if not jobs or not self._has_room(max(said, known)):
            return {}
        return await self._fetch(jobs)

    def _perhaps_large(self, text: str) -> set[str]:
        """Return the pins that are large, or of a size that is not known, and not in uv's cache."""
        sizes = self._asked.sizes
        pins = {pin for pin in locks.pins(text) if sizes.get(pin, LARGE_BYTES) >= LARGE_BYTES}
        folders = self._policy.sources.folders
        return pins - uv_cache.fetched(self._asked.cache, pins, folders) if pins else pins

    async def _listed(self, text: str, pins: set[str]) -> dict[str, Wanted]:
        """Return what the indexes list of some pins, by file name."""
        pins = pins - _addresses(text).keys()
        if not pins:
            return {}
        file = self._asked.work / _LARGE_FILE
        write_atomic(file, locks.part(text, pins).encode())
        try:
            listed = await package_index.look_up(
                file,
                self._asked.python,
                self._asked.cache,
                policy=self._policy,
                extra_indexes=self._asked.extra_indexes,
            )
        finally:
            file.unlink(missing_ok=True)
        hashes = locks.hashes(text)
        found: dict[str, Wanted] = {}
        for one in listed:
            pin = locks.plain(f"{one.name}=={one.version}")
            name = _file_name(one.url)
            if pin not in pins or name is None:
                continue
            if f"sha256:{one.sha256}" not in hashes.get(pin, ()):
                _logger.info("%s is left to uv: its index lists no sha256 of the lock", name)
                continue
            found[name] = Wanted(
                url=one.url.partition("#")[0],
                sha256=one.sha256,
                bytes=one.bytes,
                headers=one.headers,
            )
        return found

    def _by_address(self, text: str, pins: set[str]) -> dict[str, Wanted]:
        """Return the wheels that need no looking up, by file name."""
        found = {}
        for pin, (url, sha256) in _addresses(text).items():
            name = _file_name(url)
            if pin in pins and name is not None:
                found[name] = Wanted(url=url, sha256=sha256, bytes=self._asked.sizes.get(pin))
        return found

    def _has_room(self, whole: int) -> bool:
        """Tell whether the wheels fit on the disk beside all that the installation writes.

        uv alone keeps no wheel: a disk on which an installation just fits is left to it.
        """
        target = self._asked.folder
        target.mkdir(parents=True, exist_ok=True)
        here = sum(_allocated(path) for path in target.iterdir())
        free = shutil.disk_usage(target).free
        is_enough = free >= whole - here + self._asked.disk_bytes
        if not is_enough:
            _logger.info("the large wheels are left to uv: the disk has no room for both")
            shutil.rmtree(target, ignore_errors=True)
        return is_enough

    async def _fetch(self, jobs: list[Job]) -> dict[str, str]:
        """Fetch a set; a file that cannot be had goes out of it, and the others go on."""
        while jobs:
            begun = f"Fetching {len(jobs)} large {'wheel' if len(jobs) == 1 else 'wheels'}"
            sizes = [job.wanted.bytes for job in jobs if job.wanted.bytes is not None]
            total = sum(sizes) if len(sizes) == len(jobs) else None
            self._meter.begin(begun, total=total or None, unit="bytes")
            try:
                report = functools.partial(self._report, begun)
                await download.fetch_all(jobs, policy=self._policy, on_progress=report)
                break
            except HostLacks:
                shutil.rmtree(jobs[0].target.parent, True)  # uv needs the room more than a next run
                raise
            except StudioError as error:
                name = error.data.get("name")
                left = [job for job in jobs if job.target.name != name]
                if len(left) == len(jobs):
                    raise
                _logger.info("%s is left to uv: %s", name, error.message)
                jobs = left
        return {job.target.name: job.wanted.sha256 or "" for job in jobs}

    def _report(self, begun: str, progress: Progress) -> None:
        self._meter.note(progress.note or begun)
        self._meter.reach(progress.done, total=progress.total)


def _allocated(path: Path) -> int:
    """Return what a file takes on the disk; a part has holes."""
    return path.stat().st_blocks * 512


def _addresses(text: str) -> dict[str, tuple[str, str]]:
    """Return address and sha256 of each pin that a lock names by its address."""
    found = {}
    for line in text.splitlines():
        written = locks.address_of(line)
        if written is not None:
            for pin in locks.pins(line):
                found[pin] = written
    return found


def _file_name(url: str) -> str | None:
    """Return the name of a wheel on a network.

    None for one on this machine, which uv reads where it lies, and for what is no name of a wheel.
    """
    parts = urllib.parse.urlsplit(url)
    name = urllib.parse.unquote(parts.path.rpartition("/")[2])
    is_remote = parts.scheme in ("http", "https")
    return name if is_remote and _FILE_NAME.fullmatch(name) else None
