"""Digests that were computed here, by inode, size and time: a file is not read twice for nothing.

One record file; losing it costs time and nothing else. A file that was written since has another
time and so no digest.
"""

import threading
import time
from collections.abc import Iterable
from pathlib import Path

import msgspec

from studio.domain.errors import StudioError
from studio.host.files import write_atomic
from studio.models.finding import File

FILE = ".digests.json"
_MOST = 200_000
_LIMIT_BYTES = 64 << 20
_LARGE_BYTES = 64 << 20
_WRITE_S = 5.0
"""So much reading of small files is done again after a kill, and so seldom is all of it written."""


class Digest(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """What the content of a file was."""

    size_bytes: int
    modified_ns: int
    sha256: str
    git_blob: str | None = None
    at_s: float
    """When it was read, in seconds since 1970."""


class DigestBook:
    """The digests of one home; may be used from several threads."""

    def __init__(self, models: Path) -> None:
        self._path = models / FILE
        self._lock = threading.Lock()
        self._known: dict[str, Digest] | None = None
        self._is_changed = False
        self._written_at = time.monotonic()

    def get(self, file: File) -> Digest | None:
        """Return the digest of a file as it is now."""
        with self._lock:
            found = self._all().get(_key(file))
        is_same = (
            found is not None
            and found.size_bytes == file.size
            and found.modified_ns == file.mtime_ns
        )
        return found if is_same else None

    def put(self, file: File, digest: Digest) -> None:
        """Keep a digest; of a large file it is written at once, of small ones now and then.

        Raises: HostLacks (`disk-full`, `not-writable`).
        """
        with self._lock:
            known = self._all()
            known.pop(_key(file), None)
            known[_key(file)] = digest
            while len(known) > _MOST:
                del known[next(iter(known))]
            self._is_changed = True
            is_due = time.monotonic() - self._written_at > _WRITE_S
            if digest.size_bytes >= _LARGE_BYTES or is_due:
                self._write()

    def flush(self) -> None:
        """Write what is not written yet. Raises: HostLacks (`disk-full`, `not-writable`)."""
        with self._lock:
            if self._is_changed:
                self._write()

    def _write(self) -> None:
        write_atomic(self._path, msgspec.json.encode(self._known), is_durable=False)
        self._is_changed = False
        self._written_at = time.monotonic()

    def forget(self, files: Iterable[File]) -> None:
        """Drop what was known of files that are gone."""
        with self._lock:
            known = self._all()
            before = len(known)
            for file in files:
                known.pop(_key(file), None)
            if len(known) != before:
                self._write()

    def _all(self) -> dict[str, Digest]:
        if self._known is None:
            self._known = _read(self._path)
        return self._known


def _key(file: File) -> str:
    return f"{file.device}:{file.inode}"


def _read(path: Path) -> dict[str, Digest]:
    try:
        if path.stat().st_size > _LIMIT_BYTES:
            return {}
        return msgspec.json.decode(path.read_bytes(), type=dict[str, Digest])
    except (OSError, StudioError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return {}
