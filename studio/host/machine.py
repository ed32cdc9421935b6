"""Processor, clock and language of this machine."""

import contextlib
import ctypes
import datetime
import functools
import locale
import os
import sys
from pathlib import Path

import psutil

from studio.domain.hardware import ClockFacts
from studio.host import system_name

CPU_FLAGS = frozenset(
    (
        *("sse4_2", "f16c", "fma", "avx", "avx2", "avx_vnni"),
        *("avx512f", "avx512bw", "avx512_vnni", "avx512_bf16"),
        *("amx_tile", "amx_int8", "amx_bf16"),
        *("asimd", "asimddp", "bf16", "i8mm", "sve", "sve2"),
    )
)
"""What decides which kernels an engine may use on the processor."""
SHM = Path(os.sep, "dev", "shm")
_TIME_ERROR = 5
"""What adjtimex(2) returns while nothing keeps the kernel's clock."""
_TIMEX_BYTES = 512
"""More than `struct timex` has on any platform."""


def cpu_name(root: Path = Path("/")) -> str | None:
    """Return the processor's name."""
    return _cpu_line(root, ("model name", "Model")) or system_name.processor() or None


def cpu_flags(root: Path = Path("/")) -> tuple[str, ...] | None:
    """Return those of the processor's abilities that count, None where they are not listed."""
    line = _cpu_line(root, ("flags", "Features"))
    return None if line is None else tuple(sorted(CPU_FLAGS & set(line.split())))


def _cpu_line(root: Path, names: tuple[str, ...]) -> str | None:
    with contextlib.suppress(OSError):
        text = (root / "proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
        for line in text.splitlines():
            name, _, value = line.partition(":")
            if name.strip() in names:
                return value.strip() or None
    return None


def cpu_count() -> int | None:
    """Return the threads that this process may use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count()


def cpu_cores() -> int | None:
    """Return the machine's physical cores."""
    with contextlib.suppress(psutil.Error, OSError, RuntimeError):
        return psutil.cpu_count(logical=False) or None
    return None


def shared_memory(folder: Path = SHM) -> tuple[int | None, int | None]:
    """Return size and free bytes of the shared memory that processes of an engine meet in."""
    try:
        sizes = os.statvfs(folder)
    except (OSError, AttributeError):
        return None, None
    return sizes.f_blocks * sizes.f_frsize, sizes.f_bavail * sizes.f_frsize


def clock() -> ClockFacts:
    """Return the time, the earliest that it can be, and whether something keeps it."""
    return ClockFacts(
        now=_iso(datetime.datetime.now(datetime.UTC).timestamp()),
        not_before=_newest_file(),
        is_synchronized=_is_synchronized(),
    )


@functools.cache
def _newest_file() -> str | None:
    """Return when the newest module of this program was written to the disk."""
    folder = Path(__file__).resolve().parents[1]
    with contextlib.suppress(OSError, ValueError):
        return _iso(max(path.stat().st_mtime for path in folder.rglob("*.py")))
    return None


def _iso(seconds: float) -> str:
    moment = datetime.datetime.fromtimestamp(int(seconds), datetime.UTC)
    return moment.isoformat().replace("+00:00", "Z")


def _is_synchronized() -> bool | None:
    if sys.platform != "linux":
        return None
    with contextlib.suppress(OSError, AttributeError):
        # All zeros: nothing is to be changed, only said.
        state = ctypes.CDLL(None).adjtimex(ctypes.create_string_buffer(_TIMEX_BYTES))
        return None if state < 0 else state != _TIME_ERROR
    return None


def locale_name() -> str | None:
    """Return language and encoding as the environment sets them, for example `C.UTF-8`."""
    for name in ("LC_ALL", "LC_CTYPE", "LANG"):
        value = os.environ.get(name)
        if value:
            return value
    with contextlib.suppress(ValueError):
        return locale.getlocale()[0]
    return None
