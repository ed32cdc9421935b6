"""What of the store nothing uses: lists of packages, and files that no list names."""

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import NamedTuple

from studio.runtimes.manifest import LINK
from studio.runtimes.store import Store


class Unused(NamedTuple):
    """Something that may go: the files it is made of, and what it is in words."""

    places: tuple[Path, ...]
    path: Path
    what: str


def unused(store: Store, used: Collection[str]) -> list[Unused]:
    """Return what may go when only the packages in `used` (the store's names) are to stay.

    A list comes before its blobs, so that a clean-up that is cut off leaves no list without them.
    Only for one who holds the store alone.
    """
    if not store.packages.is_dir():
        return []
    needed = _blobs(store, used)
    removals: list[Unused] = []
    named = set[Path]()
    for path in sorted(path for path in store.packages.iterdir() if not path.name.startswith(".")):
        if path.name in used:
            continue
        blobs = _blobs(store, (path.name,)) - needed - named
        named |= blobs
        what = f"{_title(store, path.name)} in the store: no installation uses it"
        removals.append(Unused((path, *sorted(blobs)), path, what))
    orphans = sorted(set(store.blobs.glob("??/[!.]*")) - needed - named)
    if orphans:
        what = "files in the store that no package lists"
        removals.append(Unused(tuple(orphans), store.blobs, what))
    half = tuple(store.leftovers())
    if half:
        removals.append(Unused(half, store.root, "what an interrupted installation left half done"))
    return removals


def _blobs(store: Store, keys: Iterable[str]) -> set[Path]:
    blobs = set[Path]()
    for key in keys:
        record = store.record(key)
        if record is not None:
            blobs |= {store.blob(entry) for entry in record.entries if not entry.has(LINK)}
    return blobs


def _title(store: Store, key: str) -> str:
    record = store.record(key)
    return record.owners[0].replace("==", " ") if record is not None and record.owners else key
