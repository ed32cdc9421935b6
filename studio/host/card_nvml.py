"""What every card does right now, by NVML. Blocks, for ever when the driver hangs: card_reader.py
sees to that. What a card *is* stands in nvml.py.

The library stays open between readings, because opening it costs more than a reading. After a card
was lost it is closed and opened again, ever more seldom, which also finds a card that came back.
One that is plugged in beside the others shows at once in /proc, and where that is missing (WSL)
when the library is opened anew, every five minutes.
"""

import contextlib
import dataclasses
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pynvml

from studio.domain.cards import CardSample
from studio.domain.hardware import GpuProcess
from studio.host import nvml
from studio.host.gpu_report import INTEGRATED_CAPABILITIES

SEEK_S = 30.0
"""Between two looks for a driver where there is none: each costs a search for the library."""
REOPEN_S = 10.0
"""Until a driver that lost a card is opened again; twice as long after each time in vain."""
REOPEN_MOST_S = 300.0
SELDOM_S = 5.0
"""Between two lists of processes, and of memory errors: they cost as much as all else together."""
PCIE_S = 1.0
"""Between two looks at a link: the driver counts for 20 ms in each direction and holds the caller
meanwhile (measured on an H200 with driver 580: 21 ms and 0.9 ms of processor time)."""
ASK_AGAIN_S = 60.0
"""How long a question that a card does not support is not asked again."""
LOST_KEPT_S = 3600.0
"""How long a card that the driver no longer lists is still shown as lost."""

_DRIVER_CARDS = Path("/proc/driver/nvidia/gpus")
"""A folder for each card that the driver has taken up (NVIDIA's driver README, chapter on /proc);
the library itself goes on listing those that were there when it was opened."""
ANEW_S = 300.0
"""How long the library is open at most; opening it costs more than a reading, so not each time."""

_GONE = frozenset((1, 9, 15))
"""Not initialised, driver not loaded, card lost (nvmlReturn_t in NVIDIA's nvml.h)."""
_SM_CLOCK = 1
_MEMORY_CLOCK = 2
_GPU_SENSOR = 0
_UNCORRECTED = 1
_SINCE_LOAD = 0
_TX = 0
_RX = 1
_KIB = 1024
"""NVML's `KB/s`; its header does not say which, and nvitop reads them so too."""

Tell = Callable[[CardSample], None]


@dataclasses.dataclass(slots=True, kw_only=True)
class Card:
    """A card that is listed, and what is kept of it between readings."""

    index: int
    name: str
    uuid: str | None = None
    handle: Any = None
    faults: tuple[str, ...] = ()
    is_lost: bool = False
    total_bytes: int | None = None
    processes: tuple[GpuProcess, ...] | None = None
    ecc_uncorrected: int | None = None
    pcie: tuple[float | None, float | None] = (None, None)
    """Received and sent, in bytes a second."""
    pcie_at: float = 0.0
    not_supported: set[str] = dataclasses.field(default_factory=set)
    asked_all_at: float = float("-inf")

    def nothing(self, *faults: str, is_lost: bool = False) -> CardSample:
        """Return a sample that knows nothing of this second."""
        return CardSample(
            index=self.index,
            uuid=self.uuid,
            name=self.name,
            memory_total_bytes=self.total_bytes,
            faults=faults,
            is_lost=is_lost,
        )


class Session:
    """NVML over the life of the service. For one thread."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._now = float("-inf")
        """When the last reading began."""
        self._cards: list[Card] = []
        self._gone: dict[str, tuple[float, Card]] = {}
        """Cards by uuid that the driver does not list any more, and since when."""
        self._next_try = float("-inf")
        self._wait_s = REOPEN_S
        self._seldom_at = float("-inf")
        self._pcie_turn = 0
        self._pcie_asked_at = float("-inf")
        self._names: dict[int, str | None] = {}
        self._folders: frozenset[str] = frozenset()
        """Of the cards that the driver had taken up when it was opened."""
        self._opened_at = float("-inf")
        self.is_open = False
        self.note: str | None = None
        self.fault: str | None = None

    def read(self, tell: Tell) -> None:
        """Tell of one card after the other; of none where there is no driver."""
        now = self._now = self._clock()
        is_seldom = now - self._seldom_at >= SELDOM_S
        if now >= self._next_try and not (self.is_open and self._is_well()):
            self._reopen(now)
            is_seldom = True
        elif is_seldom and self.is_open and self._is_old(now):
            self._reopen(now)
        if is_seldom:
            self._seldom_at = now
        seen: set[int] = set()
        for card in self._cards:
            tell(self._sample(card, now, is_seldom=is_seldom))
            seen.update(one.pid for one in card.processes or ())
        if is_seldom:
            self._names = {pid: name for pid, name in self._names.items() if pid in seen}
        for since, card in list(self._gone.values()):
            if now - since > LOST_KEPT_S and card.uuid is not None:
                del self._gone[card.uuid]
            else:
                tell(card.nothing("the driver does not list it any more", is_lost=True))

    def after(self, *, all_links: bool = False) -> None:
        """Look at the link of one card, when it is time; for after the reading was given out.

        With `all_links` every card has its turn now, which takes 40 ms each.
        """
        now = self._now
        asked = [card for card in self._cards if card.handle is not None and not card.is_lost]
        if not asked or now - self._pcie_asked_at < PCIE_S * 0.9:
            return
        self._pcie_asked_at = now
        self._pcie_turn += 1
        # Every card has its turn, also one that has none: a lost one must not speed up the others.
        card = self._cards[self._pcie_turn % len(self._cards)]
        for one in asked if all_links else (card,):
            if one in asked:
                _look_at_link(one, now)

    def close(self) -> None:
        """Let go of the library."""
        if self.is_open:
            self.is_open = False
            with contextlib.suppress(pynvml.NVMLError):
                pynvml.nvmlShutdown()

    # Opening

    def _is_old(self, now: float) -> bool:
        return now - self._opened_at >= ANEW_S or _folders() != self._folders

    def _is_well(self) -> bool:
        return not self._gone and not any(card.is_lost for card in self._cards)

    def _reopen(self, now: float) -> None:
        had_cards = bool(self._cards or self._gone)
        self.close()
        try:
            nvml.prefer(nvml.WSL_LIBRARY)
            pynvml.nvmlInit()
            self.is_open = True
            self._opened_at, self._folders = now, _folders()
            found = self._listed()
        except pynvml.NVMLError as error:
            report = nvml.refused(error)
            self.note, self.fault = report.note, report.fault
            self.close()
            found = []
        else:
            self.note = None if found else "NVIDIA's driver lists no card."
            self.fault = None if found else "no-card"
            if not found:
                self.close()
        self._take(found, now)
        if self.is_open and self._is_well():
            self._wait_s = REOPEN_S
        elif had_cards:
            self._next_try = now + self._wait_s
            self._wait_s = min(REOPEN_MOST_S, self._wait_s * 2)
        else:
            self._next_try = now + SEEK_S

    def _listed(self) -> list[Card]:
        found = []
        for index in range(pynvml.nvmlDeviceGetCount()):
            asker = nvml.Asker()
            card = Card(index=index, name=f"NVIDIA card {index}")
            card.handle = asker.ask(pynvml.nvmlDeviceGetHandleByIndex, index)
            if card.handle is None:
                card.faults = tuple(asker.faults) or ("the driver gives no access to it",)
                card.is_lost = not _GONE.isdisjoint(asker.codes)
                found.append(card)
                continue
            capability = asker.ask(pynvml.nvmlDeviceGetCudaComputeCapability, card.handle)
            if capability and f"{capability[0]}.{capability[1]}" in INTEGRATED_CAPABILITIES:
                continue  # its memory is the machine's, as everywhere else
            name = asker.ask(pynvml.nvmlDeviceGetName, card.handle)
            card.name = nvml.text_of(name) or card.name
            card.uuid = nvml.text_of(asker.ask(pynvml.nvmlDeviceGetUUID, card.handle))
            found.append(card)
        return found

    def _take(self, found: list[Card], now: float) -> None:
        """Put what is listed now in the place of what was; what is missing is lost."""
        listed = {card.uuid for card in found}
        missing = {card.index: card for card in self._cards if card.uuid not in listed}
        for card in found:
            before = missing.get(card.index)
            if card.handle is None and before is not None:  # the same, without an answer
                del missing[card.index]
                card.name, card.uuid = before.name, before.uuid
                card.total_bytes, card.is_lost = before.total_bytes, True
        self._gone = {
            uuid: kept
            for uuid, kept in self._gone.items()
            if uuid not in {card.uuid for card in found}
        }
        for card in missing.values():
            if card.uuid is not None:
                card.handle = None
                self._gone[card.uuid] = (now, card)
        self._cards = found

    # Reading

    def _sample(self, card: Card, now: float, *, is_seldom: bool) -> CardSample:
        if card.handle is None:
            return card.nothing(*card.faults, is_lost=card.is_lost)
        if now - card.asked_all_at >= ASK_AGAIN_S:
            card.asked_all_at = now
            card.not_supported.clear()
        ask = _Questions(card)
        handle = card.handle
        total, used = _memory(ask, card)
        rates = ask("rates", pynvml.nvmlDeviceGetUtilizationRates, handle)
        power = ask("power", pynvml.nvmlDeviceGetPowerUsage, handle)
        limit = ask("limit", pynvml.nvmlDeviceGetEnforcedPowerLimit, handle)
        sm_clock = ask("sm", pynvml.nvmlDeviceGetClockInfo, handle, _SM_CLOCK)
        memory_clock = ask("mclk", pynvml.nvmlDeviceGetClockInfo, handle, _MEMORY_CLOCK)
        temperature = ask("heat", pynvml.nvmlDeviceGetTemperature, handle, _GPU_SENSOR)
        reasons = ask("reasons", nvml.event_reasons(), handle)
        if is_seldom:
            card.processes = nvml.processes(handle, ask.asker, self._name_of)
            card.ecc_uncorrected = ask(
                "ecc", pynvml.nvmlDeviceGetTotalEccErrors, handle, _UNCORRECTED, _SINCE_LOAD
            )
        told = (total, rates, power, sm_clock, memory_clock, temperature, reasons)
        faults = tuple(ask.asker.faults)
        card.is_lost = not _GONE.isdisjoint(ask.asker.codes) or (
            bool(faults) and all(one is None for one in told)
        )
        if card.is_lost:
            card.processes = card.ecc_uncorrected = None
            card.pcie = (None, None)
            return card.nothing(*faults, is_lost=True)
        received, sent = self._pcie(card, now)
        return CardSample(
            index=card.index,
            uuid=card.uuid,
            name=card.name,
            memory_total_bytes=total,
            memory_used_bytes=used,
            utilisation_share=None if rates is None else _share(rates.gpu),
            controller_share=None if rates is None else _share(rates.memory),
            power_w=nvml.watts(power),
            power_limit_w=nvml.watts(limit),
            sm_clock_mhz=sm_clock,
            memory_clock_mhz=memory_clock,
            temperature_c=temperature,
            throttle=None if reasons is None else nvml.throttle_reasons(reasons),
            pcie_rx_bytes_per_s=received,
            pcie_tx_bytes_per_s=sent,
            ecc_uncorrected=card.ecc_uncorrected,
            processes=card.processes,
            faults=faults,
        )

    def _pcie(self, card: Card, now: float) -> tuple[float | None, float | None]:
        """Return what was seen at the card's last turn, unless that is too long ago."""
        is_old = now - card.pcie_at > 2 * PCIE_S * (len(self._cards) + 1) + SELDOM_S
        return (None, None) if is_old else card.pcie

    def _name_of(self, pid: int) -> str | None:
        if pid not in self._names:
            self._names[pid] = nvml.process_name(pid)
        return self._names[pid]


def _folders() -> frozenset[str]:
    """Return what the driver's folders of cards are called, which is where they sit."""
    with contextlib.suppress(OSError):
        return frozenset(one.name for one in _DRIVER_CARDS.iterdir())
    return frozenset()


def _look_at_link(card: Card, now: float) -> None:
    ask = _Questions(card)
    received = ask("pcie-rx", pynvml.nvmlDeviceGetPcieThroughput, card.handle, _RX)
    sent = ask("pcie-tx", pynvml.nvmlDeviceGetPcieThroughput, card.handle, _TX)
    card.pcie = (_bytes_per_s(received), _bytes_per_s(sent))
    card.pcie_at = now


class _Questions:
    """Asks one card, and leaves out for a while what it does not support."""

    def __init__(self, card: Card) -> None:
        self._silent = card.not_supported
        self.asker = nvml.Asker()

    def __call__(self, name: str, call: Callable[..., Any], *arguments: object) -> Any:
        if name in self._silent:
            return None
        failures = len(self.asker.codes)
        answer = self.asker.ask(call, *arguments)
        if answer is None and len(self.asker.codes) == failures:
            self._silent.add(name)
        return answer


def _memory(ask: _Questions, card: Card) -> tuple[int | None, int | None]:
    """Return total and used bytes; an old driver counts what it keeps for itself as used."""
    told = ask("memory-2", pynvml.nvmlDeviceGetMemoryInfo, card.handle, pynvml.nvmlMemory_v2)
    if told is None:
        told = ask("memory-1", pynvml.nvmlDeviceGetMemoryInfo, card.handle)
    if told is None:
        return None, None
    card.total_bytes = int(told.total)
    return card.total_bytes, int(told.used)


def _share(percent: int) -> float | None:
    return percent / 100 if 0 <= percent <= 100 else None


def _bytes_per_s(told: int | None) -> float | None:
    return None if told is None else float(told) * _KIB
