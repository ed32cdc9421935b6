"""Hears at once of the end of processes that are not our children, on Linux, and who ended first.

By the kernel's own handle of a process (pidfd_open, Linux 5.3): no mistake when a process id is
given to another process. The handle becomes readable when the memory is given back, which took
0.6 s for a worker of 2.4 GB; so the few that are watched are also looked at five times a second,
whether one of them is being ended by a signal.

Which of several ended first cannot be told by the order of the handles: one becomes readable when
the last thread is gone and its memory given back, which for a large process takes longer than the
end of its children by the parent-death signal, sent when its first thread ends (prctl(2)). So the
processes above the one that was heard of are looked at in /proc (proc_pid_stat(5)): one of them
that is ending too, and not by itself, was first. The other way round takes an interpreter's time.
"""

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

_PROC = Path("/proc")
_ENDING, _BY_SIGNAL = 0x4, 0x400
"""PF_EXITING and PF_SIGNALED of `flags` (include/linux/sched.h)."""
_LAST_SIGNAL = 0x7F
"""Of `exit_code`: the signal that ended it, as waitpid(2) says it."""
_ZOMBIE = "ZX"
_LOOK_S = 0.2
"""20 µs for each process, five times a second: 0.03 % of a core with three of them."""


class _Stat(NamedTuple):
    """What /proc says of a process."""

    parent: int
    is_ending: bool
    by_signal: bool
    signal: int


class _Part(NamedTuple):
    name: str
    parent: int | None
    handle: int


class End(NamedTuple):
    """One that ended, or is being ended."""

    name: str
    pid: int
    signal: int | None
    """What killed it; None: it ended by itself, or nobody can tell any more."""


class PidWatch:
    """Watches processes of one session; `on_end` is called on the event loop, once for each.

    Whoever is no member of the session is not watched: a log line may name any number.
    """

    def __init__(self, session: int, on_end: Callable[[End], None]) -> None:
        self._session = session
        self._on_end = on_end
        self._loop = asyncio.get_running_loop()
        self._watched: dict[int, _Part] = {}
        self._ended: set[int] = set()
        self._look: asyncio.TimerHandle | None = None

    @property
    def pids(self) -> frozenset[int]:
        """Return who is watched now."""
        return frozenset(self._watched)

    def add(self, name: str, pid: int) -> None:
        """Watch one more; known ones and strangers are passed over."""
        if pid in self._watched or pid in self._ended:
            return
        if sys.platform != "linux":
            return
        with contextlib.suppress(OSError):
            handle = os.pidfd_open(pid)
            try:
                is_member = os.getsid(pid) == self._session  # of the process behind the handle
            except OSError:
                is_member = False
            if not is_member:
                os.close(handle)
                return
            stat = _stat(pid)
            self._watched[pid] = _Part(name, stat.parent if stat is not None else None, handle)
            self._loop.add_reader(handle, self._on_ready, pid)
            if self._look is None:
                self._look = self._loop.call_later(_LOOK_S, self._on_look)

    def close(self) -> None:
        """Watch nobody any more."""
        if self._look is not None:
            self._look.cancel()
            self._look = None
        for pid in list(self._watched):
            self._drop(pid)

    def _on_look(self) -> None:
        self._look = self._loop.call_later(_LOOK_S, self._on_look) if self._watched else None
        for pid in list(self._watched):
            stat = _stat(pid)
            if stat is not None and stat.is_ending and stat.by_signal:
                self._on_ready(pid)

    def _on_ready(self, pid: int) -> None:
        if pid not in self._watched:
            return  # told of already, as the one that ended before the other
        for one in (*reversed(self._ended_above(pid)), pid):
            name, stat = self._watched[one].name, _stat(one)
            self._drop(one)
            self._ended.add(one)
            self._on_end(End(name, one, _killed_by(stat)))

    def _ended_above(self, pid: int) -> list[int]:
        """Return the watched processes above `pid` that ended before it, the nearest first."""
        ended: list[int] = []
        parent = self._watched[pid].parent
        while parent is not None and parent in self._watched:
            stat = _stat(parent)
            if stat is None or (stat.is_ending and stat.by_signal):
                ended.append(parent)
            parent = self._watched[parent].parent
        return ended

    def _drop(self, pid: int) -> None:
        handle = self._watched.pop(pid).handle
        self._loop.remove_reader(handle)
        os.close(handle)


def _killed_by(stat: _Stat | None) -> int | None:
    """Return the signal; SIGKILL for the instant in which the kernel has not written it yet."""
    if stat is None or not (stat.is_ending and stat.by_signal):
        return None
    return stat.signal or signal.SIGKILL


def _stat(pid: int) -> _Stat | None:
    """Return what /proc says of a process; None: there is none, or its end has been taken up."""
    try:
        text = (_PROC / str(pid) / "stat").read_text(encoding="ascii", errors="replace")
        fields = text.rpartition(")")[2].split()
        state, flags, code = fields[0], int(fields[6]), int(fields[49])
        return _Stat(
            parent=int(fields[1]),
            is_ending=state in _ZOMBIE or bool(flags & _ENDING),
            by_signal=bool(flags & _BY_SIGNAL) or bool(code & _LAST_SIGNAL),
            signal=code & _LAST_SIGNAL,
        )
    except (OSError, ValueError, IndexError):
        return None
