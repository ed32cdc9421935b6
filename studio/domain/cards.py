"""One reading of one card, taken once a second. `None` means not known, never zero."""

import msgspec

from studio.domain.hardware import GpuProcess


class CardSample(msgspec.Struct, frozen=True, kw_only=True):
    """What a card does in this second; what it *is* stands in `hardware.Gpu`."""

    index: int
    """As NVIDIA's driver counts, in PCI bus order."""
    uuid: str | None = None
    name: str
    memory_total_bytes: int | None = None
    memory_used_bytes: int | None = None
    utilisation_share: float | None = None
    """Share of the last period in which a kernel ran, 0 to 1; not how full the card was."""
    controller_share: float | None = None
    """Share of the last period in which the memory was read or written, 0 to 1."""
    power_w: float | None = None
    power_limit_w: float | None = None
    sm_clock_mhz: int | None = None
    memory_clock_mhz: int | None = None
    temperature_c: int | None = None
    throttle: tuple[str, ...] | None = None
    """Why it runs slower than it could (`nvml.THROTTLE_REASONS`); empty: nothing holds it back."""
    pcie_rx_bytes_per_s: float | None = None
    """Means of 20 ms, taken of one card a second in turn, because the driver holds the caller for
    as long: with eight cards up to eight seconds old."""
    pcie_tx_bytes_per_s: float | None = None
    ecc_uncorrected: int | None = None
    """Since the driver was loaded."""
    processes: tuple[GpuProcess, ...] | None = None
    """Who holds memory, looked at every five seconds; None: the driver does not say (WSL)."""
    faults: tuple[str, ...] = ()
    """What the driver answered where it should have told, in its own words."""
    is_lost: bool = False
    """It was there and answers no more (fallen off the bus, unplugged, driver reloading)."""


class CardsReading(msgspec.Struct, frozen=True, kw_only=True):
    """One reading of all cards."""

    cards: tuple[CardSample, ...] | None = None
    """None: the driver did not answer, or there is none; empty: it lists no card."""
    note: str | None = None
    """Why cards are not known, or not fresh, in a sentence; None: nothing is wrong."""
    source: str | None = None
    """Who told: `nvml` or `nvidia-smi`; None: nobody."""
