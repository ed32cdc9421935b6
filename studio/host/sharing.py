"""One file under two names: a hard link, else a clone of its blocks, else a copy.

A link shares everything, time and mode included, and costs nothing. A clone (btrfs, XFS) shares
the blocks until one side is written. A copy takes the space again. Which of them a disk can do is
found out by trying: file systems, mounts and policies differ more than any table could say.
"""

import enum
import errno
import os
import shutil
import tempfile
from pathlib import Path

if os.name == "posix":
    import fcntl

_FICLONE = 0x40049409
"""ioctl(2) of Linux: make the target's blocks those of the source (ioctl_ficlone(2))."""
_NO_LINK = frozenset(
    (
        errno.EXDEV,  # another file system, or another mount of the same one
        errno.EPERM,  # vfat and exfat; a file of another user (fs.protected_hardlinks)
        errno.EMLINK,  # 65,000 names on ext4, 32,000 on ext3
        errno.ENOTSUP,
        errno.ENOSYS,
        errno.EACCES,
    )
)
_TRIAL = ".trial-"


class Way(enum.StrEnum):
    """How two names came to the same content."""

    LINK = "link"
    CLONE = "clone"
    COPY = "copy"


def share(source: Path | str, target: Path | str) -> Way:
    """Give the file `source` a second name; `target` must not exist, and is whole or absent.

    Raises: OSError; FileExistsError when there is a `target`.
    """
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError as error:
        if error.errno not in _NO_LINK:
            raise
    else:
        return Way.LINK
    if Path(target).exists():
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target))
    fresh = _beside(Path(target))
    try:
        way = _reproduce(Path(source), fresh)
        fresh.replace(target)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise
    return way


def share_over(source: Path, target: Path) -> Way:
    """Do as `share`, in the place of a file that may be there; a reader sees the old or the new.

    Raises: OSError.
    """
    fresh = _beside(target)
    fresh.unlink()
    try:
        way = share(source, fresh)
        fresh.replace(target)
    finally:
        # Renaming one name of a file over another of the same file does nothing and leaves both.
        fresh.unlink(missing_ok=True)
    return way


def way_of(folder: Path) -> Way:
    """Find out how the disk of `folder` shares files. Raises: OSError."""
    descriptor, name = tempfile.mkstemp(dir=folder, prefix=_TRIAL)
    first, second = Path(name), Path(f"{name}.second")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(b"?")
        return share(first, second)
    finally:
        second.unlink(missing_ok=True)
        first.unlink(missing_ok=True)


def is_leftover(name: str) -> bool:
    """Tell whether a name is one that a kill during `share` or `way_of` leaves behind."""
    return name.startswith((_TRIAL, ".share-"))


def _beside(target: Path) -> Path:
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=".share-")
    os.close(descriptor)
    return Path(name)


def clone(source: Path, fresh: Path) -> bool:
    """Make `fresh` with the blocks of `source`; False, and no file, where that cannot be done.

    Raises: OSError where a file cannot be made at all.
    """
    if os.name != "posix":
        return False
    with source.open("rb") as old, fresh.open("xb") as new:
        try:
            fcntl.ioctl(new.fileno(), _FICLONE, old.fileno())
        except OSError:
            fresh.unlink()
            return False
    return True


def can_clone(folder: Path) -> bool:
    """Find out whether files of this folder's disk can share blocks. Raises: OSError."""
    descriptor, name = tempfile.mkstemp(dir=folder, prefix=_TRIAL)
    first, second = Path(name), Path(f"{name}.second")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(b"?")
        return clone(first, second)
    finally:
        second.unlink(missing_ok=True)
        first.unlink(missing_ok=True)


def _reproduce(source: Path, fresh: Path) -> Way:
    fresh.unlink()
    way = Way.CLONE if clone(source, fresh) else Way.COPY
    if way is Way.COPY:
        shutil.copyfile(source, fresh)
    shutil.copystat(source, fresh)
    return way
