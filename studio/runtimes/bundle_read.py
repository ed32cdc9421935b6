"""Reads a runtime out of one signed file, front to back, and believes nothing that is not signed.

First the index and who signed it; then, member by member, exactly what the index says. A file
appears under its name when its sha256 is right and not before.
"""

import contextlib
import hashlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import msgspec

from studio.domain.errors import Damaged, HostLacks, NotFound
from studio.host import signing
from studio.host.blocks import BlockReader, BlocksDamaged
from studio.host.hashing import hash_file
from studio.host.progress import Progress
from studio.runtimes import bundle
from studio.runtimes.bundle import RUNTIME, Index, Item, Signature

_CHUNK = 1 << 20
_IN_MEMORY_BYTES = 8 << 20
"""Larger files are written while they are read, under another name."""
_PARTIAL = ".importing"


class Head(msgspec.Struct, frozen=True, kw_only=True):
    """What a bundle says of itself, once its signature is known to be right."""

    index: Index
    fingerprint: str
    digest: str
    """sha256 of the index: names all that is inside."""


class Bundle:
    """An open bundle, read up to its first file."""

    def __init__(self, path: Path, blocks: BlockReader) -> None:
        self._what = path.name
        self._blocks = blocks
        self.head = self._read_head()

    def unpack(self, target: Path, progress: Progress) -> None:
        """Make `target` the runtime of this bundle, without its record; goes on where it stopped.

        What lies there and is right stays, what is not listed goes. Progress is counted in bytes.

        Raises: Damaged (`bundle-damaged`), OSError.
        """
        items = self.head.index.items
        wanted = {item.path.removeprefix(RUNTIME): item for item in items if _is_inside(item)}
        _clear(target, wanted, keep=target / bundle.ORIGIN_FILE)
        with self._translated():
            for item in items:
                self._expect(bundle.header_of(item))
                place = target / item.path.removeprefix(RUNTIME) if _is_inside(item) else None
                if item.link is not None:
                    assert place is not None  # what lies in recipe/ is never a link
                    _link(place, item.link)
                    continue
                self._take(item, place, progress)
                self._expect(bundle.padding(item.size))
            self._expect(bundle.END)
            self._blocks.finish()

    def _read_head(self) -> Head:
        with self._translated():
            raw = self._first(bundle.INDEX)
            signature = self._first(bundle.SIGNATURE)
        public_key = self._signed_by(raw, signature)
        return Head(
            index=bundle.decode(raw, self._what),
            fingerprint=signing.fingerprint(public_key),
            digest=hashlib.sha256(raw).hexdigest(),
        )

    def _first(self, name: str) -> bytes:
        head = self._blocks.exactly(bundle.TAR_BLOCK)
        size = bundle.first_size(head, name, self._what)
        data = self._blocks.exactly(size)
        self._expect(bundle.padding(size))
        return data

    def _signed_by(self, raw: bytes, signature: bytes) -> bytes:
        try:
            said = msgspec.json.decode(signature, type=Signature)
            key, mark = bytes.fromhex(said.public_key), bytes.fromhex(said.signature)
        except (msgspec.DecodeError, UnicodeDecodeError, ValueError) as error:
            raise bundle.damaged(self._what, "its signature cannot be read") from error
        if not signing.is_valid(key, mark, bundle.PURPOSE, raw):
            raise Damaged(
                "bundle-signature",
                f"{self._what} is not what was signed: it was changed on its way, or was never "
                "signed by the key that it names.",
                hint="Copy it again from the machine that made it. If it repeats, do not use it.",
            )
        return key

    def _expect(self, wanted: bytes) -> None:
        if wanted and self._blocks.exactly(len(wanted)) != wanted:
            raise bundle.damaged(self._what, "what is in it is not what its index lists")

    def _take(self, item: Item, place: Path | None, progress: Progress) -> None:
        """Read one file; without a place it is read for its digest alone."""
        if place is not None and _is_there(item, place):
            place = None
        if place is None or item.size <= _IN_MEMORY_BYTES:
            self._take_small(item, place, progress)
        else:
            self._take_large(item, place, progress)

    def _take_small(self, item: Item, place: Path | None, progress: Progress) -> None:
        digest = hashlib.sha256()
        parts = []
        for part in self._content(item, progress):
            digest.update(part)
            if place is not None:
                parts.append(part)
        self._require(digest.digest(), item)
        if place is not None:
            with _fresh(place, item) as file:
                file.writelines(parts)

    def _take_large(self, item: Item, place: Path, progress: Progress) -> None:
        digest = hashlib.sha256()
        with _fresh(place, item) as file:
            for part in self._content(item, progress):
                digest.update(part)
                file.write(part)
            self._require(digest.digest(), item)

    def _content(self, item: Item, progress: Progress) -> Iterator[memoryview]:
        left = item.size
        while left:
            part = self._blocks.read(min(left, _CHUNK))
            left -= len(part)
            progress.add(len(part))
            yield part

    def _require(self, digest: bytes, item: Item) -> None:
        if digest != item.sha256:
            raise bundle.damaged(self._what, f"{item.path} is not what its index lists")

    @contextlib.contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except BlocksDamaged as error:
            raise bundle.damaged(self._what, str(error)) from error


@contextlib.contextmanager
def opened(path: Path) -> Iterator[Bundle]:
    """Open a bundle and check its signature; nothing is written.

    Raises: NotFound (`file-missing`), HostLacks (`not-readable`), Damaged (`bundle-damaged`,
    `bundle-signature`, `archive-unsafe`), BadInput (`bundle-newer`).
    """
    try:
        file = path.open("rb")
    except FileNotFoundError as error:
        raise NotFound(
            "file-missing", f"There is no file {path}.", hint="Check the path."
        ) from error
    except OSError as error:
        raise unreadable(path, error) from error
    with file, BlockReader(_Readable(path, file)) as blocks:
        yield Bundle(path, blocks)


class _Readable:
    """A file whose errors name it: a stick that was pulled out is no fault of the home's disk."""

    def __init__(self, path: Path, file: BinaryIO) -> None:
        self._path = path
        self._file = file

    def read(self, size: int, /) -> bytes:
        """Return the next bytes. Raises: HostLacks (`not-readable`)."""
        try:
            return self._file.read(size)
        except OSError as error:
            raise unreadable(self._path, error) from error


def unreadable(path: Path, error: OSError) -> HostLacks:
    """Return the error about a bundle that the system does not hand out."""
    return HostLacks(
        "not-readable",
        f"{path} cannot be read: {error.strerror or error}.",
        hint="Check the path, the file's permissions and the medium that it lies on.",
    )


def _is_inside(item: Item) -> bool:
    return item.path.startswith(RUNTIME)


def _is_there(item: Item, place: Path) -> bool:
    """Tell whether an import that was cut off has written this file, by its content."""
    try:
        now = place.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    if now.st_size != item.size or now.st_mtime_ns != item.mtime_ns:
        return False
    found = hash_file(str(place))
    is_right = found is not None and found.sha256 == item.sha256
    return is_right and found is not None and found.is_executable == bool(item.mode & 0o100)


@contextlib.contextmanager
def _fresh(place: Path, item: Item) -> Iterator[BinaryIO]:
    """Write a file beside its name; it gets the name when the inside ended well."""
    partial = place.with_name(_PARTIAL)
    place.parent.mkdir(parents=True, exist_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0)
    with os.fdopen(os.open(partial, flags, item.mode), "wb") as file:
        yield file
    partial.chmod(item.mode)  # the person's umask may have narrowed it
    os.utime(partial, ns=(item.mtime_ns, item.mtime_ns))
    partial.replace(place)


def _link(place: Path, link: str) -> None:
    if place.is_symlink() and str(place.readlink()) == link:
        return
    partial = place.with_name(_PARTIAL)
    partial.unlink(missing_ok=True)
    place.parent.mkdir(parents=True, exist_ok=True)
    partial.symlink_to(link)
    partial.replace(place)


def _clear(target: Path, wanted: dict[str, Item], *, keep: Path) -> None:
    """Remove what the bundle does not list, and what is a folder or a link in a file's place.

    After this no name of the bundle leads through a link, so nothing is written elsewhere.
    """
    target.mkdir(parents=True, exist_ok=True)
    for root, folders, names in os.walk(target):
        inside = Path(root).relative_to(target)
        for name in [*folders, *names]:
            place = Path(root, name)
            item = wanted.get((inside / name).as_posix())
            is_folder = name in folders and not place.is_symlink()
            if is_folder and item is not None:
                shutil.rmtree(place)
                folders.remove(name)
            elif (
                not is_folder
                and place != keep
                and (item is None or place.is_symlink() != (item.link is not None))
            ):
                place.unlink()
