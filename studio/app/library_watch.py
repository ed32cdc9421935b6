"""Notices what others do to the folders of models: files that come, go or are written.

By looking, and not by inotify: that hears nothing of network disks and of WSL's foreign ones, and
wants a watch for each folder. How often is decided by what a look costs, so that all looks together
stay below a thousandth of one processor, however many models there are. A folder's time of change
tells of names that come and go, a file's size and time of what was written in place; the latter are
many more, and are looked at on their own, more seldom where they are many.
"""

import asyncio
import dataclasses
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from studio.app.library_scan import Scanner
from studio.domain.library import RootState
from studio.models.shelf import Scan

_LEAST_S = 2.0
_MOST_S = 300.0
_SHARE = 0.0004
"""Of one processor, for each of the two kinds of look."""
_WALL_SHARE = 0.05
"""Of the time, on disks that answer slowly."""
_SCAN_SHARE = 0.05
"""Of the time, for scans while something changes all the time."""

Seen = tuple[Path, int, int | None]
"""A place, its time of change and, of a file, its size; zero and None: nothing is there."""


@dataclasses.dataclass(frozen=True, slots=True)
class Cost:
    """What a look took."""

    cpu_s: float
    wall_s: float


class Lane:
    """Places that are looked at together, and when next."""

    def __init__(self, places: Iterable[Seen], now: float) -> None:
        self._places = tuple(places)
        self.due = now + _LEAST_S

    def is_changed(self) -> bool:
        """Look; tell whether anything is not as it was. Blocks."""
        return any(_now(path, size) != (at, size) for path, at, size in self._places)

    def wait(self, cost: Cost, now: float) -> None:
        """Decide when to look again."""
        self.due = now + pause_s(cost)


async def watch(
    scanner: Scanner, is_heard: Callable[[], bool], announce: Callable[[], None]
) -> None:
    """Scan anew when something was changed, and announce what is another library. Never ends."""
    watched: Scan | None = None
    lanes: tuple[Lane, ...] = ()
    pause, told = _LEAST_S, 1  # whoever asked for the first scan has its answer
    while True:
        await asyncio.sleep(pause)
        pause = _LEAST_S
        if scanner.last is None or not is_heard():
            continue
        if scanner.last is not watched:
            watched = scanner.last
            lanes = await asyncio.to_thread(lanes_of, watched)
        if await _look(lanes):
            scan = await scanner.scan()
            pause = max(_LEAST_S, scan.library.took_s / _SCAN_SHARE)
        if scanner.version != told:
            told = scanner.version
            announce()


async def _look(lanes: Iterable[Lane]) -> bool:
    for lane in lanes:
        if time.monotonic() >= lane.due:
            is_changed, cost = await asyncio.to_thread(_timed, lane.is_changed)
            lane.wait(cost, time.monotonic())
            if is_changed:
                return True
    return False


def _timed(look: Callable[[], bool]) -> tuple[bool, Cost]:
    cpu, wall = time.thread_time(), time.monotonic()
    found = look()
    return found, Cost(time.thread_time() - cpu, time.monotonic() - wall)


def pause_s(cost: Cost) -> float:
    """Return how long to wait after a look that cost so much."""
    return min(_MOST_S, max(_LEAST_S, cost.cpu_s / _SHARE, cost.wall_s / _WALL_SHARE))


def lanes_of(scan: Scan) -> tuple[Lane, Lane]:
    """Return the folders of a scan with the roots that were not there, and its models' files."""
    now = time.monotonic()
    absent = {root.path: 0 for root in scan.library.roots if root.state is RootState.MISSING}
    folders = {**absent, **scan.folders}
    files = (
        (Path(file.path), file.mtime_ns, file.size)
        for model in scan.models
        for file in model.found.files
    )
    return Lane(((Path(path), at, None) for path, at in folders.items()), now), Lane(files, now)


def _now(path: Path, size: int | None) -> tuple[int, int | None]:
    try:
        about = path.stat()
    except (OSError, ValueError):
        return 0, None
    return about.st_mtime_ns, about.st_size if size is not None else None
