"""Files that are whole or absent: atomic writes, locks, private folders, free space."""

import contextlib
import errno
import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from studio.domain.errors import HostLacks
from studio.domain.units import bytes_text

if os.name == "posix":
    import fcntl

_CHUNK = 1 << 20
_UNFINISHED = re.compile(r"\..+\.[a-z0-9_]{8}")
"""How `tempfile` names what `write_atomic` asks it for."""


def make_private(folder: Path, *, must_be_own: bool = False) -> None:
    """Create `folder` (mode 0700) and its parents.

    `must_be_own` is for names that others can guess, in folders where anybody may write: somebody
    may have been there first. Raises: HostLacks (`not-writable`, `disk-full`).
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if must_be_own and os.name == "posix" and folder.lstat().st_uid != os.getuid():
            raise PermissionError(errno.EPERM, "it belongs to another user", str(folder))
        folder.chmod(0o700)
    except OSError as error:
        raise from_os_error(error, folder) from error


def write_atomic(path: Path, data: bytes, *, mode: int = 0o644, is_durable: bool = True) -> None:
    """Write `data` beside `path`, flush it to the disk and rename it into place.

    Without `is_durable` it is not flushed: for what carries a digest of its own and can be had
    again, where a power cut may leave an empty file.

    Raises: HostLacks (`disk-full`, `not-writable`).
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(descriptor, "wb") as file:
                if os.name == "posix":
                    os.fchmod(file.fileno(), mode)
                file.write(data)
                file.flush()
                if is_durable:
                    os.fsync(file.fileno())
            Path(name).replace(path)
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                Path(name).unlink()
            raise
    except OSError as error:
        raise from_os_error(error, path) from error


def remove_unfinished(folder: Path) -> None:
    """Remove what atomic writes in `folder` left that a kill cut off. Only while nobody writes."""
    for path in folder.glob(".*"):
        if _UNFINISHED.fullmatch(path.name) and path.is_file() and not path.is_symlink():
            path.unlink(missing_ok=True)


def from_os_error(error: OSError, path: Path) -> HostLacks:
    """Return what an `OSError` on `path` means for a person."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return HostLacks(
            "disk-full",
            f"The disk that holds {path.parent} is full.",
            hint="Free some space, or move the Studio's folder with WEIR_HOME, then run it again.",
        )
    return HostLacks(
        "not-writable",
        f"{path} cannot be written: {error.strerror or error}.",
        hint="Check the folder's owner and permissions, or choose another one with WEIR_HOME.",
    )


def from_copy_error(error: OSError, target: Path, source: Path) -> HostLacks:
    """Return what an `OSError` means where `source` is read for `target`: which of both failed.

    One that names no file is about the target: who reads says so with `named`.
    """
    name = error.filename if isinstance(error.filename, str) else None
    place = Path(name) if name is not None else target
    is_reading = error.filename2 is None and place.is_relative_to(source)
    return not_readable(error, place) if is_reading else from_os_error(error, place)


def not_readable(error: OSError, path: Path) -> HostLacks:
    """Return what an `OSError` means for a person who has `path` read."""
    return HostLacks(
        "not-readable",
        f"{path} cannot be read: {error.strerror or error}.",
        hint="Check its owner and permissions, and the disk that it lies on.",
    )


def named(error: OSError, path: Path) -> OSError:
    """Return an error that says which file it is about, where a descriptor was used."""
    return OSError(error.errno, error.strerror, str(path))


def free_bytes(path: Path) -> int:
    """Return the free bytes of the disk that holds `path`, which need not exist yet."""
    probe = path
    while not probe.exists():
        probe = probe.parent
    return shutil.disk_usage(probe).free


def require_space(path: Path, needed_bytes: int, what: str) -> None:
    """Raise HostLacks (`disk-space`) unless the disk of `path` has `needed_bytes` free."""
    free = free_bytes(path)
    if free < needed_bytes:
        raise HostLacks(
            "disk-space",
            f"{what} needs {bytes_text(needed_bytes)} in {path}; {bytes_text(free)} is free.",
            hint=f"Free {bytes_text(needed_bytes - free)}, or choose another disk with WEIR_HOME.",
            data={"needed_bytes": needed_bytes, "free_bytes": free},
        )


def sha256_file(path: Path) -> str:
    """Return the sha256 of a file as hex."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def sha256_bytes(data: bytes) -> str:
    """Return the sha256 of `data` as hex."""
    return hashlib.sha256(data).hexdigest()


def folder_bytes(folder: Path) -> int:
    """Return the size of all files under `folder`, each inode counted once."""
    seen: set[tuple[int, int]] = set()
    total = 0
    left = [os.fspath(folder)]
    while left:
        # Not os.walk and Path.lstat, which take three times as long for a runtime's 55,000 files.
        with contextlib.suppress(OSError), os.scandir(left.pop()) as items:
            for item in items:
                if item.is_dir():
                    left += [] if item.is_symlink() else [item.path]
                    continue
                with contextlib.suppress(FileNotFoundError):
                    stat = item.stat(follow_symlinks=False)
                    # Windows tells no inode here: 0 is none.
                    if not stat.st_ino or (stat.st_dev, stat.st_ino) not in seen:
                        seen.add((stat.st_dev, stat.st_ino))
                        total += stat.st_size
    return total


@contextlib.contextmanager
def exclusive(path: Path, *, is_shared: bool = False) -> Iterator[bool]:
    """Hold the lock file `path` while inside; yields False when another process holds it.

    With `is_shared`, others may hold it the same way. The kernel frees the lock when the holder
    dies, however it dies.
    Raises: HostLacks (`not-writable`, `disk-full`) where the file cannot be made.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("a+b")
    except OSError as error:
        raise from_os_error(error, path) from error
    with file:
        if os.name != "posix":  # WORKAROUND(windows): the service runs in WSL2, so POSIX there
            yield True
            return
        try:
            kind = fcntl.LOCK_SH if is_shared else fcntl.LOCK_EX
            fcntl.flock(file, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        yield True
