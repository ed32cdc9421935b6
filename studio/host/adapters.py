"""What else draws on this machine, by the kernel's list of PCI devices.

Only named, never counted: the memory of an integrated chip is the machine's.
"""

from collections.abc import Set as AbstractSet
from pathlib import Path

from studio.domain.hardware import Adapter

_VENDORS = {
    "0x10de": ("nvidia", "NVIDIA"),
    "0x1002": ("amd", "AMD"),
    "0x8086": ("intel", "Intel"),
    "0x1a03": ("aspeed", "ASPEED"),
    "0x102b": ("matrox", "Matrox"),
}
_DISPLAY_CLASS = "0x03"
_INTEL_INTEGRATED_BUS = "0000:00:02."
"""Intel's chip inside the processor always sits here; its cards never do."""


def adapters(known: AbstractSet[str | None], *, root: Path = Path("/")) -> tuple[Adapter, ...]:
    """Return the display devices whose address is not among `known` (those the driver lists)."""
    folder = root / "sys/bus/pci/devices"
    try:
        places = sorted(folder.iterdir())
    except OSError:
        return ()
    return tuple(
        _adapter(place)
        for place in places
        if place.name not in known and _text(place / "class").startswith(_DISPLAY_CLASS)
    )


def _adapter(place: Path) -> Adapter:
    number = _text(place / "vendor")
    vendor, name = _VENDORS.get(number, (number or None, number or "unknown maker"))
    device = _text(place / "device").removeprefix("0x")
    is_integrated = True if place.name.startswith(_INTEL_INTEGRATED_BUS) else None
    return Adapter(
        name=f"{name} display adapter {device}".rstrip(),
        vendor=vendor,
        pci_bus_id=place.name,
        is_integrated=is_integrated,
    )


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return ""
