"""Finds the service inside the Studio's Linux from Windows, or starts it and keeps it alive.

WSL ends a distribution in which nothing runs that Windows started. So the service is the child of a
`wsl.exe` of ours, which lasts as long as it does.
"""

import asyncio
import logging
import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from studio.app.wsl import Service, WslSetup, compacting
from studio.app.wsl_turn import WslTurn
from studio.control.client import ControlClient
from studio.domain.errors import ServiceUnreachable, StudioError
from studio.domain.wsl import DISTRIBUTION, WslStep
from studio.host import process, wsl_exe
from studio.host.paths import Paths

logger = logging.getLogger(__name__)

START_S = 90.0
"""The virtual machine takes 5 to 20 s when it is cold."""
_JOIN_S = 5.0
_LOOK_S = 0.3

Spawn = Callable[[Sequence[str], Mapping[str, str], Path], object]


async def connect(
    paths: Paths,
    setup: WslSetup,
    *,
    start: bool,
    spawn: Spawn = process.outliving,
    turn: WslTurn | None = None,
) -> ControlClient:
    """Return a client of the service inside; `turn` says of which version one is started.

    Raises: ServiceUnreachable (`service-not-running`, `wsl-not-ready`, `service-not-started`),
    HostLacks (`wsl-compacting`, `wsl-not-renewed`, …) where the program inside does not start.
    """
    client = await _join(await _service(setup))
    if client is not None:
        return client
    if not start:
        raise ServiceUnreachable(
            "service-not-running", "No service is running.", hint="`weir up` starts one."
        )
    if await asyncio.to_thread(setup.is_compacting):
        raise compacting()
    turn = turn or WslTurn(paths)
    await asyncio.to_thread(turn.take, await setup.watched())
    report = await setup.report()
    if report.step not in (WslStep.START, WslStep.READY):
        if not await asyncio.to_thread(setup.has_linux):
            await _keep(turn, None)
        raise ServiceUnreachable(
            "wsl-not-ready",
            "The Studio's Linux is not set up yet.",
            hint="`weir wsl setup` goes on with it.",
        )
    client = await _started(paths, setup, spawn, turn)
    # Where nothing listens inside, it is not the network: a new version may be to blame.
    is_silent = client is None and await _service(setup) is None
    if is_silent and await asyncio.to_thread(turn.take_back, START_S):
        client = await _started(paths, setup, spawn, turn)
    if client is not None:
        return client
    raise ServiceUnreachable(
        "service-not-started",
        "The service inside the Studio's Linux did not start, or localhost does not lead to it.",
        hint="`weir wsl` says which; `wsl --shutdown` often helps.",
    )


async def _started(
    paths: Paths, setup: WslSetup, spawn: Spawn, turn: WslTurn
) -> ControlClient | None:
    """Start the service in the version in use; None when it does not answer in time."""
    await setup.renew(turn)
    command = wsl_exe.keeper(DISTRIBUTION, ["/usr/bin/weir", "service", "run"])
    spawn(command, dict(os.environ), paths.logs / "wsl-service.log")
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline:
        client = await _join(await _service(setup))
        if client is not None:
            await _keep(turn, client)
            return client
        await asyncio.sleep(_LOOK_S)
    return None


async def _keep(turn: WslTurn, client: ControlClient | None) -> None:
    """Keep which version came up; what serves is of use also where that cannot be written."""
    try:
        version = (await client.status()).service.version if client is not None else None
        await asyncio.to_thread(turn.came_up, version)
    except StudioError as error:
        logger.warning("not written which version came up: %s", error.message)


async def _service(setup: WslSetup) -> Service | None:
    try:
        return await setup.service()
    except StudioError:
        return None  # there is no wsl.exe: the report says so


async def _join(service: Service | None) -> ControlClient | None:
    if service is None:
        return None
    client = ControlClient(f"http://127.0.0.1:{service.port}", service.token)
    try:
        async with asyncio.timeout(_JOIN_S):
            await client.status()
    except (StudioError, TimeoutError):
        await client.close()  # files of a service that was killed, or a network that leads nowhere
        return None
    return client
