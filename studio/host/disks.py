"""The file systems that hold our folders: how large, how fast, and on whose side of WSL."""

import contextlib
import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

import msgspec

from studio.domain.hardware import Disk, DiskKind

_NETWORK = frozenset(
    (
        *("nfs", "nfs4", "cifs", "smb3", "smbfs", "afs"),
        *("ceph", "glusterfs", "lustre", "beegfs", "gpfs"),
        *("fuse.sshfs", "fuse.rclone", "fuse.glusterfs", "fuse.s3fs", "fuse.gcsfuse"),
    )
)
_MEMORY = frozenset(("tmpfs", "ramfs"))
_WINDOWS = frozenset(("9p", "drvfs", "virtiofs"))
_DRIVE = re.compile(r"^([A-Za-z]:|drvfs|drvfsa)", re.IGNORECASE)
_VIRTUAL_NAMES = ("vd", "xvd")
_VIRTUAL_MODELS = ("virtual", "qemu", "vbox", "vmware", "msft")
_MOST_LAYERS = 8


class Mount(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the kernel's list of mounts."""

    point: str
    device: str
    """`major:minor`."""
    file_system: str
    source: str


def disks(
    folders: Mapping[str, Path], *, is_wsl: bool = False, root: Path = Path("/")
) -> tuple[Disk, ...]:
    """Return the disk of each folder, those on the same one together. Folders need not exist."""
    mounts = _mounts(root)
    found: dict[str, Disk] = {}
    for name, folder in folders.items():
        place = existing(folder)
        mount = mount_of(place, mounts)
        key = mount.point if mount is not None else str(place.anchor)
        if key in found:
            before = found[key]
            found[key] = msgspec.structs.replace(before, holds=(*before.holds, name))
        else:
            found[key] = _disk(name, place, mount, is_wsl=is_wsl, root=root)
    return tuple(found.values())


def existing(folder: Path) -> Path:
    """Return the folder, or the nearest one above it that exists, with its links resolved."""
    place = folder
    while not _is_there(place) and place != place.parent:
        place = place.parent
    try:
        return place.resolve()
    except (OSError, RuntimeError):  # a ring of links
        return place


def _is_there(place: Path) -> bool:
    """Tell whether a file is there; one that may not be looked at is not."""
    try:
        place.stat()
    except (OSError, ValueError):
        return False
    return True


def _disk(name: str, place: Path, mount: Mount | None, *, is_wsl: bool, root: Path) -> Disk:
    total = free = None
    with contextlib.suppress(OSError):  # a network disk that is gone
        total, _, free = shutil.disk_usage(place)
    is_windows = None
    if mount is not None:
        is_windows = is_wsl and mount.file_system in _WINDOWS and bool(_DRIVE.match(mount.source))
    return Disk(
        holds=(name,),
        mount=mount.point if mount is not None else None,
        file_system=mount.file_system if mount is not None else None,
        kind=_kind(mount, is_wsl=is_wsl, root=root) if mount is not None else None,
        total_bytes=total,
        free_bytes=free,
        is_windows_mount=is_windows,
        is_writable=os.access(place, os.W_OK | os.X_OK),
    )


def _mounts(root: Path) -> list[Mount]:
    try:
        text = (root / "proc/self/mountinfo").read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return []
    return [one for one in map(read_mount, text.splitlines()) if one is not None]


def read_mount(line: str) -> Mount | None:
    """Return one line of `/proc/self/mountinfo`, None for one that is cut short."""
    before, dash, after = line.partition(" - ")
    fields, tail = before.split(" "), after.split(" ")
    if not dash or len(fields) < 5 or len(tail) < 2:
        return None
    return Mount(
        point=_unescaped(fields[4]),
        device=fields[2],
        file_system=tail[0],
        source=_unescaped(tail[1]),
    )


def _unescaped(text: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), text)


def mount_of(place: Path, mounts: list[Mount]) -> Mount | None:
    """Return the mount that `place` lies on: the deepest, and of those the newest."""
    best: Mount | None = None
    here = PurePosixPath(place)
    for mount in mounts:
        point = PurePosixPath(mount.point)
        is_deeper = best is None or len(point.parts) >= len(PurePosixPath(best.point).parts)
        if is_deeper and here.is_relative_to(point):
            best = mount
    return best


def _kind(mount: Mount, *, is_wsl: bool, root: Path) -> DiskKind | None:
    if mount.file_system in _NETWORK or (mount.file_system == "9p" and not is_wsl):
        return DiskKind.NETWORK
    if mount.file_system in _MEMORY:
        return DiskKind.MEMORY
    if is_wsl:  # whatever Windows keeps the disk's image on
        return DiskKind.VIRTUAL
    block = _block(mount, root)
    return _kind_of_block(block) if block is not None else None


def _block(mount: Mount, root: Path) -> Path | None:
    """Return the folder in /sys of the block device, None for file systems without one."""
    device = mount.device
    if device.startswith("0:"):  # btrfs and others number themselves; their source is the device
        try:
            is_device = mount.source.startswith("/dev/")
            number = Path(mount.source).stat().st_rdev if is_device else 0
        except OSError:
            return None
        device = f"{os.major(number)}:{os.minor(number)}"
    place = root / "sys/dev/block" / device
    try:
        return place.resolve(strict=True) if not device.startswith("0:") else None
    except OSError:
        return None


def _kind_of_block(block: Path) -> DiskKind | None:
    """Return how fast the disk under a partition, an encrypted or a joined volume is."""
    for _ in range(_MOST_LAYERS):
        if (block / "partition").exists():
            block = block.parent
        try:
            below = sorted((block / "slaves").iterdir())
        except OSError:
            below = []
        if not below:
            break
        block = below[0].resolve()
    model = _text(block / "device/model").lower()
    if block.name.startswith(_VIRTUAL_NAMES) or any(mark in model for mark in _VIRTUAL_MODELS):
        return DiskKind.VIRTUAL
    if block.name.startswith("nvme"):
        return DiskKind.NVME
    spins = _text(block / "queue/rotational")
    return {"1": DiskKind.ROTATIONAL, "0": DiskKind.SSD}.get(spins)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
