"""Which CPython a runtime stands on: the recipe's own archive, else one of this machine.

The archive comes from its project, from the mirrors of the network policy, from the mirror in
`WEIR_PYTHON_MIRROR` (an address or folder in place of the project's download root, or a plain
folder that holds the file) or from the Studio's download folder, where it may have been put by
hand. Its sha256 decides in every case.
"""

import asyncio
import json
import os
import shutil
import sys
import urllib.parse
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from studio.domain.errors import HostLacks, NetworkFailure
from studio.domain.manifests import Archive, RuntimeRecipe
from studio.host import download, hashing, network, system_name, tools
from studio.host.meter import Meter
from studio.host.paths import Paths
from studio.runtimes import probing

MIRROR = "WEIR_PYTHON_MIRROR"
PROJECT_ROOT = "https://github.com/astral-sh/python-build-standalone/releases/download"
_HOST_BUILD = "host "
_ARCHIVE_BUILD = "cpython-"
_TRIPLE_END = "-install_only"
_PROBE_TIMEOUT_S = 30.0
_LEAST_AT_ONCE = 2
"""Programs asked at a time: one that does not answer must not hold up all others."""
_NEEDED = frozenset(("ssl", "sqlite3", "pyexpat", "ctypes", "zlib", "venv"))


class Chosen(msgspec.Struct, frozen=True, kw_only=True):
    """The interpreter to use; one of `archive` and `executable` is set, or it is in the store."""

    build: str
    """Equal for equal builds on any machine."""
    words: str
    archive: Path | None = None
    executable: Path | None = None


class HostPython(msgspec.Struct, frozen=True, kw_only=True):
    """What probe.py says of an interpreter on this machine."""

    version: str
    implementation: str
    machine: str
    system: str
    build: str
    soabi: str | None = None
    executable: str
    base: str
    is_venv: bool
    lacking: tuple[str, ...] = ()


def host_platform() -> str:
    """Return this machine's key in recipes, for example `linux-x86_64`."""
    return f"{system_name.system()}-{system_name.machine()}".lower()


async def choose(
    recipe: RuntimeRecipe,
    paths: Paths,
    meter: Meter,
    *,
    is_stocked: Callable[[str], bool] | None = None,
) -> Chosen:
    """Return the interpreter, fetched if need be: not when `is_stocked` says it has its build.

    Raises: NetworkFailure (`interpreter-unreachable`), Damaged (`download-hash`), HostLacks.
    """
    archive = _archive_here(recipe)
    failure: NetworkFailure | None = None
    if archive is not None and is_stocked is not None and is_stocked(_archive_build(archive)):
        return _chosen(archive, None)
    if archive is not None:
        try:
            return await _from_archive(archive, paths, meter)
        except NetworkFailure as error:
            failure = error
    meter.begin(f"Looking for Python {recipe.interpreter.series} on this machine")
    found = await find_on_host(recipe.interpreter.series, paths)
    if found is not None:
        return _from_host(found)
    raise _nothing_found(recipe, archive, paths, failure)


async def same(build: str, recipe: RuntimeRecipe, paths: Paths, meter: Meter) -> Chosen | None:
    """Return the interpreter of a certain build, fetched if need be; None when it is no more.

    Raises: NetworkFailure (`interpreter-unreachable`), Damaged (`download-hash`), HostLacks.
    """
    if not build.startswith(_HOST_BUILD):
        archives = [a for a in recipe.interpreter.archives if build == _archive_build(a)]
        return await _from_archive(archives[0], paths, meter) if archives else None
    meter.begin(f"Looking for Python {recipe.interpreter.series} on this machine")
    script = tools.tool_file(paths, "probe.py")
    for candidate in candidates(recipe.interpreter.series):
        found = await _ask(candidate, script)
        if found is not None and _suits(found, recipe.interpreter.series):
            chosen = _from_host(found)
            if chosen.build == build:
                return chosen
    return None


async def find_on_host(series: str, paths: Paths) -> HostPython | None:
    """Return the newest suitable interpreter of this machine, or None.

    Of equal ones the first found wins, and the Studio's own is looked at first. All are asked at
    once: a launcher of a version manager takes longer than the interpreters themselves.
    """
    script = tools.tool_file(paths, "probe.py")
    best: HostPython | None = None
    seen: set[str] = set()
    for found in await _ask_all(list(candidates(series)), script):
        if found is None or found.executable in seen:
            continue
        seen.add(found.executable)
        if _suits(found, series) and (best is None or _order(found) > _order(best)):
            best = found
    return best


def candidates(series: str, environ: Mapping[str, str] = os.environ) -> Iterator[Path]:
    """Yield programs that may be a CPython of `series`, each file once."""
    home = Path(environ.get("HOME") or Path.home())
    own = getattr(sys, "_base_executable", None)
    names = [Path(own)] if own and not getattr(sys, "frozen", False) else []
    folders = [*environ.get("PATH", os.defpath).split(os.pathsep), "/usr/local/bin", "/usr/bin"]
    names += [Path(folder, f"python{series}") for folder in folders if folder]
    for root, pattern in (
        (Path(environ.get("PYENV_ROOT") or home / ".pyenv") / "versions", f"{series}.*"),
        (home / ".local" / "share" / "uv" / "python", f"cpython-{series}.*"),
    ):
        names += sorted(root.glob(f"{pattern}/bin/python{series}"), reverse=True)
    seen: set[Path] = set()
    for name in names:
        if shutil.which(name) is not None and (real := name.resolve()) not in seen:
            seen.add(real)
            yield name


async def _ask_all(programs: Sequence[Path], script: Path) -> list[HostPython | None]:
    """Return what each program says of itself, in their order; some are asked at a time."""
    turn = asyncio.Semaphore(max(_LEAST_AT_ONCE, hashing.cores()))

    async def ask(program: Path) -> HostPython | None:
        async with turn:
            return await _ask(program, script)

    async with asyncio.TaskGroup() as group:
        asked = [group.create_task(ask(program)) for program in programs]
    return [task.result() for task in asked]


async def _ask(candidate: Path, script: Path) -> HostPython | None:
    try:
        result = await tools.run_tool(candidate, script, (), timeout_s=_PROBE_TIMEOUT_S)
    except (HostLacks, OSError):
        return None
    if result.exit_code != 0 or not result.tail:
        return None
    try:
        return msgspec.json.decode(result.tail[-1], type=HostPython)
    except msgspec.DecodeError:
        return None


def _suits(found: HostPython, series: str) -> bool:
    return (
        found.implementation == "cpython"
        and found.version.startswith(f"{series}.")
        and f"{found.system}-{found.machine}".lower() == host_platform()
        and not found.is_venv
        and not _NEEDED & set(found.lacking)
    )


def _order(found: HostPython) -> tuple[int, ...]:
    return tuple(int(part) for part in found.version.split(".") if part.isdigit())


def _from_host(found: HostPython) -> Chosen:
    return Chosen(
        build=f"{_HOST_BUILD}{found.implementation} {found.soabi} {' '.join(found.build.split())}",
        words=f"CPython {found.version} of this machine ({found.executable})",
        executable=Path(found.executable),
    )


async def _from_archive(archive: Archive, paths: Paths, meter: Meter) -> Chosen:
    target = paths.downloads / _file_name(archive)
    meter.begin(f"Fetching CPython {archive.version}", total=archive.bytes, unit="bytes")
    policy = network.in_force(paths)
    first, *others = addresses(archive)
    wanted = download.Wanted(
        url=first, mirrors=tuple(others), sha256=archive.sha256, bytes=archive.bytes
    )

    said = f"Fetching CPython {archive.version}"
    reached = 0

    def on_progress(now: download.Progress) -> None:
        nonlocal reached
        if now.done < reached:  # begun anew: what was counted before is gone
            meter.begin(said, total=now.total, unit="bytes")
        reached = now.done
        meter.note(now.note or next(reversed(now.warnings), said))
        meter.reach(now.done, total=now.total)

    await download.fetch(wanted, target, policy=policy, on_progress=on_progress)
    return _chosen(archive, target)


def _chosen(archive: Archive, file: Path | None) -> Chosen:
    return Chosen(
        build=_archive_build(archive),
        words=f"CPython {archive.version}, build {archive.release} of python-build-standalone",
        archive=file,
    )


def archive_build(recipe: RuntimeRecipe) -> str | None:
    """Return the build of the recipe's own interpreter for this machine, or None."""
    archive = _archive_here(recipe)
    return _archive_build(archive) if archive is not None else None


def is_of_host(build: str) -> bool:
    """Tell whether a build is an interpreter of the machine and came out of no archive."""
    return not build.startswith(_ARCHIVE_BUILD)


def _archive_here(recipe: RuntimeRecipe) -> Archive | None:
    return next((a for a in recipe.interpreter.archives if a.platform == host_platform()), None)


def _archive_build(archive: Archive) -> str:
    name = _file_name(archive)
    triple = name.partition("+")[2].partition("-")[2].partition(_TRIPLE_END)[0]
    return f"{_ARCHIVE_BUILD}{archive.version}+{archive.release}-{triple}"


def addresses(archive: Archive, environ: Mapping[str, str] = os.environ) -> list[str]:
    """Return where to look for an archive, in order."""
    mirror = environ.get(MIRROR, "").strip().rstrip("/")
    if not mirror:
        return [archive.url]
    name = _file_name(archive)
    is_remote = "://" in mirror and not mirror.startswith("file:")
    shown = urllib.parse.quote(name) if "://" in mirror else name
    below = archive.url.removeprefix(PROJECT_ROOT + "/")
    nested = f"{mirror}/{below}" if is_remote else f"{mirror}/{archive.release}/{shown}"
    return [nested, f"{mirror}/{shown}"]


def _file_name(archive: Archive) -> str:
    return urllib.parse.unquote(archive.url.rpartition("/")[2])


def _nothing_found(
    recipe: RuntimeRecipe, archive: Archive | None, paths: Paths, failure: NetworkFailure | None
) -> NetworkFailure | HostLacks:
    series = recipe.interpreter.series
    if archive is None:
        return HostLacks(
            "interpreter-missing",
            f"{recipe.title} needs a CPython {series} with ssl and venv; this machine has none.",
            hint=f"Install CPython {series} and run it again.",
        )
    reason = f" ({failure.message})" if failure is not None else ""
    return NetworkFailure(
        "interpreter-unreachable",
        f"CPython {series} can be had neither from its project{reason} nor on this machine.",
        hint=f"Put the file {_file_name(archive)} (sha256 {archive.sha256}) into "
        f"{paths.downloads}, or set {MIRROR} to a folder that holds it, or install CPython "
        f"{series}; then run it again.",
        evidence=failure.evidence if failure is not None else (),
        data={
            "name": _file_name(archive),
            "folder": str(paths.downloads),
            "bytes": archive.bytes,
            "sha256": archive.sha256,
            "url": archive.url,
        },
    )


def probe_question(recipe: RuntimeRecipe) -> str:
    """Return what probe.py is asked about a finished runtime."""
    question = {"imports": list(recipe.probe.imports), "versions": list(recipe.probe.versions)}
    return json.dumps({**question, **probing.question(recipe)})
