"""Which disk holds a folder, and of what kind it is."""

import os
import stat
from pathlib import Path

import pytest

from studio.domain.hardware import DiskKind
from studio.host import disks

ROOT = "36 1 8:2 / / rw,relatime shared:1 - ext4 /dev/sda2 rw"


def mounted(root: Path, *lines: str) -> None:
    """Write the kernel's list of mounts."""
    path = root / "proc/self/mountinfo"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join((ROOT, *lines)) + "\n", encoding="utf-8")


def block(root: Path, number: str, name: str, **files: str) -> Path:
    """Make a block device in /sys; `__` in a name stands for a slash."""
    device = root / "sys/devices" / name
    device.mkdir(parents=True, exist_ok=True)
    for file, text in files.items():
        path = device / file.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    link = root / "sys/dev/block" / number
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(device)
    return device


def kind_on(root: Path, folder: Path, *, is_wsl: bool = False) -> DiskKind | None:
    """Return the kind of the disk that holds `folder`."""
    (found,) = disks.disks({"home": folder}, is_wsl=is_wsl, root=root)
    return found.kind


def test_the_disk_of_this_machine_is_found(tmp_path: Path) -> None:
    """With the real kernel's lists."""
    (found,) = disks.disks({"home": tmp_path / "not" / "yet", "cache": tmp_path})

    sizes = os.statvfs(tmp_path)
    assert found.holds == ("home", "cache")
    assert found.total_bytes == sizes.f_blocks * sizes.f_frsize
    assert found.is_writable is True
    assert found.file_system
    assert found.is_windows_mount is False


def test_folders_on_different_disks_are_told_apart(tmp_path: Path) -> None:
    """Models often lie on a larger, slower disk than the rest."""
    big = tmp_path / "big disk"
    big.mkdir()
    escaped = str(big).replace(" ", "\\040")
    mounted(tmp_path, f"40 36 8:16 / {escaped} rw - xfs /dev/sdb rw")
    (tmp_path / "models").symlink_to(big)

    found = disks.disks({"home": tmp_path / "home", "models": tmp_path / "models"}, root=tmp_path)

    assert [one.holds for one in found] == [("home",), ("models",)]
    assert [one.file_system for one in found] == ["ext4", "xfs"]
    assert found[1].mount == str(big)


@pytest.mark.parametrize(
    ("name", "files", "kind"),
    [
        ("nvme0n1", {"queue__rotational": "0"}, DiskKind.NVME),
        ("sda", {"queue__rotational": "0"}, DiskKind.SSD),
        ("sda", {"queue__rotational": "1"}, DiskKind.ROTATIONAL),
        ("vda", {"queue__rotational": "1"}, DiskKind.VIRTUAL),
        ("sda", {"queue__rotational": "1", "device__model": "Virtual Disk"}, DiskKind.VIRTUAL),
        ("sda", {"device__model": "QEMU HARDDISK"}, DiskKind.VIRTUAL),
        ("sda", {}, None),
    ],
)
def test_the_kernel_knows_what_spins(
    name: str, files: dict[str, str], kind: DiskKind | None, tmp_path: Path
) -> None:
    """A model of 20 GB takes seconds from one and minutes from another."""
    mounted(tmp_path)
    device = block(tmp_path, "8:0", name, **files)
    block(tmp_path, "8:2", f"{name}/{name}2", partition="2")
    assert device.is_dir()

    assert kind_on(tmp_path, tmp_path) is kind


def test_the_disk_under_an_encrypted_volume_is_found(tmp_path: Path) -> None:
    """The mapped device says nothing about what is below it."""
    mounted(tmp_path, f"40 36 253:0 / {tmp_path} rw - ext4 /dev/mapper/root rw")
    disk = block(tmp_path, "259:0", "nvme0n1", queue__rotational="0")
    part = block(tmp_path, "259:1", "nvme0n1/nvme0n1p1", partition="1")
    mapped = block(tmp_path, "253:0", "dm-0", queue__rotational="0")
    (mapped / "slaves").mkdir()
    (mapped / "slaves" / "nvme0n1p1").symlink_to(part)
    assert disk.is_dir()

    assert kind_on(tmp_path, tmp_path) is DiskKind.NVME


@pytest.mark.parametrize(
    ("file_system", "source", "is_wsl", "kind"),
    [
        ("nfs4", "server:/export", False, DiskKind.NETWORK),
        ("cifs", "//server/share", False, DiskKind.NETWORK),
        ("fuse.sshfs", "me@there:", False, DiskKind.NETWORK),
        ("9p", "share", False, DiskKind.NETWORK),
        ("tmpfs", "tmpfs", False, DiskKind.MEMORY),
        ("overlay", "overlay", False, None),
        ("ext4", "/dev/sdc", True, DiskKind.VIRTUAL),
    ],
)
def test_file_systems_without_a_disk_of_their_own(
    file_system: str, source: str, is_wsl: bool, kind: DiskKind | None, tmp_path: Path
) -> None:
    """Network, memory, layers of a container, the image that WSL lives in."""
    mounted(tmp_path, f"40 36 0:40 / {tmp_path} rw - {file_system} {source} rw")

    assert kind_on(tmp_path, tmp_path, is_wsl=is_wsl) is kind


@pytest.mark.parametrize(
    ("file_system", "source", "is_windows"),
    [("9p", "C:\\134", True), ("drvfs", "drvfs", True), ("9p", "none", False)],
)
def test_a_windows_disk_seen_from_wsl(
    file_system: str, source: str, is_windows: bool, tmp_path: Path
) -> None:
    """Ten to fifty times slower with many small files."""
    mounted(tmp_path, f"40 36 0:40 / {tmp_path} rw - {file_system} {source} rw")

    (found,) = disks.disks({"home": tmp_path}, is_wsl=True, root=tmp_path)

    assert found.is_windows_mount is is_windows


@pytest.mark.parametrize("line", ["", "36 1 8:2 / /", "36 1 - ext4", " - ", "a b c d e - f"])
def test_half_a_line_is_no_mount(line: str) -> None:
    """The list changes while it is read."""
    assert disks.read_mount(line) is None


def test_without_the_kernels_list_the_sizes_are_still_told(tmp_path: Path) -> None:
    """A hardened machine hides /proc; other systems have none."""
    (found,) = disks.disks({"home": tmp_path}, root=tmp_path / "empty")

    assert found.kind is None
    assert found.mount is None
    assert found.free_bytes is not None


def test_a_ring_of_links_ends(tmp_path: Path) -> None:
    """Somebody's models folder points at itself."""
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")

    assert disks.existing(tmp_path / "a" / "models") == tmp_path.resolve()


def test_a_folder_that_may_not_be_looked_into_is_answered_from_above(tmp_path: Path) -> None:
    """Somebody else's home in WEIR_HOME: a verdict, not a traceback."""
    shut = tmp_path / "shut"
    shut.mkdir()
    shut.chmod(0)
    try:
        (found,) = disks.disks({"home": shut / "deep" / "home"})
    finally:
        shut.chmod(stat.S_IRWXU)

    assert found.free_bytes is not None
    assert found.is_writable is (os.getuid() == 0)


def test_a_name_that_no_disk_can_hold_is_answered_from_above(tmp_path: Path) -> None:
    """Longer than any file system allows."""
    (found,) = disks.disks({"home": tmp_path / ("x" * 5000)})

    assert found.free_bytes is not None
