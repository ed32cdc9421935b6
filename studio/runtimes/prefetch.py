"""Large wheels by our own downloader, before uv is asked for the rest.

uv fetches a wheel that was cut off from its beginning; `host/download.py` goes on where it was. So
the wheels of the missing pins that are large are looked up where uv would look, fetched into a
folder of the installation under the names they have, and given to uv with an index of their own,
the first of all: uv still holds each against the lock. Whatever is odd about a wheel leaves it to
uv; nothing fails because of what is done here. When the packages are in the store the folder goes.
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
from studio.domain.manifests import RuntimeRecipe
from studio.host import download, package_index, uv_cache
from studio.host.download import Job, Progress, Wanted
from studio.host.files import from_os_error, sha256_file, write_atomic
from studio.host.meter import Meter
from studio.host.network import NetworkPolicy
from studio.host.paths import Paths
from studio.host.threads import in_thread
from studio.runtimes import folder as folders
from studio.runtimes import locks, sizes, wheels
from studio.runtimes.packages import extra_indexes

LARGE_BYTES = 8_000_000
"""A smaller wheel is fetched anew sooner than it is looked up."""
_LARGE_FILE = "large.lock"
_LOCAL_FILE = "fetched.lock"
_INDEX = "simple"
_FILE_NAME = re.compile(r"[A-Za-z0-9._+!]+(?:-[A-Za-z0-9._+!]+){4,5}\.whl")
_logger = logging.getLogger(__name__)


class Prefetched(msgspec.Struct, frozen=True, kw_only=True):
    """What uv installs from now: the requirements, and the folder of what is here already."""

    requirements: Path
    folders: tuple[Path, ...] = ()


def wheels_folder(paths: Paths, recipe: RuntimeRecipe) -> Path:
    """Return where the large wheels of an installation lie until it has them in the store."""
    return paths.cache / "wheels" / recipe.name


async def prefetch(
    recipe: RuntimeRecipe,
    paths: Paths,
    requirements: Path,
    root: Path,
    meter: Meter,
    *,
    policy: NetworkPolicy,
) -> Prefetched:
    """Fetch the large ones of the wheels that a file requires, as far as that can be done.

    `root` is the runtime's folder, whose interpreter decides which wheels fit.

    Raises: HostLacks (`disk-full`, `not-writable`) for the runtime's own folder.
    """
    target = wheels_folder(paths, recipe)
    fetched: dict[str, str] = {}
    if not policy.offline:
        try:
            work = _Prefetch(recipe, paths, requirements, root, meter, policy)
            fetched = await work.run(target)
        except StudioError as error:
            _logger.info("the large wheels are left to uv: %s", error.message)
        except OSError as error:
            _logger.info("the large wheels are left to uv: %s", from_os_error(error, target))
    is_of_use = functools.partial(_write_index, target, requirements, fetched)
    if not await in_thread(is_of_use):
        return Prefetched(requirements=requirements)
    return Prefetched(requirements=_localised(requirements, target, root), folders=(target,))


def forget(paths: Paths, recipe: RuntimeRecipe, root: Path) -> None:
    """Remove the wheels, whole or not, of an installation that has its packages in the store."""
    shutil.rmtree(wheels_folder(paths, recipe), ignore_errors=True)
    for name in (_LARGE_FILE, _LOCAL_FILE):
        for path in (root / name, *root.glob(f".{name}.*")):  # the second of a write cut off
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


def _localised(requirements: Path, folder: Path, root: Path) -> Path:
    """Return the requirements with those wheels asked for by version that are named by address."""
    text = requirements.read_text("utf-8")
    local = wheels.localised(text, [folder])
    if local.splitlines() == text.splitlines():
        return requirements
    target = root / _LOCAL_FILE
    write_atomic(target, local.encode())
    return target


class _Prefetch:
    """The large wheels of one installation."""

    def __init__(
        self,
        recipe: RuntimeRecipe,
        paths: Paths,
        requirements: Path,
        root: Path,
        meter: Meter,
        policy: NetworkPolicy,
    ) -> None:
        self._recipe = recipe
        self._paths = paths
        self._requirements = requirements
        self._root = root
        self._meter = meter
        self._policy = policy
        self._cache = paths.cache / "uv"

    async def run(self, target: Path) -> dict[str, str]:
        """Fetch what can be, and return its file names and sha256s; the rest is uv's."""
        text = self._requirements.read_text("utf-8")
        large = await in_thread(functools.partial(self._large, text))
        if not large:
            return {}
        self._meter.begin(f"Looking up {_wheels_text(len(large))}")
        wanted = _by_address(text, large) | await self._listed(text, large)
        jobs = [Job(wanted=one, target=target / name) for name, one in sorted(wanted.items())]
        if not jobs or not self._has_room(target, sum(large.values())):
            return {}
        return await self._fetch(jobs)

    def _large(self, text: str) -> dict[str, int]:
        """Return the size of each pin that is large and that neither uv nor a folder here has."""
        known = sizes.wheel_sizes(self._recipe, self._paths)
        large = {pin: known[pin] for pin in locks.pins(text) if known.get(pin, 0) >= LARGE_BYTES}
        held = uv_cache.fetched(self._cache, large.keys()) if large else set()
        return {pin: size for pin, size in large.items() if pin not in held}

    async def _listed(self, text: str, large: Mapping[str, int]) -> dict[str, Wanted]:
        """Return what the indexes list of the large pins, by file name."""
        pins = large.keys() - _addresses(text).keys()
        if not pins:
            return {}
        asked = self._root / _LARGE_FILE
        write_atomic(asked, locks.part(text, pins).encode())
        try:
            listed = await package_index.look_up(
                asked,
                self._root / folders.PYTHON,
                self._cache,
                policy=self._policy,
                extra_indexes=extra_indexes(self._recipe),
            )
        finally:
            asked.unlink(missing_ok=True)
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

    def _has_room(self, target: Path, wanted: int) -> bool:
        """Tell whether the wheels fit on the disk beside all that the installation writes.

        uv alone keeps no wheel: a disk on which an installation just fits is left to it.
        """
        target.mkdir(parents=True, exist_ok=True)
        here = sum(_allocated(path) for path in target.iterdir())
        free = shutil.disk_usage(target).free
        is_enough = free >= wanted - here + sizes.disk_bytes(self._recipe, self._paths)
        if not is_enough:
            _logger.info("the large wheels are left to uv: the disk has no room for both")
            shutil.rmtree(target, ignore_errors=True)
        return is_enough

    async def _fetch(self, jobs: list[Job]) -> dict[str, str]:
        """Fetch a set; a file that cannot be had goes out of it, and the others go on."""
        while jobs:
            begun = f"Fetching {_wheels_text(len(jobs))}"
            total = sum(job.wanted.bytes or 0 for job in jobs)
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


def _wheels_text(count: int) -> str:
    return f"{count} large {'wheel' if count == 1 else 'wheels'}"


def _allocated(path: Path) -> int:
    """Return what a file takes on the disk; a part has holes."""
    return path.stat().st_blocks * 512


def _addresses(text: str) -> dict[str, tuple[str, str]]:
    """Return address and sha256 of each pin that a lock names by its address."""
    found = {}
    for line in text.splitlines():
        written = wheels.address_of(line)
        if written is not None:
            for pin in locks.pins(line):
                found[pin] = written
    return found


def _by_address(text: str, large: Mapping[str, int]) -> dict[str, Wanted]:
    """Return the large wheels that need no looking up, by file name."""
    found = {}
    for pin, (url, sha256) in _addresses(text).items():
        name = _file_name(url)
        if pin in large and name is not None:
            found[name] = Wanted(url=url, sha256=sha256, bytes=large[pin])
    return found


def _file_name(url: str) -> str | None:
    """Return the name of a wheel on a network.

    None for one on this machine, which uv reads where it lies, and for what is no name of a wheel.
    """
    parts = urllib.parse.urlsplit(url)
    name = urllib.parse.unquote(parts.path.rpartition("/")[2])
    is_remote = parts.scheme in ("http", "https")
    return name if is_remote and _FILE_NAME.fullmatch(name) else None
