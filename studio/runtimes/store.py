"""What runtimes share: files by their content, and for each package a list of its files.

    <home>/store/lock               held by installations together, by a clean-up alone
    <home>/store/blobs/ab/abcd…     one file for each content; a runtime's file is a link to it
    <home>/store/packages/<name>-<version>-<hashes>-<python>     which files a package is made of

A package is as uv installed it, before any patch, its bytecode included. Bytecode names the time
of its source, so a source's blob carries its time in its name, and a link keeps both true. Scripts
name the folder of their runtime: of them the store keeps the general form (relocate.py).

A blob is whole or absent, a list is written after its blobs, and every blob is read before it is
used. So nothing here is trusted, and all of it may be deleted while no installation runs.
"""

import contextlib
import functools
import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from studio.domain.errors import Damaged, HostLacks
from studio.host import locks
from studio.host.files import exclusive, write_atomic
from studio.host.hashing import Hashed
from studio.host.paths import Paths
from studio.host.sharing import Way, is_leftover, share, share_over, way_of
from studio.runtimes import manifest as manifests
from studio.runtimes.interpreter import host_platform
from studio.runtimes.manifest import EXECUTABLE, LINK, LISTING, PLACED, Entry, Manifest

_DIGITS = 16
_SECOND_NS = 1_000_000_000


class Read(NamedTuple):
    """What a file was when it was read, and which file that was."""

    inode: int
    hashed: Hashed


class Store:
    """The store of one home."""

    def __init__(self, paths: Paths) -> None:
        self.root = paths.store
        self.blobs = self.root / "blobs"
        self._prefix = f"{self.blobs}/"
        self.packages = self.root / "packages"
        self._lock = self.root / "lock"
        self._way = self.root / "way"

    def open(self) -> None:
        """Make the folders, and find out how this disk shares files. Raises: OSError."""
        for number in range(256):
            (self.blobs / f"{number:02x}").mkdir(parents=True, exist_ok=True)
        self.packages.mkdir(exist_ok=True)
        way = way_of(self.root)
        if self.way() is not way:
            write_atomic(self._way, way.value.encode())

    def way(self) -> Way | None:
        """Return how files are shared here, as the last installation found; None before any."""
        try:
            return Way(self._way.read_text("utf-8"))
        except (OSError, ValueError):
            return None

    @contextlib.contextmanager
    def used(self) -> Iterator[bool]:
        """Keep clean-ups away while inside; yields False while one is under way."""
        with exclusive(self._lock, is_shared=True) as is_ours:
            yield is_ours

    @contextlib.contextmanager
    def alone(self) -> Iterator[bool]:
        """Keep installations away while inside; yields False while one is under way."""
        if not self.root.is_dir():
            yield True
            return
        with exclusive(self._lock) as is_ours:
            yield is_ours

    def blob(self, entry: Entry) -> Path:
        """Return where the content of an entry lies."""
        return Path(self.place(entry))

    def place(self, entry: Entry) -> str:
        """Return the same as text: a `Path` for each of 55,000 files costs a second."""
        name = entry.digest.hex()
        if entry.flags & (PLACED | LISTING):
            end = ".form"
        else:
            end = ".x" if entry.has(EXECUTABLE) else ""
            end += f".{entry.mtime_ns // _SECOND_NS:x}" if entry.path.endswith(".py") else ""
        return f"{self._prefix}{name[:2]}/{name}{end}"

    def record(self, key: str) -> Manifest | None:
        """Return which files a package is made of; None when that is not known."""
        path = self.packages / key
        try:
            with path.open("rb") as file:
                found = manifests.Reader(path, file).whole()
        except (OSError, Damaged, HostLacks):
            return None
        return found if found.runtime_id == key else None

    def holds(self, key: str) -> bool:
        """Tell whether there is a list for a package; its blobs are looked at when it is used."""
        return (self.packages / key).is_file()

    def held(self) -> frozenset[str]:
        """Return the store's names of every package that there is a list for, in one look."""
        try:
            return frozenset(path.name for path in self.packages.iterdir())
        except OSError:
            return frozenset()

    def bytes_of(self, keys: Iterable[str]) -> int:
        """Return the bytes of the packages that are here; every file counts once."""
        sizes: dict[Path, int] = {}
        for key in keys:
            record = self.record(key)
            entries = record.entries if record is not None else ()
            sizes |= {self.blob(entry): entry.size for entry in entries if not entry.has(LINK)}
        return sum(sizes.values())

    def write_record(self, key: str, owner: str, entries: Iterable[Entry]) -> None:
        """Write which files a package is made of; its blobs are here already.

        Raises: HostLacks (`disk-full`, `not-writable`).
        """
        listed = Manifest(runtime_id=key, root="", owners=(owner,), entries=tuple(entries))
        manifests.write(self.packages / key, listed, is_durable=False)

    def put(self, source: str, entry: Entry, form: bytes | None) -> bool:
        """Keep a file, whose entry was just made; `form` is what is kept in its stead.

        Where the same content is here already, `source` becomes a link to it; True says that.
        Raises: OSError, HostLacks (`disk-full`, `not-writable`).
        """
        place = self.place(entry)
        if form is not None:
            blob = Path(place)
            if not is_whole(blob, entry):
                write_atomic(blob, form, is_durable=False)
            return False
        try:
            share(source, place)
        except FileExistsError:
            return self._put_again(Path(source), Path(place), entry)
        return False

    def _put_again(self, source: Path, blob: Path, entry: Entry) -> bool:
        if blob.samefile(source):
            return False
        if not is_whole(blob, entry):
            share_over(source, blob)
            return False
        if self.way() is Way.COPY:
            return False
        share_over(blob, source)
        return True

    def leftovers(self) -> Iterator[Path]:
        """Yield what a kill left half done; only while nothing is installed."""
        for folder in (self.root, self.packages, *self.blobs.glob("*")):
            with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                for path in folder.iterdir():
                    if is_leftover(path.name) or path.name.startswith("."):
                        yield path


def is_whole(blob: Path, entry: Entry) -> bool:
    """Tell whether a blob is what its entry says; reads it."""
    try:
        found = blob.lstat()
        digest = hashlib.sha256(blob.read_bytes()).digest()
    except OSError:
        return False
    is_executable = bool(found.st_mode & 0o100)
    return fits(entry, Hashed(found.st_size, found.st_mtime_ns, is_executable, digest))


def fits(entry: Entry, now: Hashed | None) -> bool:
    """Tell whether a blob that was just read can stand for an entry."""
    if now is None or now.sha256 != entry.digest:
        return False
    if entry.flags & (PLACED | LISTING):
        return True
    if entry.path.endswith(".py") and now.mtime_ns // _SECOND_NS != entry.mtime_ns // _SECOND_NS:
        return False  # its bytecode would be thrown away at each import
    return now.is_executable == entry.has(EXECUTABLE)


def package_keys(lock: str, series: str) -> dict[str, str]:
    """Return the store's name of each package of a lock, by its pin in plain form.

    Of the wheel that the lock's hashes allow here, for a Python of this `series` (`3.11`) and this
    platform: that is what bytecode and native modules depend on.
    """
    return dict(_keys(lock, f"cp{series.replace('.', '')}-{host_platform()}"))


def interpreter_key(build: str) -> str:
    """Return the store's name of an interpreter that came out of an archive."""
    return f"interpreter-{hashlib.sha256(build.encode()).hexdigest()[:_DIGITS]}"


@functools.lru_cache(maxsize=16)
def _keys(lock: str, tag: str) -> tuple[tuple[str, str], ...]:
    """Lists of presets ask for the same locks again and again, and one takes 30 ms to read."""
    return tuple((pin, _key(pin, hashes, tag)) for pin, hashes in locks.hashes(lock).items())


def _key(pin: str, hashes: tuple[str, ...], tag: str) -> str:
    name, _equals, version = pin.partition("==")
    digest = hashlib.sha256("\n".join(hashes).encode()).hexdigest()[:_DIGITS]
    safe = "".join(letter if letter.isalnum() or letter in "-." else "_" for letter in version)
    return f"{name}-{safe}-{digest}-{tag}"


def inode_of(path: Path | str) -> int:
    """Return which file a path names. Raises: OSError."""
    return os.lstat(path).st_ino


def known_of(root: Path, entries: Mapping[str, Hashed]) -> dict[str, Read]:
    """Return what was read of files in `root`, with the files that those paths name now."""
    return {path: Read(inode_of(root / path), now) for path, now in entries.items()}
