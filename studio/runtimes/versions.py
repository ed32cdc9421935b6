"""The installations of one runtime: which are kept, going back and forward, and clearing up.

Going back is one rename of one small file. The installation that was left stays, so that going
forward is one too; a runtime that a person went back to is not replaced by a newer recipe.
"""

import contextlib
import os
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from studio.domain.errors import Busy, Damaged, NotFound
from studio.domain.integrity import Collected, Removal
from studio.domain.manifests import InstalledRuntime
from studio.host import uv_cache
from studio.host.documents import read_json
from studio.host.files import exclusive
from studio.host.paths import Paths
from studio.host.processes import marked
from studio.runtimes import folder as folders
from studio.runtimes import history, locks
from studio.runtimes import manifest as manifests
from studio.runtimes.catalog import Catalog

INSTALL_LOCK = "install.lock"
_DOOMED = ".removing-"
"""Prefix of a folder that is being removed: renamed first, so that no half of it passes for one."""


def kept(paths: Paths, name: str) -> list[InstalledRuntime]:
    """Return the finished installations of a runtime, in the order of their use, the newest last.

    Installations that were never used come first, by the time of their installation.
    """
    home = folders.named_folder(paths, name)
    order = {identity: number for number, identity in enumerate(history.read(home), 1)}
    found = [record for _folder, record in _finished(home)]
    return sorted(found, key=lambda one: (order.get(one.runtime_id, 0), one.installed_at))


def rollback(paths: Paths, name: str) -> InstalledRuntime:
    """Use the installation that was used before the present one; return it.

    Raises: NotFound (`runtime-not-installed`, `nothing-to-roll-back`), Busy (`install-running`).
    """
    return _step(paths, name, forward=False)


def forward(paths: Paths, name: str) -> InstalledRuntime:
    """Take the last `rollback` back; return the installation that is used now.

    Raises: as `rollback`, `nothing-to-go-forward-to` in place of `nothing-to-roll-back`.
    """
    return _step(paths, name, forward=True)


def collect(paths: Paths, *, dry_run: bool) -> Collected:
    """Remove what nothing uses, and say how much disk that frees.

    That is: installations other than the present one, the one before it and those ahead of it;
    folders of installations that were given up; packages in the cache that only the removed
    installations used. Nothing of a runtime that is being installed, or from which an engine runs.
    """
    removals: list[tuple[Path, Removal]] = []
    with contextlib.ExitStack() as held:
        for home in sorted(path for path in paths.runtimes.glob("*") if path.is_dir()):
            if held.enter_context(exclusive(home / INSTALL_LOCK)):
                removals += _unused(paths, home)
        removals += _unused_packages(paths, [place for place, _removal in removals])
        freed = freed_bytes([place for place, _removal in removals])
        if not dry_run:
            for place, _removal in removals:
                _remove(place)
    return Collected(
        removals=tuple(removal for _place, removal in removals), bytes=freed, is_dry_run=dry_run
    )


def freed_bytes(places: Sequence[Path]) -> int:
    """Return what removing `places` frees: a file counts when all its links lie in them, once."""
    links: Counter[tuple[int, int]] = Counter()
    whole: dict[tuple[int, int], tuple[int, int]] = {}
    for place in places:
        for found in _stats(place):
            inode = (found.st_dev, found.st_ino)
            links[inode] += 1
            whole[inode] = (found.st_nlink, found.st_size)
    return sum(size for inode, (count, size) in whole.items() if links[inode] >= count)


def _step(paths: Paths, name: str, *, forward: bool) -> InstalledRuntime:
    home = folders.named_folder(paths, name)
    now = history.current(home)
    if now is None:
        raise NotFound(
            "runtime-not-installed",
            f"The runtime `{name}` is not installed.",
            hint="Install it with `weir up`, or see what is there with `weir runtime list`.",
        )
    with exclusive(home / INSTALL_LOCK) as is_ours:
        if not is_ours:
            raise Busy(
                "install-running",
                f"The runtime `{name}` is being installed or repaired.",
                hint="Wait until that is done, then run it again.",
            )
        known = history.read(home)
        place = known.index(now)
        there = known[place + 1 :] if forward else tuple(reversed(known[:place]))
        finished = {record.runtime_id: record for _folder, record in _finished(home)}
        target = next((finished[one] for one in there if one in finished), None)
        if target is None:
            raise _nothing(name, now, forward=forward)
        history.switch(home, target.runtime_id)
        return target


def _nothing(name: str, now: str, *, forward: bool) -> NotFound:
    if forward:
        return NotFound(
            "nothing-to-go-forward-to",
            f"No installation of `{name}` is newer than the present one ({now[:12]}).",
            hint="A newer one is installed by `weir up` when its recipe changes.",
        )
    return NotFound(
        "nothing-to-roll-back",
        f"`{name}` has no earlier installation than the present one ({now[:12]}).",
        hint="The earlier one is kept from the next update on, until `weir runtime gc`.",
    )


def _finished(home: Path) -> Iterator[tuple[Path, InstalledRuntime]]:
    for place in sorted(path for path in home.glob("*") if path.is_dir()):
        try:
            record = read_json(place / folders.RECORD_FILE, InstalledRuntime)
        except Damaged:
            continue
        if record is not None and place.name == record.runtime_id[: len(place.name)]:
            yield place, record


def _unused(paths: Paths, home: Path) -> Iterator[tuple[Path, Removal]]:
    finished = dict(_finished(home))
    known, now = history.read(home), history.current(home)
    used = set(known[max(0, known.index(now) - 1) :]) if now is not None else set()
    for place in sorted(path for path in home.iterdir() if path.is_dir()):
        record = finished.get(place)
        is_used = record is not None and (not used or record.runtime_id in used)
        if is_used or _runs_from(paths, place):
            continue
        if record is None:
            what = f"{home.name}: an installation that was not finished"
        else:
            what = f"{home.name}: older than the one before the present one"
        yield place, Removal(path=str(place), what=what)


def _runs_from(paths: Paths, place: Path) -> bool:
    """Tell whether an engine of ours runs from the runtime in `place`."""
    for process in marked(paths.home):
        with contextlib.suppress(OSError):
            if any(str(place) in part for part in process.cmdline()):
                return True
    return False


def _unused_packages(paths: Paths, removed: Sequence[Path]) -> Iterator[tuple[Path, Removal]]:
    """Return the cache's copies of what only the removed installations were made of."""
    gone = set[str]()
    for place in removed:
        gone |= _pins(place)
    if not gone:
        return
    for home in (path for path in paths.runtimes.glob("*") if path.is_dir()):
        for place, _record in _finished(home):
            if place not in removed:
                gone -= _pins(place)
    for recipe in Catalog(paths).recipes():
        lock = folders.lock_file(paths, recipe)
        if lock is not None and lock.is_file():
            gone -= locks.pins(lock.read_text("utf-8"))
    for place, pin in uv_cache.unpacked(paths.cache / "uv", gone):
        yield place, Removal(path=str(place), what=f"{pin} in the package cache: nothing uses it")


def _pins(place: Path) -> set[str]:
    try:
        with manifests.opened(place) as reader:
            return set(locks.named(reader.header.owners)) if reader is not None else set()
    except Damaged:
        return set()


def _remove(place: Path) -> None:
    if place.is_symlink() or not place.is_dir():
        place.unlink(missing_ok=True)
        return
    doomed = place.with_name(f"{_DOOMED}{place.name}")
    if not place.name.startswith(_DOOMED):
        place.rename(doomed)
    shutil.rmtree(doomed if doomed.exists() else place, ignore_errors=True)


def _stats(place: Path) -> Iterator[os.stat_result]:
    if place.is_symlink() or place.is_file():
        yield place.lstat()
        return
    for root, inside, names in os.walk(place):
        links = [name for name in inside if Path(root, name).is_symlink()]
        for name in (*names, *links):
            with contextlib.suppress(FileNotFoundError):
                yield Path(root, name).lstat()
