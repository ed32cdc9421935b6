"""Waiting for a state of other processes, which have no event to wait for."""

import asyncio
import time
from collections.abc import Callable

LIMIT_S = 30.0
_LOOK_S = 0.02


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
