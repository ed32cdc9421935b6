"""Finds the service of a home, or starts it, and returns a client of it."""

import asyncio
import contextlib
import os
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import httpx

from studio.app import unit_start
from studio.control import service
from studio.control.calls import Answers
from studio.control.client import ControlClient
from studio.domain.errors import ServiceUnreachable, StudioError
from studio.host import detach
from studio.host.paths import Paths

START_S = 30.0
JOIN_S = 5.0
"""How long a service may take to say that it is there."""
_POLL_S = 0.02
_RETRY_S = 0.2
_LOG_TAIL_LINES = 5


async def connect(paths: Paths, *, start: bool, hold: bool) -> ControlClient:
    """Return a client of this home's service.

    With `start`, one is started when none runs, through its systemd unit where that is ours and
    switched on (`client.started` says what came of it). Otherwise with `hold` it ends when the
    caller's hold on its events is gone, and without `hold` it stays, whoever started it.
    Raises: ServiceUnreachable (`service-not-running`, `service-not-started`), HostLacks.
    """
    client = await _join(paths)
    if client is not None:
        if start and not hold:
            await client.keep()
        return client
    if not start:
        raise ServiceUnreachable(
            "service-not-running", "No service is running.", hint="`weir up` starts one."
        )
    service.require_writable(paths)
    unit = await unit_start.start(paths)
    if unit is not None and unit.is_started:
        client = await _join(paths)
        if client is not None:
            client.started = unit
            return client
    client = await _by_hand(paths, hold=hold)
    client.started = unit
    return client


async def _by_hand(paths: Paths, *, hold: bool) -> ControlClient:
    """Start a service that nobody keeps, and return a client of it."""
    log = paths.logs / "service-start.log"
    argv = [*detach.own_command(), "service", "run", *(["--until-released"] if hold else [])]
    child = detach.spawn(argv, dict(os.environ), log)
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline:
        client = await _join(paths)
        if client is not None:
            return client
        exit_code = child.poll()
        if exit_code not in (None, 0):
            break
        if exit_code == 0:  # another one has this home: it is just starting, or just ending
            await asyncio.sleep(_RETRY_S)
            child = detach.spawn(argv, dict(os.environ), log)
        await asyncio.sleep(_POLL_S)
    raise ServiceUnreachable(
        "service-not-started",
        "The service did not start.",
        hint=f"Its last words are in {log}.",
        evidence=tuple(_tail(log)),
    )


async def _join(paths: Paths) -> ControlClient | None:
    found = service.read_address(paths)
    if found is None:
        return None
    address, token = found
    client = ControlClient(f"http://127.0.0.1:{address.port}", token)
    try:
        async with asyncio.timeout(JOIN_S):
            await client.status()
    except (StudioError, TimeoutError):
        await client.close()  # stale files of a service that was killed; its port may be anybody's
        return None
    return client


def _tail(log: Path) -> list[str]:
    with contextlib.suppress(OSError):
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
        return lines[-_LOG_TAIL_LINES:]
    return []


class InProcess(httpx.AsyncBaseTransport):
    """Carries a client's calls to a router in this process, for commands that need no service."""

    def __init__(self, router: Answers, close: Callable[[], Awaitable[None]]) -> None:
        self._router = router
        self._close = close

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Answer one call."""
        body = await request.aread()
        path, _, query = request.url.raw_path.decode("ascii").partition("?")
        status, answer = await self._router.answer(request.method, path, query, body)
        return httpx.Response(status, content=answer)

    async def aclose(self) -> None:
        """Write what the calls left in memory."""
        await self._close()


def in_process(router: Answers, close: Callable[[], Awaitable[None]]) -> ControlClient:
    """Return a client that talks to `router` without a service; `close` ends what it opened."""
    return ControlClient("http://in-process", "", transport=InProcess(router, close))
