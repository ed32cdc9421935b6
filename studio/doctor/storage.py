"""The disks that hold our folders: room, speed, and whether we may write."""

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

from studio.doctor.verdicts import good, listed, look, names, stops, unknown
from studio.domain.doctor import EVERYTHING, Area, Check
from studio.domain.hardware import Disk, DiskKind, HostSnapshot
from studio.domain.manifests import RuntimeRecipe
from studio.domain.units import bytes_text

_AREA = Area.STORAGE
_KINDS = {
    DiskKind.NVME: "An NVMe disk",
    DiskKind.SSD: "A solid-state disk",
    DiskKind.ROTATIONAL: "A hard disk",
    DiskKind.NETWORK: "A network disk",
    DiskKind.MEMORY: "A disk in memory, empty after a restart",
    DiskKind.VIRTUAL: "A disk of a virtual machine",
}


def checks(
    host: HostSnapshot, recipes: Sequence[RuntimeRecipe], installed: AbstractSet[str]
) -> Iterator[Check]:
    """Yield the checks of every disk. `installed`: names of runtimes that need no room any more."""
    if not host.disks:
        yield _room(host.disk_free_bytes, "The Studio's folder", recipes, installed)
    for disk in host.disks:
        yield from _writable(disk)
        if "runtimes" in disk.holds:
            yield _room(disk.free_bytes, _title(disk), recipes, installed)
        elif disk.free_bytes is not None:
            found = f"{bytes_text(disk.free_bytes)} is free."
            yield good("disk-room", _AREA, _title(disk), found)
        yield from _speed(disk)


def _title(disk: Disk) -> str:
    what = "home" if "home" in disk.holds else listed(disk.holds)
    return f"Disk of {what} ({disk.mount})" if disk.mount else f"Disk of {what}"


def _writable(disk: Disk) -> Iterator[Check]:
    if disk.is_writable is False:
        found = f"Nothing can be written there ({listed(disk.holds)})."
        advice = (
            "Check owner and permissions of the Studio's folder, or choose another with WEIR_HOME."
        )
        yield stops("disk-writable", _AREA, _title(disk), found, advice, what=(EVERYTHING,))


def _room(
    free: int | None,
    title: str,
    recipes: Sequence[RuntimeRecipe],
    installed: AbstractSet[str],
) -> Check:
    if free is None:
        return unknown("disk-room", _AREA, title, "How much is free could not be found out.")
    here = f"{bytes_text(free)} is free"
    small = [
        recipe
        for recipe in recipes
        if recipe.name not in installed and recipe.needs.disk_bytes > free
    ]
    if not small:
        return good("disk-room", _AREA, title, f"{here}.")
    needed = min(recipe.needs.disk_bytes for recipe in small)
    found = f"{here}; {listed(names(small))} need {bytes_text(needed)} or more to be installed."
    advice = f"Free {bytes_text(needed - free)}, or choose another disk with WEIR_HOME."
    if len(small) == len(recipes):
        return stops("disk-room", _AREA, title, found, advice, what=(EVERYTHING,))
    return look("disk-room", _AREA, title, found, advice)


def _speed(disk: Disk) -> Iterator[Check]:
    title = f"Speed of disk {disk.mount}" if disk.mount else "Speed of the disk"
    if disk.is_windows_mount:
        # HyperQwen's documentation, and WSL's own on working across file systems.
        found = (
            "It is a Windows disk seen from WSL: many small files take ten to fifty times longer "
            "there."
        )
        advice = "Keep the Studio's folder on WSL's own disk, for example under your Linux home."
        yield look("disk-speed", _AREA, title, found, advice)
        return
    system = f" ({disk.file_system})" if disk.file_system else ""
    if disk.kind is None:
        if disk.file_system:
            found = f"How fast it is could not be found out{system}."
            yield unknown("disk-speed", _AREA, title, found)
        return
    said = f"{_KINDS[disk.kind]}{system}"
    match disk.kind:
        case DiskKind.ROTATIONAL:
            advice = "Loading a model takes minutes from it; a solid-state disk takes seconds."
            yield look("disk-speed", _AREA, title, f"{said}.", advice)
        case DiskKind.NETWORK:
            advice = (
                "Loading goes over the network, and locks may not hold there: keep the Studio's "
                "folder on a disk of this machine (WEIR_HOME)."
            )
            yield look("disk-speed", _AREA, title, f"{said}.", advice)
        case DiskKind.MEMORY:
            advice = "Choose a disk with WEIR_HOME, or everything is installed again."
            yield look("disk-speed", _AREA, title, f"{said}.", advice)
        case _:
            yield good("disk-speed", _AREA, title, f"{said}.")
