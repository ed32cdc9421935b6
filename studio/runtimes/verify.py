"""Compares a runtime with the list of its files: a sample on each start, every byte on demand.

Bytecode is told apart: Python may compile it anew at any time, and a repair does. Times are no
evidence, they only say where to look: a copied or synced home has others.
"""

import asyncio
import functools
import hashlib
import os
import random
import stat
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, TypeVar

from studio.domain.errors import Damaged, StudioError
from studio.domain.events import Stage
from studio.domain.integrity import Difference, DifferenceKind, Verdict
from studio.domain.manifests import InstalledRuntime
from studio.host.hashing import Hashed, Wanted, hash_file, hash_files
from studio.host.meter import Meter, Report
from studio.host.paths import Paths
from studio.host.progress import followed
from studio.host.threads import in_thread
from studio.runtimes import folder as folders
from studio.runtimes import manifest as manifests
from studio.runtimes import relocate, survey
from studio.runtimes.manifest import (
    BYTECODE,
    EXECUTABLE,
    LINK,
    LISTING,
    NOTE,
    PLACED,
    SUSPECT,
    Entry,
    Manifest,
    Reader,
)

T = TypeVar("T")

SAMPLE_BLOCKS = 1
_HASH_BUDGET_S = 0.02
"""How long a start may read files whose time differs; the rest is left to later starts."""
_TICK_S = 0.2


class Finding(NamedTuple):
    """One difference; `entry` is None for a file that nobody installed."""

    path: str
    kind: DifferenceKind
    entry: Entry | None = None


class Examination(NamedTuple):
    """All that differs, and how much was looked at."""

    findings: list[Finding]
    bytecode: list[Entry]
    files: int
    bytes: int


async def verify(paths: Paths, runtime: InstalledRuntime, *, full: bool, report: Report) -> Verdict:
    """Say what of `runtime` is not as installed; some 10 ms, or with `full` all of its bytes.

    Raises: HostLacks (`not-readable`).
    """
    began = time.perf_counter()
    root = folders.folder_of(paths, runtime)
    try:
        if full:
            found = await _examine_reporting(runtime, root, report)
        else:
            found = await in_thread(functools.partial(sample, root))
    except Damaged:
        found = _only(manifests.MANIFEST_FILE, DifferenceKind.CHANGED)
    is_known = found is not None
    if found is None:
        # Older runtimes have no list. A start goes on; who asks for certainty is told.
        missing = _only(manifests.MANIFEST_FILE, DifferenceKind.MISSING)
        found = missing if full else Examination([], [], 0, 0)
    return Verdict(
        runtime=runtime.name,
        runtime_id=runtime.runtime_id,
        is_full=full,
        is_known=is_known,
        files=found.files,
        bytes=found.bytes,
        seconds=time.perf_counter() - began,
        differences=tuple(
            Difference(path=_shown(finding.path), kind=finding.kind) for finding in found.findings
        ),
        bytecode=len(found.bytecode),
    )


def sample(root: Path) -> Examination | None:
    """Look at the vital files and some others of a runtime folder; None without a manifest.

    Raises: Damaged (`manifest-damaged`), HostLacks (`not-readable`).
    """
    with manifests.opened(root) as reader:
        return look(root, reader) if reader is not None else None


def look(root: Path, reader: Reader, *, choice: random.Random | None = None) -> Examination:
    """Compare a sample of an open manifest with the runtime folder `root`.

    Raises: as `sample`.
    """
    header = reader.header
    entries = reader.entries(_sampled_blocks(reader, choice or random.SystemRandom()))
    result = Examination([], [], len(entries), 0)
    if Path(header.root) != root:
        result.findings.append(Finding(survey.TREE, DifferenceKind.MOVED))
    result.findings.extend(Finding(p, DifferenceKind.SUSPECT) for p in header.suspects)
    deadline = time.perf_counter() + _HASH_BUDGET_S
    for entry in entries:
        kind = _look(root, entry, deadline)
        if kind is None:
            continue
        if entry.has(BYTECODE):
            result.bytecode.append(entry)
        else:
            result.findings.append(Finding(entry.path, kind, entry))
    return result


def examine(
    root: Path, manifest: Manifest, *, on_bytes: Callable[[int], None] | None = None
) -> Examination:
    """Read everything in a runtime folder and return what differs from `manifest`."""
    seen = survey.walk(root, with_sizes=False, past_locked=True)
    files = [entry for entry in manifest.entries if not entry.has(LINK)]
    hashed = hash_files(
        [Wanted(f"{root}/{entry.path}", entry.size) for entry in files], on_bytes=on_bytes
    )
    findings, bytecode = [], []
    for entry, now in zip(files, hashed, strict=True):
        kind = compare(entry, now, root, Path(manifest.root))
        if kind is not None and entry.has(BYTECODE):
            bytecode.append(entry)
        elif kind is not None:
            findings.append(Finding(entry.path, kind, entry))
    findings += [
        Finding(entry.path, kind, entry)
        for entry in manifest.entries
        if entry.has(LINK) and (kind := _compare_link(entry, seen.get(entry.path))) is not None
    ]
    known = {entry.path for entry in manifest.entries}
    findings += [Finding(p, DifferenceKind.EXTRA) for p in _extras(seen, known)]
    findings.sort(key=lambda finding: finding.path)
    read = sum(now.size for now in hashed if now is not None)
    return Examination(findings, bytecode, len(manifest.entries), read)


def compare(entry: Entry, now: Hashed | None, root: Path, old_root: Path) -> DifferenceKind | None:
    """Return how a file that was just read differs from its entry."""
    if now is None:
        return DifferenceKind.MISSING
    if entry.has(NOTE):
        return None
    if now.sha256 is None:
        return DifferenceKind.CHANGED
    if entry.has(PLACED) or entry.has(LISTING):
        kind = _compare_form(entry, root, old_root)
    else:
        kind = None if now.sha256 == entry.digest else DifferenceKind.CHANGED
    if kind is None and now.is_executable != entry.has(EXECUTABLE):
        return DifferenceKind.MODE
    if kind is None and entry.has(SUSPECT):
        return DifferenceKind.SUSPECT
    return kind


def _compare_form(entry: Entry, root: Path, old_root: Path) -> DifferenceKind | None:
    content = (root / entry.path).read_bytes()
    for place, kind in ((root, None), (old_root, DifferenceKind.MOVED)):
        form = form_of(entry, content, place)
        if form is not None and hashlib.sha256(form).digest() == entry.digest:
            return kind
    return DifferenceKind.CHANGED


def form_of(entry: Entry, content: bytes, place: Path) -> bytes | None:
    """Return what an entry's digest is taken of, for a file made for a runtime in `place`."""
    if entry.has(PLACED):
        return relocate.general(content, place)
    return relocate.listing(content) if entry.has(LISTING) else content


def _compare_link(entry: Entry, now: survey.Seen | None) -> DifferenceKind | None:
    if now is None:
        return DifferenceKind.MISSING
    if now.link is None or os.fsencode(now.link) != entry.digest:
        return DifferenceKind.CHANGED
    return None


def _extras(seen: dict[str, survey.Seen], known: set[str]) -> list[str]:
    """Return what nobody installed. Bytecode beside a source that belongs here is Python's own."""
    extras = []
    for path in seen:
        if path in known or survey.is_note(path):
            continue
        folder, cached, name = path.rpartition("/__pycache__/")
        if cached and f"{folder}/{name.partition('.')[0]}.py" in known:
            continue
        extras.append(path)
    return extras


def _look(root: Path, entry: Entry, deadline: float) -> DifferenceKind | None:
    """Look at one file without reading it, unless its time differs and time is left."""
    path = f"{root}/{entry.path}"
    try:
        now = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return DifferenceKind.MISSING
    except OSError:
        return DifferenceKind.CHANGED
    if entry.has(LINK):
        is_link = stat.S_ISLNK(now.st_mode)
        return _compare_link(entry, survey.Seen(0, str(Path(path).readlink())) if is_link else None)
    if not stat.S_ISREG(now.st_mode):
        return DifferenceKind.CHANGED
    if entry.flags & (NOTE | PLACED | LISTING):
        return None  # what differs from place to place may differ in size
    if now.st_size != entry.size:
        return DifferenceKind.CHANGED
    if bool(now.st_mode & 0o100) != entry.has(EXECUTABLE):
        return DifferenceKind.MODE
    left_s = deadline - time.perf_counter()
    if now.st_mtime_ns == entry.mtime_ns or entry.size > _largest_in(left_s):
        return None
    return compare(entry, hash_file(path), root, root)


def _largest_in(seconds: float) -> float:
    """Return how many bytes can surely be read and hashed in a time, on a slow machine."""
    return seconds * 100e6


def _sampled_blocks(reader: Reader, choice: random.Random) -> list[int]:
    vital = reader.header.vital_blocks
    others = range(vital, len(reader.header.blocks))
    return [*range(vital), *choice.sample(others, min(SAMPLE_BLOCKS, len(others)))]


async def _examine_reporting(
    runtime: InstalledRuntime, root: Path, report: Report
) -> Examination | None:
    manifest = await in_thread(functools.partial(manifests.read, root))
    if manifest is None:
        return None
    meter = Meter(Stage.RUNTIME, f"Verifying {runtime.name}", report)
    try:
        found = await examine_reporting(root, manifest, meter)
    except StudioError as error:
        meter.fail(error.message)
        raise
    count = len(found.findings)
    meter.finish(f"{count} of {found.files} files differ" if count else "Every file is whole")
    return found


async def examine_reporting(root: Path, manifest: Manifest, meter: Meter) -> Examination:
    """Do `examine` off the event loop, and tell the meter on it how far it is.

    A cancelled caller waits for the files that are being read, not for all.
    """
    total = sum(entry.size for entry in manifest.entries)
    meter.begin("Reading every file", total=total, unit="bytes")
    return await followed(
        lambda progress: examine(root, manifest, on_bytes=progress.add),
        lambda read: meter.reach(min(read, total)),
    )


async def ticking(work: Callable[[], T], on_tick: Callable[[], None]) -> T:
    """Do `work` off the event loop, and call `on_tick` on it five times a second meanwhile."""
    try:
        async with asyncio.TaskGroup() as tasks:
            task = tasks.create_task(in_thread(work))
            while not task.done():
                await asyncio.wait({task}, timeout=_TICK_S)
                on_tick()
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None  # callers catch errors of the system by their kind
    return task.result()


def _only(path: str, kind: DifferenceKind) -> Examination:
    return Examination([Finding(path, kind)], [], 0, 0)


def _shown(path: str) -> str:
    """Return a path as text that can be sent: a stray file's name may be no UTF-8."""
    return os.fsencode(path).decode("utf-8", "replace")
