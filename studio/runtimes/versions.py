"""The installations of one runtime: which are kept, going back and forward, and clearing up.

Going back is one rename of one small file. The installation that was left stays, so that going
forward is one too; a runtime that a person went back to is not replaced by a newer recipe.
"""

import contextlib
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from studio.domain.errors import Busy, Damaged, NotFound, StudioError
from studio.domain.integrity import Collected, Removal
from studio.domain.manifests import InstalledRuntime
from studio.host import locks, uv_cache
from studio.host.documents import read_json
from studio.host.files import exclusive
from studio.host.paths import Paths
from studio.runtimes import bundle_part, history, litter
from studio.runtimes import folder as folders
from studio.runtimes import manifest as manifests
from studio.runtimes.running import runs_from
from studio.runtimes.store import Store, interpreter_key, package_keys
from studio.runtimes.store_clear import Unused, unused

INSTALL_LOCK = "install.lock"
_LITTER = "a meeting place of an engine that was killed"


class _Python(msgspec.Struct, frozen=True):
    series: str


class _MadeBy(msgspec.Struct, frozen=True):
    """Of the recipe of an installation, which may be of another version of the Studio."""

    interpreter: _Python


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
    folders of installations that were given up; packages in the store that no installation uses,
    and those in uv's cache that only the removed ones used; what killed engines and exports left.
    Nothing of a runtime that is being installed, or from which an engine runs.
    """
    removals: list[Unused] = []
    exports: list[Unused] = []
    notes: list[str] = []
    store = Store(paths)
    with contextlib.ExitStack() as held:
        for home in sorted(path for path in paths.runtimes.glob("*") if path.is_dir()):
            if held.enter_context(exclusive(home / INSTALL_LOCK)):
                removals += _unused(paths, home)
                exports += _cut_off(home)
            else:
                notes.append(f"{home.name} is being installed or repaired: left alone.")
        removed = [unused.path for unused in removals]
        if held.enter_context(store.alone()):
            removals += _unused_in_store(paths, store, removed, notes)
        else:
            notes.append("The store is in use by an installation: left alone. Run it again later.")
        removals += _unused_packages(paths, removed)
        removals += [*exports, *(Unused((path,), path, _LITTER) for path in litter.left(paths))]
        freed = freed_bytes([place for unused in removals for place in unused.places])
        if not dry_run:
            for place in (place for unused in removals for place in unused.places):
                folders.remove(place)
    return Collected(
        removals=tuple(Removal(path=str(one.path), what=one.what) for one in removals),
        bytes=freed,
        is_dry_run=dry_run,
        notes=tuple(notes),
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


def _unused(paths: Paths, home: Path) -> Iterator[Unused]:
    finished = dict(_finished(home))
    known, now = history.read(home), history.current(home)
    used = set(known[max(0, known.index(now) - 1) :]) if now is not None else set()
    for place in sorted(path for path in home.iterdir() if path.is_dir()):
        record = finished.get(place)
        is_used = record is not None and (not used or record.runtime_id in used)
        if is_used or _is_kept(place) or runs_from(paths, place):
            continue
        if record is None:
            what = f"{home.name}: an installation that was not finished"
        else:
            what = f"{home.name}: older than the one before the present one"
        yield Unused((place,), place, what)


def _cut_off(home: Path) -> Iterator[Unused]:
    left = bundle_part.left(home)
    if left:
        yield Unused(left, left[0], f"{home.name}: left of an export that was cut off")


def _is_kept(place: Path) -> bool:
    """Tell whether this is what comes back when the building of its new folder was cut off."""
    name = place.name.removeprefix(folders.KEPT)
    return name != place.name and not (place.with_name(name) / folders.RECORD_FILE).exists()


def _unused_in_store(
    paths: Paths, store: Store, removed: Sequence[Path], notes: list[str]
) -> list[Unused]:
    used = set[str]()
    for home in (path for path in paths.runtimes.glob("*") if path.is_dir()):
        for place, record in _finished(home):
            if place in removed:
                continue
            try:
                used |= _keys(place, record)
            except StudioError as error:  # what it is made of is not known, so all of it stays
                notes.append(f"The store was left alone: {error.message}")
                return []
    return unused(store, used)


def _keys(place: Path, record: InstalledRuntime) -> set[str]:
    """Return the store's names of what an installation is made of.

    Raises: Damaged (`manifest-damaged`, `document-damaged`), HostLacks (`not-readable`).
    """
    keys = {interpreter_key(record.interpreter_build)}
    recipe = read_json(place / folders.RECIPE_FILE, _MadeBy)
    with manifests.opened(place) as reader:
        if reader is not None and recipe is not None:
            lock = reader.lock() or b""
            keys |= set(
                package_keys(lock.decode("utf-8", "replace"), recipe.interpreter.series).values()
            )
    return keys


def _unused_packages(paths: Paths, removed: Sequence[Path]) -> Iterator[Unused]:
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
    for lock in (paths.catalogue / "runtimes").glob("*/*.lock"):
        gone -= locks.pins(lock.read_text("utf-8", "replace"))
    for place, pin in uv_cache.unpacked(paths.cache / "uv", gone):
        yield Unused((place,), place, f"{pin} in the package cache: nothing uses it")


def _pins(place: Path) -> set[str]:
    try:
        with manifests.opened(place) as reader:
            return set(locks.named(reader.header.owners)) if reader is not None else set()
    except Damaged:
        return set()


def _stats(place: Path) -> Iterator[os.stat_result]:
    if place.is_symlink() or place.is_file():
        yield place.lstat()
        return
    for root, inside, names in os.walk(place):
        links = [name for name in inside if Path(root, name).is_symlink()]
        for name in (*names, *links):
            with contextlib.suppress(FileNotFoundError):
                yield Path(root, name).lstat()
