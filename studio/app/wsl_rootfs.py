"""Unpacks the root file system that came along to the plain tar that every WSL reads.

It is packed by xz; what comes with Windows 10, and the older WSL of the store, import plain tar and
gzip only. The unpacked file lies in the Studio's folder and is gone when the import is over.
"""

import asyncio
import contextlib
import lzma
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

from studio.domain.errors import Damaged
from studio.host import files

UNPACKED = "rootfs.tar"
DISK = "ext4.vhdx"
"""WSL's own name for the disk image that it makes of it."""
_GROWS = 4
"""It takes so many times its size at most (2026-11: 53 MB, 174 MB)."""
_COPY_BYTES = 1 << 20


@contextlib.asynccontextmanager
async def plain(rootfs: Path, folder: Path) -> AsyncIterator[Path]:
    """Yield the file to import: another than xz's as it is.

    Raises: HostLacks (`disk-space`, `disk-full`, `not-writable`), Damaged (`rootfs-damaged`).
    """
    if rootfs.suffix != ".xz":
        yield rootfs
        return
    target = folder / UNPACKED
    try:
        await asyncio.to_thread(_unpack, rootfs, target)
        yield target
    finally:
        with contextlib.suppress(OSError):  # a scanner holds it: the next time it is written over
            target.unlink(missing_ok=True)


def written_bytes(folder: Path, image: Path) -> int | None:
    """Return how much is written while an import is under way; None: none is.

    `folder` takes the unpacked file, which lies there as long as the import takes; `image` is the
    folder of the disk image, which may be one that nobody imports.
    """
    sizes = []
    for path in (folder / UNPACKED, image / DISK):
        try:
            sizes.append(path.stat().st_size)
        except OSError:
            break
    return sum(sizes) if sizes else None


def _unpack(rootfs: Path, target: Path) -> None:
    files.make_private(target.parent)
    needed_bytes = rootfs.stat().st_size * _GROWS
    files.require_space(target.parent, needed_bytes, "The Studio's Linux")
    try:
        with lzma.open(rootfs) as packed, target.open("wb") as file:
            shutil.copyfileobj(packed, file, _COPY_BYTES)
    except (lzma.LZMAError, EOFError) as error:
        raise Damaged(
            "rootfs-damaged",
            f"The root file system {rootfs} is damaged: {str(error).rstrip('.')}.",
            hint="Install the Studio for Windows again.",
        ) from error
    except OSError as error:
        raise files.from_copy_error(error, target, rootfs) from error
