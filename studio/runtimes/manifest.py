"""The list of all files of a runtime, as they were installed: how it is stored and read.

One file `manifest` in the runtime's folder: a line that names the format, a header with a digest of
its own, then blocks of some hundred entries, each packed by itself. The vital entries come first;
the others stand in the order of a hash of their paths, so that any block is a random sample of the
tree and a look at a sample reads a few kilobytes. The lock that was installed is kept in it too:
a repair needs the one of that day.
"""

import contextlib
import hashlib
import itertools
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

import msgspec

from studio.domain.errors import Damaged, HostLacks
from studio.host.files import write_atomic

MANIFEST_FILE = "manifest"
EXECUTABLE, LINK, BYTECODE, PLACED, LISTING, NOTE, VITAL, SUSPECT = (1 << bit for bit in range(8))
"""Flags of an entry. PLACED: names the runtime's folder, and its digest is that of its general form
(relocate.py). LISTING: a RECORD, likewise. NOTE: its content does not matter. VITAL: looked at on
each start. SUSPECT: differs from what its package lists."""

_MAGIC = b"weir-manifest 1\n"
_BLOCK_ENTRIES = 512
_LENGTH_BYTES = 8
_LEVEL = 1
"""Digests do not shrink; the rest is 6 % larger than at level 6, in a fifth of the time."""
_DIGEST_BYTES = 32
_HEADER_LIMIT = 16 << 20


class Entry(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One file; `path` is relative to the runtime's folder."""

    path: str
    flags: int
    size: int
    mtime_ns: int
    digest: bytes
    """sha256 of the content; of a link the name it points to."""
    owner: int = 0
    """Which of the header's distributions it belongs to, counted from 1; 0: none."""

    def has(self, flag: int) -> bool:
        """Tell whether a flag is set."""
        return bool(self.flags & flag)


class Block(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Where a packed part lies, counted from the end of the header, and its sha256."""

    offset: int
    length: int
    digest: bytes


class Header(msgspec.Struct, frozen=True, kw_only=True):
    """What is known without unpacking anything."""

    runtime_id: str
    root: str
    """The folder in which the runtime lay when this was written."""
    files: int
    bytes: int
    owners: tuple[str, ...]
    """Distributions, `name==version`."""
    suspects: tuple[str, ...] = ()
    vital_blocks: int = 0
    blocks: tuple[Block, ...] = ()
    lock: Block | None = None


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """A whole list in memory."""

    runtime_id: str
    root: str
    owners: tuple[str, ...]
    entries: tuple[Entry, ...]
    lock: bytes | None = None


def write(path: Path, manifest: Manifest, *, is_durable: bool = True) -> None:
    """Write a manifest so that a reader sees the old one or the new one.

    `is_durable` is as for `write_atomic`: what a power cut leaves is told from a whole one.

    Raises: HostLacks (`disk-full`, `not-writable`).
    """
    write_atomic(path, packed(manifest), is_durable=is_durable)


def packed(manifest: Manifest) -> bytes:
    """Return what `write` puts into the file."""
    vital = [entry for entry in manifest.entries if entry.has(VITAL)]
    others = sorted((e for e in manifest.entries if not e.has(VITAL)), key=_shuffled)
    parts = [*_batches(vital), *_batches(others)]
    blobs = [zlib.compress(msgspec.msgpack.encode(part), _LEVEL) for part in parts]
    if manifest.lock is not None:
        blobs.append(zlib.compress(manifest.lock, _LEVEL))
    blocks = _located(blobs)
    header = Header(
        runtime_id=manifest.runtime_id,
        root=manifest.root,
        files=len(manifest.entries),
        bytes=sum(entry.size for entry in manifest.entries),
        owners=manifest.owners,
        suspects=tuple(e.path for e in manifest.entries if e.has(SUSPECT)),
        vital_blocks=len(_batches(vital)),
        blocks=blocks[: len(parts)],
        lock=blocks[-1] if manifest.lock is not None else None,
    )
    head = msgspec.msgpack.encode(header)
    length = len(head).to_bytes(_LENGTH_BYTES, "big")
    return b"".join([_MAGIC, length, hashlib.sha256(head).digest(), head, *blobs])


class Reader:
    """An open manifest."""

    def __init__(self, path: Path, file: BinaryIO) -> None:
        self._path = path
        self._file = file
        self.header, self._start = self._read_header()

    def entries(self, numbers: Iterable[int] | None = None) -> tuple[Entry, ...]:
        """Return the entries of the blocks with these numbers, or of all.

        Raises: Damaged (`manifest-damaged`), HostLacks (`not-readable`).
        """
        wanted = range(len(self.header.blocks)) if numbers is None else numbers
        found: list[Entry] = []
        for number in wanted:
            raw = self._unpack(self.header.blocks[number])
            try:
                found += msgspec.msgpack.decode(raw, type=list[Entry])
            except msgspec.DecodeError as error:
                raise _damaged(self._path) from error
        return tuple(found)

    def lock(self) -> bytes | None:
        """Return the lock that was installed, or None when it is not kept.

        Raises: as `entries`.
        """
        return self._unpack(self.header.lock) if self.header.lock is not None else None

    def whole(self) -> Manifest:
        """Return everything.

        Raises: as `entries`.
        """
        header = self.header
        return Manifest(
            runtime_id=header.runtime_id,
            root=header.root,
            owners=header.owners,
            entries=self.entries(),
            lock=self.lock(),
        )

    def _read_header(self) -> tuple[Header, int]:
        start = len(_MAGIC) + _LENGTH_BYTES + _DIGEST_BYTES
        first = self._read(0, start)
        length = int.from_bytes(first[len(_MAGIC) : len(_MAGIC) + _LENGTH_BYTES], "big")
        if not first.startswith(_MAGIC) or length > _HEADER_LIMIT:
            raise _damaged(self._path)
        head = self._read(start, length)
        if hashlib.sha256(head).digest() != first[-_DIGEST_BYTES:]:
            raise _damaged(self._path)
        try:
            return msgspec.msgpack.decode(head, type=Header), start + length
        except msgspec.DecodeError as error:
            raise _damaged(self._path) from error

    def _unpack(self, block: Block) -> bytes:
        packed = self._read(self._start + block.offset, block.length)
        if hashlib.sha256(packed).digest() != block.digest:
            raise _damaged(self._path)
        return zlib.decompress(packed)

    def _read(self, offset: int, length: int) -> bytes:
        try:
            self._file.seek(offset)
            data = self._file.read(length)
        except OSError as error:
            raise _unreadable(self._path, error) from error
        if len(data) != length:
            raise _damaged(self._path)
        return data


@contextlib.contextmanager
def opened(folder: Path) -> Iterator[Reader | None]:
    """Open the manifest of the runtime in `folder`; yields None when it has none.

    Raises: Damaged (`manifest-damaged`), HostLacks (`not-readable`).
    """
    path = folder / MANIFEST_FILE
    try:
        file = path.open("rb")
    except FileNotFoundError:
        yield None
        return
    except OSError as error:
        raise _unreadable(path, error) from error
    with file:
        yield Reader(path, file)


def read(folder: Path) -> Manifest | None:
    """Return the manifest of the runtime in `folder`, or None when it has none.

    Raises: Damaged (`manifest-damaged`), HostLacks (`not-readable`).
    """
    with opened(folder) as reader:
        return reader.whole() if reader is not None else None


def _shuffled(entry: Entry) -> bytes:
    return hashlib.sha256(entry.path.encode()).digest()


def _batches(entries: Sequence[Entry]) -> list[Sequence[Entry]]:
    return [entries[at : at + _BLOCK_ENTRIES] for at in range(0, len(entries), _BLOCK_ENTRIES)]


def _located(blobs: Sequence[bytes]) -> tuple[Block, ...]:
    ends = itertools.accumulate(len(part) for part in blobs)
    return tuple(
        Block(end - len(part), len(part), hashlib.sha256(part).digest())
        for part, end in zip(blobs, ends, strict=True)
    )


def _damaged(path: Path) -> Damaged:
    return Damaged(
        "manifest-damaged",
        f"{path}, the list of the runtime's files, is not whole.",
        hint="Run `weir runtime repair`: the runtime is then built anew from what was fetched.",
    )


def _unreadable(path: Path, error: OSError) -> HostLacks:
    return HostLacks(
        "not-readable",
        f"{path} cannot be read: {error.strerror or error}.",
        hint="Check the disk and the file's permissions.",
    )
