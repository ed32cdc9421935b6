"""How much a group of processes has taken in from files: by reading them, or by mapping them.

Linux only; elsewhere nothing is known. Never starts or changes a process.
"""

import contextlib
import dataclasses
from pathlib import Path

import psutil

_PROC = Path("/proc")
_GONE = (psutil.NoSuchProcess, psutil.AccessDenied, psutil.ZombieProcess)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class TakenIn:
    """Bytes since each process began."""

    read_bytes: int
    """By reading, from the disk or from memory that still held the file (`rchar`)."""
    mapped_bytes: int
    """Of mapped files, what is in memory now (`RssFile`): safetensors are mapped."""

    def since(self, before: "TakenIn") -> int:
        """Return what came in after `before`, by the way that brought more."""
        read = self.read_bytes - before.read_bytes
        return max(0, read, self.mapped_bytes - before.mapped_bytes)


def taken_in(leader: int, proc: Path = _PROC) -> TakenIn | None:
    """Return what `leader` and its descendants took in; None when that cannot be known."""
    read = mapped = 0
    is_known = False
    for pid in _group(leader):
        with contextlib.suppress(OSError, ValueError):
            one_read = _field(proc / str(pid) / "io", "rchar:")
            one_mapped = _field(proc / str(pid) / "status", "RssFile:")
            read += one_read or 0
            mapped += (one_mapped or 0) * 1024
            is_known = is_known or one_read is not None
    return TakenIn(read_bytes=read, mapped_bytes=mapped) if is_known else None


def _group(leader: int) -> list[int]:
    with contextlib.suppress(*_GONE):
        top = psutil.Process(leader)
        return [leader, *(one.pid for one in top.children(recursive=True))]
    return []


def _field(path: Path, name: str) -> int | None:
    for line in path.read_text(encoding="ascii", errors="replace").splitlines():
        if line.startswith(name):
            return int(line.split()[1])
    return None
