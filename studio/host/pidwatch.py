"""Hears at once of the end of processes that are not our children, on Linux.

By the kernel's own handle of a process (pidfd_open, Linux 5.3): no polling, and no mistake when a
process id is given to another process.
"""

import asyncio
import contextlib
import os
import sys
from collections.abc import Callable


class PidWatch:
    """Watches processes of one session; `on_end(name, pid)` is called on the event loop, once each.

    Whoever is no member of the session is not watched: a log line may name any number.
    """

    def __init__(self, session: int, on_end: Callable[[str, int], None]) -> None:
        self._session = session
        self._on_end = on_end
        self._loop = asyncio.get_running_loop()
        self._watched: dict[int, int] = {}
        self._ended: set[int] = set()

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
            self._watched[pid] = handle
            self._loop.add_reader(handle, self._on_ready, name, pid)

    def close(self) -> None:
        """Watch nobody any more."""
        for pid in list(self._watched):
            self._drop(pid)

    def _on_ready(self, name: str, pid: int) -> None:
        self._drop(pid)
        self._ended.add(pid)
        self._on_end(name, pid)

    def _drop(self, pid: int) -> None:
        handle = self._watched.pop(pid)
        self._loop.remove_reader(handle)
        os.close(handle)
