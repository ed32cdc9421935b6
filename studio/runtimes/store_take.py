"""Lays packages out from the store: every blob is read first, a damaged one is not spread."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from studio.host.files import write_atomic
from studio.host.hashing import Hashed, Wanted, hash_files
from studio.host.sharing import share, share_over
from studio.runtimes import relocate
from studio.runtimes.manifest import EXECUTABLE, LINK, LISTING, PLACED, Entry, Manifest
from studio.runtimes.store import Read, Store, fits, inode_of


class Taken(NamedTuple):
    """What came out of the store."""

    pins: frozenset[str]
    """Packages that are in place now."""
    damaged: frozenset[str]
    """Packages with a blob that was not whole, and is gone; uv's cache may have the same file."""
    bytes: int
    known: dict[str, Read]
    """What was read, by its path in the runtime."""


def take(
    store: Store,
    root: Path,
    keys: Mapping[str, str],
    *,
    made_for: Path | None = None,
    on_bytes: Callable[[int], None] | None = None,
) -> Taken:
    """Put those of `keys` (pin to the store's name) that are here whole into the folder `root`.

    `made_for` is the runtime that scripts name, when that is not `root`.
    Raises: OSError, HostLacks (`disk-full`, `not-writable`).
    """
    records: dict[str, Manifest] = {}
    for pin, key in keys.items():
        record = store.record(key)
        if record is not None:
            records[pin] = record
        elif store.holds(key):  # damaged: it must not keep a whole one from being written
            (store.packages / key).unlink()
    blobs = {
        store.place(entry): entry
        for record in records.values()
        for entry in record.entries
        if not entry.has(LINK)
    }
    read = hash_files(
        [Wanted(path, entry.size) for path, entry in blobs.items()], on_bytes=on_bytes
    )
    now = dict(zip(blobs, read, strict=True))
    bad = {path for path, entry in blobs.items() if not fits(entry, now[path])}
    spoilt = {path for path in bad if now[path] is not None}
    for path in spoilt:
        Path(path).unlink()
    folders = _Folders(root, made_for or root)
    known: dict[str, Read] = {}
    pins, damaged = set[str](), set[str]()
    for pin, record in records.items():
        own = {store.place(entry) for entry in record.entries if not entry.has(LINK)}
        if own & bad:
            (store.packages / keys[pin]).unlink(missing_ok=True)
            if own & spoilt:
                damaged.add(pin)
            continue
        _lay(store, record, folders, now, known)
        pins.add(pin)
    taken = sum(one.hashed.size for one in known.values())
    return Taken(frozenset(pins), frozenset(damaged), taken, known)


class _Folders:
    """Where files go; makes each folder once."""

    def __init__(self, root: Path, made_for: Path) -> None:
        self.root = root
        self.made_for = made_for
        self._made: set[str] = set()

    def need(self, path: str) -> str:
        """Return where a file goes, its folder made."""
        folder = path.rpartition("/")[0]
        if folder not in self._made:
            (self.root / folder).mkdir(parents=True, exist_ok=True)
            self._made.add(folder)
        return f"{self.root}/{path}"


def _lay(
    store: Store,
    record: Manifest,
    folders: _Folders,
    read: Mapping[str, Hashed | None],
    known: dict[str, Read],
) -> None:
    for entry in record.entries:
        target = folders.need(entry.path)
        if entry.has(LINK):
            Path(target).unlink(missing_ok=True)
            Path(target).symlink_to(entry.digest.decode("utf-8", "surrogateescape"))
            continue
        blob = store.place(entry)
        if entry.has(PLACED):
            place(Path(blob).read_bytes(), Path(target), folders.made_for, entry)
            continue
        try:
            share(blob, target)
        except FileExistsError:  # two packages may list one file
            share_over(Path(blob), Path(target))
        now = read[blob]
        if now is not None and not entry.has(LISTING):
            known[entry.path] = Read(inode_of(target), now)


def place(form: bytes, target: Path, root: Path, entry: Entry) -> None:
    """Write a file that names its folder, for a runtime in `root`.

    Raises: HostLacks (`disk-full`, `not-writable`).
    """
    mode = 0o755 if entry.has(EXECUTABLE) else 0o644
    write_atomic(target, relocate.placed(form, root), mode=mode, is_durable=False)
