"""What graphics adapters hold, read from Windows' counters by this very process.

For the Studio on Windows itself; inside WSL a PowerShell reads the same (`adapter_watch.py`).
"""

import asyncio
import contextlib
import ctypes
import sys
from collections.abc import Callable, Iterator

from studio.domain.readings import AdapterReadings
from studio.host import adapter_memory, pdh

SHARED = r"\GPU Adapter Memory(*)\Shared Usage"
DEDICATED = r"\GPU Adapter Memory(*)\Dedicated Usage"
PROCESSES = r"\GPU Process Memory(*)\Shared Usage"
_EVERY_S = 1.0
_AGAIN_S = 30.0
"""Counters that are missing do not come back soon: a driver would have to be installed."""
_HEAVIEST = 5

Load = Callable[[], ctypes.CDLL | None]


class PdhWatch:
    """`run` until cancelled; `now` is what was read last. As `adapter_watch.AdapterWatch`."""

    def __init__(self, *, load: Load = pdh.library, every_s: float = _EVERY_S) -> None:
        """`load`: where the counters come from."""
        self._load = load
        self._every_s = every_s
        self._last = AdapterReadings(note="Windows is being asked.")

    @property
    def now(self) -> AdapterReadings:
        """Return what is known now."""
        return adapter_memory.fresh(self._last)

    async def run(self) -> None:
        """Read once a second; where there is nothing to read, look again after a while."""
        while True:
            self._last = await asyncio.to_thread(look, self._load)
            await asyncio.sleep(self._every_s if self._last.adapters else _AGAIN_S)


def look(load: Load = pdh.library) -> AdapterReadings:
    """Return what the counters say at this moment; never raises. Takes some milliseconds."""
    found = load()
    lines = adapter_memory.Lines()
    for line in _cards():
        lines.hear(line)
    if found is None:
        lines.hear("weir-none|pdh.dll")
    else:
        try:
            for line in _uses(found):
                lines.hear(line)
        except pdh.PdhError as error:
            lines.hear(f"weir-none|0x{error.status:08x}")
    readings = lines.hear(adapter_memory.END)
    assert readings is not None
    return readings


def _uses(library: ctypes.CDLL) -> Iterator[str]:
    """Yield what the PowerShell in WSL would write. Raises: PdhError."""
    query = pdh.Query([SHARED, DEDICATED, PROCESSES], library)
    try:
        shared, dedicated, processes = query.read()
    finally:
        query.close()
    for name, value in shared.items():
        yield f"weir-use|{name}|{value}|{dedicated.get(name, '')}"
    heaviest = sorted(processes.items(), key=lambda one: -one[1])[:_HEAVIEST]
    for name, value in heaviest:
        yield f"weir-proc|{name}|{value}"


def _cards() -> list[str]:
    """Return the adapters that Windows' registry names beside their LUID."""
    found: list[str] = []
    if sys.platform == "win32":
        import winreg

        root, place = winreg.HKEY_LOCAL_MACHINE, r"SOFTWARE\Microsoft\DirectX"
        with contextlib.suppress(OSError), winreg.OpenKey(root, place) as folder:
            names = [winreg.EnumKey(folder, n) for n in range(winreg.QueryInfoKey(folder)[0])]
            found += [line for name in names for line in _card(f"{place}\\{name}")]
    return found


def _card(place: str) -> list[str]:
    if sys.platform == "win32":
        import winreg

        words = ("AdapterLuid", "VendorId", "DedicatedVideoMemory", "Description")
        with contextlib.suppress(OSError), winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, place) as key:
            luid, vendor, memory, name = (winreg.QueryValueEx(key, word)[0] for word in words)
            high, low = divmod(int(luid), 1 << 32)
            return [f"weir-card|{high:08x}_{low:08x}|{vendor}|{memory}|{name}"]
    return []
