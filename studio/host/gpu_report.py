"""What one source (NVML or nvidia-smi) told of the cards."""

import dataclasses

from studio.domain.hardware import Adapter, Gpu, GpuLink

INTEGRATED_CAPABILITIES = frozenset(("5.3", "6.2", "7.2", "8.7", "10.1", "11.0", "12.1"))
"""Chips that share the machine's memory: Tegra X1 and X2, Xavier, Orin, Thor (two names), GB10.

Source: NVIDIA's table of compute capabilities; no desktop or server card has one of these.
"""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class GpuReport:
    """Cards with memory of their own, chips without, and what the driver says of itself."""

    source: str | None = None
    driver: str | None = None
    cuda_version: str | None = None
    cards: tuple[Gpu, ...] = ()
    links: tuple[GpuLink, ...] = ()
    integrated: tuple[Adapter, ...] = ()
    note: str | None = None
    fault: str | None = None


def sorted_out(
    found: tuple[Gpu, ...],
    *,
    source: str,
    driver: str | None,
    cuda_version: str | None,
    links: tuple[GpuLink, ...] = (),
) -> GpuReport:
    """Return the report of a source that answered; integrated chips go apart, uncounted."""
    cards = tuple(one for one in found if one.compute_capability not in INTEGRATED_CAPABILITIES)
    chips = tuple(_adapter(one) for one in found if one not in cards)
    note = fault = None
    if not cards:
        fault = "no-card"
        note = "NVIDIA's driver lists no card."
        if chips:
            names = ", ".join(one.name for one in chips)
            note = f"NVIDIA's driver lists only {names}, which has no memory of its own."
    kept = {one.index for one in cards}
    return GpuReport(
        source=source,
        driver=driver,
        cuda_version=cuda_version,
        cards=cards,
        links=tuple(one for one in links if {one.first, one.second} <= kept),
        integrated=chips,
        note=note,
        fault=fault,
    )


def _adapter(chip: Gpu) -> Adapter:
    return Adapter(
        name=chip.name,
        vendor="nvidia",
        pci_bus_id=chip.pci_bus_id,
        is_integrated=True,
        compute_capability=chip.compute_capability,
    )


def short_bus_id(text: str | None) -> str | None:
    """Return a PCI address as Linux writes it: `0000:0b:00.0` for NVIDIA's `00000000:0B:00.0`."""
    if not text:
        return None
    domain, colon, rest = text.strip().lower().partition(":")
    return f"{domain[-4:]}{colon}{rest}"
