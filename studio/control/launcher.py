"""Finds the service of a home, or starts it, and returns a client of it."""

import asyncio
import functools
from collections.abc import Awaitable, Callable

import httpx

from studio.control import address
from studio.control.calls import Answers
from studio.control.client import ControlClient
from studio.domain.errors import ServiceUnreachable, StudioError
from studio.host.paths import Paths

JOIN_S = 5.0
"""How long a service may take to say that it is there."""


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
    from studio.control import starting  # not loaded by who only talks to a service

    address.require_writable(paths)
    return await starting.start(paths, functools.partial(_join, paths), hold=hold)


async def _join(paths: Paths) -> ControlClient | None:
    found = address.read_address(paths)
    if found is None:
        return None
    place, token = found
    client = ControlClient(f"http://127.0.0.1:{place.port}", token)
    try:
        async with asyncio.timeout(JOIN_S):
            await client.status()
    except (StudioError, TimeoutError):
        await client.close()  # stale files of a service that was killed; its port may be anybody's
        return None
    return client


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
