"""A repository's folder in the layout of huggingface_hub's cache, so that other tools find it.

models--OWNER--NAME/refs/REVISION          the commit that a branch named
                    /blobs/ETAG            a file's content, under its sha256 or git's name of it
                    /snapshots/COMMIT/PATH a link to it; where there are no links, the file itself
.locks/models--OWNER--NAME/ETAG.lock       who is fetching it

Source: huggingface_hub 2.4, file_download.py and docs "Understand caching".
"""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Callable
from pathlib import Path, PurePosixPath

from studio.domain.downloads import FetchedFile
from studio.host.files import write_atomic
from studio.hub.repository import is_commit

if os.name == "posix":
    import fcntl

_LOOK_S = 0.1
_LOCK_FLAGS = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)


class Layout:
    """One repository in one cache. Its methods block and raise OSError."""

    def __init__(self, cache: Path, repository: str) -> None:
        self._cache = cache
        self._name = f"models--{repository.replace('/', '--')}"
        self.folder = cache / self._name

    def snapshot(self, commit: str) -> Path:
        """Return the folder that looks as the repository does at a commit."""
        return self.folder / "snapshots" / commit

    def blob(self, file: FetchedFile) -> Path:
        """Return where a file's content lies."""
        return self.folder / "blobs" / _etag(file)

    def pointer(self, commit: str, file: FetchedFile) -> Path:
        """Return where a file is found under its own name."""
        return self.snapshot(commit).joinpath(*PurePosixPath(file.path).parts)

    def lock(self, file: FetchedFile) -> Path:
        """Return the lock that huggingface_hub holds too while it fetches the file."""
        return self._cache / ".locks" / self._name / f"{_etag(file)}.lock"

    def is_here(self, commit: str, file: FetchedFile) -> bool:
        """Return whether a file is in its place, by its size: names of blobs are digests."""
        return _has_size(self.pointer(commit, file), file.bytes)

    def is_blob_here(self, file: FetchedFile) -> bool:
        """Return whether a file's content is here, for whatever commit."""
        return _has_size(self.blob(file), file.bytes)

    def place(self, commit: str, file: FetchedFile) -> None:
        """Let a blob that is here be found under the file's own name, in one step.

        By a symbolic link; where there are none, a hard link; else the blob itself moves there.
        The file's lock is held meanwhile; what a killed one left of it is taken away.
        """
        pointer, blob = self.pointer(commit, file), self.blob(file)
        pointer.parent.mkdir(parents=True, exist_ok=True)
        made = pointer.with_name(f".{_etag(file)[:16]}.link")
        made.unlink(missing_ok=True)
        try:
            made.symlink_to(os.path.relpath(blob, pointer.parent))
        except (OSError, NotImplementedError):
            try:
                made.hardlink_to(blob)
            except (OSError, NotImplementedError):
                blob.replace(pointer)
                return
        made.replace(pointer)
        made.unlink(missing_ok=True)  # a rename onto a link of the same file does nothing

    def commit_of(self, revision: str) -> str | None:
        """Return the commit that a branch or tag was resolved to, or None."""
        if is_commit(revision):
            return revision
        try:
            text = self._ref(revision).read_text("ascii").strip()
        except (OSError, UnicodeDecodeError):
            return None
        return text if is_commit(text) else None

    def note_commit(self, revision: str, commit: str) -> None:
        """Write down what a branch or tag was resolved to."""
        if revision != commit and self.commit_of(revision) != commit:
            ref = self._ref(revision)
            ref.parent.mkdir(parents=True, exist_ok=True)
            write_atomic(ref, commit.encode())

    def _ref(self, revision: str) -> Path:
        return (self.folder / "refs").joinpath(*PurePosixPath(revision).parts)


@contextlib.asynccontextmanager
async def locked(path: Path, on_wait: Callable[[], None]) -> AsyncIterator[None]:
    """Hold a lock of huggingface_hub's kind: `flock`, the file removed when it is let go.

    Whoever waited may have got a lock on a file that has no name any more: that one counts for
    nothing, here as there (filelock, `_unix.py`).
    """
    if os.name != "posix":  # WORKAROUND(windows): the service runs in WSL2, so POSIX there
        yield
        return
    while (file := _try_lock(path)) is None:
        on_wait()
        await asyncio.sleep(_LOOK_S)
    try:
        yield
    finally:
        _let_go(path, file)


def _let_go(path: Path, file: int) -> None:
    try:
        path.unlink(missing_ok=True)
    finally:
        os.close(file)


def _try_lock(path: Path) -> int | None:
    try:
        file = os.open(path, _LOCK_FLAGS, 0o664)
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = os.open(path, _LOCK_FLAGS, 0o664)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(path.stat(), os.fstat(file)):
            return file
    except (BlockingIOError, FileNotFoundError):
        pass
    except BaseException:
        os.close(file)
        raise
    os.close(file)
    return None


def _has_size(path: Path, size: int) -> bool:
    try:
        return path.stat().st_size == size
    except OSError:
        return False


def _etag(file: FetchedFile) -> str:
    return file.sha256 or file.blob_id or ""
