"""Unpacking that cannot write outside its folder.

Only files, folders and links that stay inside are accepted; devices, pipes, absolute names, `..`
and names that pass through a link are refused, and so is an archive that grows past its limits: in
all, against its own size, in number, and in what a single header makes `tarfile` hold in memory.
Not `tarfile`'s own filter: CPython 3.11.2, which Debian 12 ships, does not have it.
"""

import bz2
import contextlib
import gzip
import io
import lzma
import os
import tarfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import IO

from studio.domain.errors import Damaged
from studio.host.files import from_os_error

_CHUNK = 1 << 20
_MAGIC_BYTES = 6
_MAX_BYTES = 4 << 30
_MAX_MEMBERS = 200_000
_MAX_RATIO = 200
"""Unpacked to packed. Builds of CPython are at 4; text that repeats itself reaches 30."""
_RATIO_COUNTS_FROM = 64 << 20
"""Less than this fills no disk, whatever its ratio."""
_MAX_READ = 4 << 20
"""A header longer than this is an attack: names and their attributes take kilobytes."""


def unpack(
    archive: Path,
    target: Path,
    *,
    max_bytes: int = _MAX_BYTES,
    on_bytes: Callable[[int], None] | None = None,
) -> None:
    """Unpack a tar archive (plain, gzip, bzip2, xz) into the new folder `target`.

    `on_bytes` gets the bytes written so far. Times and owners of the archive are not restored.

    Raises: Damaged (`archive-damaged`, `archive-unsafe`), HostLacks (`disk-full`, `not-writable`).
    """
    try:
        target.mkdir(parents=True)
        with _opened(archive) as tar:
            _Unpacking(archive, target, max_bytes, on_bytes or (lambda _done: None)).run(tar)
    except _TooLong as error:
        raise _unsafe(archive, "one of its headers is longer than any name can be") from error
    except (tarfile.TarError, EOFError, zlib.error, lzma.LZMAError) as error:
        raise _damaged(archive, str(error)) from error
    except OSError as error:
        if error.errno is None:  # gzip and bz2 report broken data as an OSError without a number
            raise _damaged(archive, str(error)) from error
        raise from_os_error(error, target) from error


class _TooLong(Exception):
    """A single read asks for more than a header may take."""


class _Bounded(io.RawIOBase):
    """The unpacked stream, of which nobody may read much at a time.

    `tarfile` reads a whole extended header into memory, and four megabytes unpack to gigabytes.
    """

    def __init__(self, inner: io.BufferedIOBase) -> None:
        self._inner = inner

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes."""
        if not 0 <= size <= _MAX_READ:
            raise _TooLong
        return self._inner.read(size)

    def seek(self, offset: int, whence: int = 0) -> int:
        """Move to a place."""
        return self._inner.seek(offset, whence)

    def tell(self) -> int:
        """Return the present place."""
        return self._inner.tell()

    def close(self) -> None:
        """Close the stream."""
        self._inner.close()
        super().close()


@contextlib.contextmanager
def _opened(archive: Path) -> Iterator[tarfile.TarFile]:
    with (
        archive.open("rb") as raw,
        _unpacked(raw) as stream,
        tarfile.open(fileobj=_Bounded(stream), mode="r:") as tar,
    ):
        yield tar


def _unpacked(raw: io.BufferedReader) -> io.BufferedIOBase:
    """Return the stream inside, by its first bytes, which say more than a name."""
    start = raw.peek(_MAGIC_BYTES)
    if start.startswith(b"\x1f\x8b"):
        return gzip.GzipFile(fileobj=raw)
    if start.startswith(b"BZh"):
        return bz2.BZ2File(raw)
    if start.startswith(b"\xfd7zXZ\0"):
        return lzma.LZMAFile(raw)
    return raw


class _Unpacking:
    """One archive on its way into one folder."""

    def __init__(
        self, archive: Path, target: Path, max_bytes: int, on_bytes: Callable[[int], None]
    ) -> None:
        self._archive = archive
        self._target = target
        packed = archive.stat().st_size
        self._max_bytes = min(max_bytes, max(_RATIO_COUNTS_FROM, packed * _MAX_RATIO))
        self._on_bytes = on_bytes
        self._written = 0
        self._links: set[PurePosixPath] = set()
        self._folders: set[PurePosixPath] = {PurePosixPath()}

    def run(self, tar: tarfile.TarFile) -> None:
        """Unpack every member in the archive's order."""
        for number, member in enumerate(tar):
            if number >= _MAX_MEMBERS:
                raise self._unsafe(member, f"is more than file number {_MAX_MEMBERS}")
            self._unpack_one(tar, member)
        self._read_on(tar)

    def _read_on(self, tar: tarfile.TarFile) -> None:
        """Read what follows the last member: the checksum of the whole stands at its very end."""
        assert tar.fileobj is not None
        padding = 0
        while chunk := tar.fileobj.read(_CHUNK):
            padding += len(chunk)
            if padding > self._max_bytes:
                raise _damaged(self._archive, "there is no end to what follows its last file")

    def _unpack_one(self, tar: tarfile.TarFile, member: tarfile.TarInfo) -> None:
        name = self._safe(member, member.name)
        path = self._target / name
        if member.isdir():
            self._make_folder(member, name)
            return
        self._make_folder(member, name.parent)
        if member.isfile():
            data = tar.extractfile(member)
            assert data is not None
            self._write(member, data, path)
        elif member.issym():
            self._safe(member, member.linkname, base=name.parent)
            self._links.add(name)
            path.symlink_to(member.linkname)
        elif member.islnk():
            source = self._safe(member, member.linkname)
            self._refuse_linked(member, source)
            os.link(self._target / source, path, follow_symlinks=False)
        else:
            raise self._unsafe(member, "is neither a file nor a folder nor a link")

    def _write(self, member: tarfile.TarInfo, data: IO[bytes], path: Path) -> None:
        if self._written + member.size > self._max_bytes:
            raise self._unsafe(member, f"exceeds the limit of {self._max_bytes} bytes")
        mode = 0o755 if member.mode & 0o100 else 0o644
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
        with os.fdopen(os.open(path, flags, mode), "wb") as file:
            while chunk := data.read(_CHUNK):
                file.write(chunk)
        self._written += member.size
        self._on_bytes(self._written)

    def _make_folder(self, member: tarfile.TarInfo, name: PurePosixPath) -> None:
        if name in self._folders:
            return
        self._refuse_linked(member, name)
        (self._target / name).mkdir(parents=True, exist_ok=True)
        self._folders.add(name)

    def _refuse_linked(self, member: tarfile.TarInfo, name: PurePosixPath) -> None:
        for place in (name, *name.parents):
            if place in self._links:
                raise self._unsafe(member, f"passes through the link {place}")

    def _safe(
        self, member: tarfile.TarInfo, text: str, *, base: PurePosixPath | None = None
    ) -> PurePosixPath:
        """Return `text` as a path below the target, resolved without asking the disk."""
        if text.startswith("/") or "\\" in text or "\0" in text:
            raise self._unsafe(member, f"points to {text!r}, outside the archive")
        parts = list(base.parts) if base is not None else []
        for part in PurePosixPath(text).parts:
            if part != "..":
                parts.append(part)
            elif parts:
                parts.pop()
            else:
                raise self._unsafe(member, f"points to {text!r}, outside the archive")
        return PurePosixPath(*parts)

    def _unsafe(self, member: tarfile.TarInfo, reason: str) -> Damaged:
        return _unsafe(self._archive, f"{member.name!r} {reason}")


def _unsafe(archive: Path, reason: str) -> Damaged:
    return Damaged(
        "archive-unsafe",
        f"{archive} is not unpacked: {reason}.",
        hint="Fetch the archive again from its own project.",
    )


def _damaged(archive: Path, reason: str) -> Damaged:
    return Damaged(
        "archive-damaged",
        f"{archive} is not a whole tar archive: {reason}.",
        hint="Remove the file and run it again.",
    )
