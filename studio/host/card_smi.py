"""What every card does, by nvidia-smi, where NVIDIA's library cannot be used from here.

Seldom, because a call costs hundreds of milliseconds; in between the last answer stands, and a
note says so. Each call has a thread of its own, which nobody waits for.
"""

import asyncio
import re
import threading
import time
from collections.abc import Callable

from studio.domain.cards import CardSample
from studio.host import smi
from studio.host.gpu_report import INTEGRATED_CAPABILITIES
from studio.host.smi_xml import Element, NotUnderstood

EVERY_S = 10.0
"""Between two calls that were answered."""
SEEK_S = 60.0
"""Between two looks for the program, or after a call in vain."""
_STANDS_IN_FOR = frozenset(("no-driver", "version-mismatch"))
"""A missing library, and one of before an update: a new process gets the new one."""

_DRAWN = ("power_draw", "average_power_draw", "instant_power_draw")
"""Names of the power that is drawn: before driver 535, and since."""
_UNCORRECTED = (
    ("sram_uncorrectable_parity", "sram_uncorrectable_secded", "dram_uncorrectable"),
    ("sram_uncorrectable", "dram_uncorrectable"),
    ("double_bit/total",),
)
"""Names of memory errors since the driver was loaded: Hopper on, Ampere and Turing, before."""

_AMOUNT = re.compile(r"(?P<value>\d+(?:\.\d+)?) (?P<unit>\S+)", re.ASCII)

Ask = Callable[[], tuple[CardSample, ...] | None]


class Program:
    """Keeps nvidia-smi's last answer. For one thread."""

    def __init__(
        self, ask: Ask | None = None, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._ask = ask or _asked
        self._clock = clock
        self._last: tuple[CardSample, ...] | None = None
        self._due = float("-inf")
        self._under_way: threading.Thread | None = None
        self.note = f"nvidia-smi stands in for NVIDIA's library: every {EVERY_S:.0f} s only."

    @property
    def is_under_way(self) -> bool:
        """Tell whether it is being asked."""
        return self._under_way is not None and self._under_way.is_alive()

    def reading(self, fault: str | None) -> tuple[CardSample, ...] | None:
        """Return the last answer, None where nvidia-smi does not stand in, or has not answered."""
        return self._last if fault in _STANDS_IN_FOR else None

    def refresh(self, fault: str | None) -> None:
        """Ask when it is time; returns at once."""
        if fault not in _STANDS_IN_FOR or self._clock() < self._due:
            return
        if not self.is_under_way:
            self._under_way = threading.Thread(target=self._work, name="weir-smi", daemon=True)
            self._under_way.start()

    def _work(self) -> None:
        self._due = float("inf")
        found = None
        try:
            found = self._ask()
        finally:
            self._last = found
            self._due = self._clock() + (SEEK_S if found is None else EVERY_S)


def _asked() -> tuple[CardSample, ...] | None:
    program = smi.find()
    if program is None:
        return None
    text = asyncio.run(smi.output([program, "-q", "-x"], smi.WITHIN_S))
    try:
        return None if not text else samples(text)
    except NotUnderstood:
        return None


def samples(text: str) -> tuple[CardSample, ...]:
    """Return the cards behind `nvidia-smi -q -x`.

    Raises: NotUnderstood.
    """
    found = []
    for card, gpu in smi.cards_of(text):
        if card.compute_capability in INTEGRATED_CAPABILITIES:
            continue
        power = "gpu_power_readings" if gpu.one("gpu_power_readings") else "power_readings"
        drawn = (smi.number(gpu.text(f"{power}/{name}")) for name in _DRAWN)
        found.append(
            CardSample(
                index=card.index,
                uuid=card.uuid,
                name=card.name,
                memory_total_bytes=card.total_bytes,
                memory_used_bytes=card.used_bytes,
                utilisation_share=_share(gpu.text("utilization/gpu_util")),
                controller_share=_share(gpu.text("utilization/memory_util")),
                power_w=next((one for one in drawn if one is not None), None),
                power_limit_w=card.power_limit_w,
                sm_clock_mhz=smi.whole_number(gpu.text("clocks/sm_clock")),
                memory_clock_mhz=card.memory_clock_mhz,
                temperature_c=card.temperature_c,
                throttle=card.throttle_reasons,
                pcie_rx_bytes_per_s=_rate(gpu.text("pci/rx_util")),
                pcie_tx_bytes_per_s=_rate(gpu.text("pci/tx_util")),
                ecc_uncorrected=_uncorrected(gpu),
                processes=card.processes,
            )
        )
    return tuple(found)


def _uncorrected(gpu: Element) -> int | None:
    for names in _UNCORRECTED:
        found = [smi.whole_number(gpu.text(f"ecc_errors/volatile/{name}")) for name in names]
        known = [one for one in found if one is not None]
        if len(known) == len(found):
            return sum(known)
    return None


def _share(text: str | None) -> float | None:
    percent = _amount(text, "%")
    return percent / 100 if percent is not None and percent <= 100 else None


def _rate(text: str | None) -> float | None:
    """Return bytes a second of the program's `KB/s`."""
    told = _amount(text, "KB/s")
    return None if told is None else told * 1024


def _amount(text: str | None, unit: str) -> float | None:
    found = _AMOUNT.fullmatch(text) if text else None
    return float(found["value"]) if found is not None and found["unit"] == unit else None
