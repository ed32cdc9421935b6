"""Waiting for a state of other processes, which have no event to wait for."""

import asyncio
import time
from collections.abc import Callable, Iterable

import psutil

LIMIT_S = 60.0
_LOOK_S = 0.01
BUSY_TRIES = 5
"""How often something is timed before it counts as late: a busy machine delays any one try, a fault
of ours all of them."""


def until(holds: Callable[[], bool], what: str, *, limit_s: float = LIMIT_S) -> None:
    """Return as soon as `holds`; fails after `limit_s`."""
    deadline = time.monotonic() + limit_s
    while not holds():
        assert time.monotonic() < deadline, f"waited {limit_s:.0f} s in vain for: {what}"
        time.sleep(_LOOK_S)


async def until_async(holds: Callable[[], bool], what: str, *, limit_s: float = LIMIT_S) -> None:
    """Return as soon as `holds`, with the event loop going on meanwhile."""
    deadline = time.monotonic() + limit_s
    while not holds():
        assert time.monotonic() < deadline, f"waited {limit_s:.0f} s in vain for: {what}"
        await asyncio.sleep(_LOOK_S)


def is_alive(pid: int) -> bool:
    """Return whether a process lives; a zombie does not."""
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


async def gone(pids: Iterable[int]) -> None:
    """Return as soon as none of `pids` lives."""
    left = list(pids)
    await until_async(lambda: not any(is_alive(pid) for pid in left), f"the end of {left}")
