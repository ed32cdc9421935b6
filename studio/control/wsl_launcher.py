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
from studio.control import proof
from studio.control.client import ControlClient
from studio.domain.errors import ServiceUnreachable, StudioError
from studio.domain.wsl import DISTRIBUTION, WslStep
from studio.host import process, wsl_exe
from studio.host.paths import Paths

logger = logging.getLogger(__name__)

START_S = 90.0
"""The virtual machine takes 5 to 20 s when it is cold."""
_JOIN_S = 5.0
_GONE_S = 60.0
"""How long a service may take to end."""
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
    why = await _falls_short(client, setup, turn.used) if turn.forerunner is not None else None
    if why is not None:
        await _end(client, setup)
        await asyncio.to_thread(turn.take_back, why)
        client = await _started(paths, setup, spawn, turn)
    if client is not None:
        await _keep(turn, client)
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
            return client
        await asyncio.sleep(_LOOK_S)
    return None


async def _falls_short(client: ControlClient | None, setup: WslSetup, version: str) -> str | None:
    """Return what speaks against a new version at its first start, or None.

    Where something listens inside and is not reached from here, it is the network.
    """
    if client is None:
        return f"did not come up within {START_S:.0f} s" if await _service(setup) is None else None
    found = await proof.first_shortcoming(client, version, between_s=_LOOK_S)
    return f"came up and falls short: {found}" if found is not None else None


async def _end(client: ControlClient | None, setup: WslSetup) -> None:
    """End the service inside, so that another version can take its place."""
    if client is None:
        return
    try:
        await client.down()
    except StudioError as error:
        logger.info("while it ended: %s", error.message)
    finally:
        await client.close()
    deadline = time.monotonic() + _GONE_S
    while time.monotonic() < deadline:
        still = await _join(await _service(setup))
        if still is None:
            return
        await still.close()
        await asyncio.sleep(_LOOK_S)


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
