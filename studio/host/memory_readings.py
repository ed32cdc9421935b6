"""Memory of the machine and of the engine's processes, from `/proc`. Linux only.

Each reading opens a few small files and never walks all processes but in `family`. A process that
is gone meanwhile is left out; what the kernel does not say is None.
"""

import contextlib
from collections.abc import Iterable
from pathlib import Path

import psutil

from studio.domain.readings import PAGE_BYTES, EngineReading, HostReading
from studio.host import memory_group
from studio.host.pressure import number_of, read_pressure, text_of
from studio.host.processes import GONE

_ROOT = Path("/")
_MAJOR_FAULTS = 9
"""Place in `/proc/PID/stat`, counted after the program's name (proc(5), field 12)."""


def family(leader: int) -> frozenset[int]:
    """Return `leader` and its descendants; looks at every process, some 25 µs each."""
    with contextlib.suppress(*GONE):
        top = psutil.Process(leader)
        return frozenset((leader, *(one.pid for one in top.children(recursive=True))))
    return frozenset()


def host(root: Path = _ROOT) -> HostReading:
    """Return the machine's counters."""
    counters = text_of(root / "proc/vmstat")
    memory = text_of(root / "proc/meminfo")
    refaults = number_of(counters, "workingset_refault_file")
    if refaults is None:  # kernels before 5.9 have one word for files and the rest
        refaults = number_of(counters, "workingset_refault")
    return HostReading(
        available_bytes=_times(number_of(memory, "MemAvailable:"), 1024),
        swapped_in_bytes=_times(number_of(counters, "pswpin"), PAGE_BYTES),
        swapped_out_bytes=_times(number_of(counters, "pswpout"), PAGE_BYTES),
        swap_bytes=_times(number_of(memory, "SwapTotal:"), 1024),
        refault_bytes=_times(refaults, PAGE_BYTES),
        pressure=read_pressure(text_of(root / "proc/pressure/memory")),
    )


def engine(pids: Iterable[int], leader: int, root: Path = _ROOT) -> EngineReading:
    """Return what `pids` hold and have done together."""
    known = frozenset(pids)
    swap: list[int] = []
    shared: list[int] = []
    faults: list[int] = []
    read: list[int] = []
    for pid in known:
        folder = root / "proc" / str(pid)
        status = text_of(folder / "status")
        _add(swap, number_of(status, "VmSwap:"))
        _add(shared, number_of(status, "RssShmem:"))
        _add(faults, _major_faults(text_of(folder / "stat")))
        _add(read, number_of(text_of(folder / "io"), "read_bytes:"))
    return EngineReading(
        pids=known,
        swap_bytes=_times(sum(swap), 1024) if swap else None,
        shared_bytes=_times(max(shared), 1024) if shared else None,
        major_faults=sum(faults) if faults else None,
        disk_read_bytes=sum(read) if read else None,
        group=memory_group.of(leader, root),
    )


def _major_faults(text: str) -> int | None:
    fields = text.rpartition(")")[2].split()  # a name may hold blanks and brackets
    if len(fields) <= _MAJOR_FAULTS or not fields[_MAJOR_FAULTS].isdecimal():
        return None
    return int(fields[_MAJOR_FAULTS])


def _add(kept: list[int], value: int | None) -> None:
    if value is not None:
        kept.append(value)


def _times(value: int | None, unit: int) -> int | None:
    return None if value is None else value * unit
