"""Starts the service of a home: through its systemd unit where it has one, else by hand.

Apart from `launcher`: a command that finds a service running need not load any of this.
"""

import asyncio
import contextlib
import os
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from studio.app import unit_start
from studio.app.trial_ends import keep_end
from studio.app.update_records import Records
from studio.app.update_watch import Watch
from studio.control.address import lock_file
from studio.control.client import ControlClient
from studio.domain.errors import ServiceUnreachable
from studio.host import detach
from studio.host.paths import Paths

START_S = 30.0
_POLL_S = 0.02
_RETRY_S = 0.2
_LOG_TAIL_LINES = 5

Join = Callable[[], Awaitable[ControlClient | None]]
"""Return a client of the service, or None while none answers."""


async def start(paths: Paths, join: Join, *, hold: bool) -> ControlClient:
    """Start a service and return a client of it; see `launcher.connect`.

    Raises: ServiceUnreachable (`service-not-started`), HostLacks.
    """
    unit = await unit_start.start(paths)
    client = await join() if unit is not None and unit.is_started else None
    if client is None:
        client = await _by_hand(paths, join, hold=hold)
    client.started = unit
    return client


async def _by_hand(paths: Paths, join: Join, *, hold: bool) -> ControlClient:
    """Start a service that nobody keeps, and return a client of it."""
    log = paths.logs / "service-start.log"
    argv = [*detach.own_command(), "service", "run", *(["--until-released"] if hold else [])]
    child = detach.spawn(argv, dict(os.environ), log)
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline:
        client = await join()
        if client is not None:
            return client
        exit_code = child.poll()
        if exit_code is not None:
            words = _tail(log)
            await asyncio.to_thread(keep_end, paths, lock_file(paths), child.pid, exit_code, words)
        if exit_code not in (None, 0) and Records(paths).trial() is None:
            break
        # Another one has this home: it is just starting, or just ending. Or a version on trial did
        # not come up: then the one before takes its place back.
        if exit_code is not None:
            await asyncio.sleep(_RETRY_S)
            child = detach.spawn(argv, dict(os.environ), log)
        await asyncio.sleep(_POLL_S)
    raise ServiceUnreachable(
        "service-not-started",
        "The service did not start.",
        hint=f"Its last words are in {log}.{_way_back(paths)}",
        evidence=tuple(_tail(log)),
    )


def _way_back(paths: Paths) -> str:
    """Offer the version before where this one is new here and does not live."""
    known = Watch(Records(paths).folder).now()
    if known is None:
        return ""
    return f" `weir update rollback` goes back to version {known.previous}."


def _tail(log: Path) -> list[str]:
    with contextlib.suppress(OSError):
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
        return lines[-_LOG_TAIL_LINES:]
    return []
