"""What a version of the Studio that is on trial has to show before it is the one in use.

Asked through the control API, as a window would: it answers with its own number, opens databases
and settings, finds the presets and runtimes that the one before had, can say how it would serve
what was served last. Its window is looked at by `app/window_proof.py`.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from studio.app.update_proof import Holdings, missing_preset, missing_runtime
from studio.control.client import ControlClient
from studio.domain.errors import ServiceUnreachable, StudioError
from studio.domain.presets import ArgvRequest
from studio.domain.self_update import UpdateState

T = TypeVar("T")

ANSWERS = 3
"""So many answers, `between_s` apart, show that a version goes on answering."""
ANSWER_S = 10.0
_NOTHING_ADOPTED = "nothing-adopted"


async def shortcoming(
    client: ControlClient, version: str, before: Holdings, *, between_s: float
) -> str | None:
    """Return in words what speaks against a version whose service answers `client`, or None."""
    return await _told(_on_trial(client, version, before, between_s))


async def first_shortcoming(client: ControlClient, version: str, *, between_s: float) -> str | None:
    """Return what speaks against a version that others exchanged, so that it is not on trial.

    Where another one answers, nothing speaks against it.
    """
    return await _told(_first(client, version, between_s))


async def _told(lacking: Awaitable[str | None]) -> str | None:
    try:
        return await lacking
    except StudioError as error:
        return f"it answers with an error: {error.message.rstrip('.')}"
    except TimeoutError:
        return f"it does not answer within {ANSWER_S:.0f} s"


async def _first(client: ControlClient, version: str, between_s: float) -> str | None:
    if (await _in_time(client.status())).service.version != version:
        return None
    return await _lacks(client, version, Holdings(), between_s)


async def _on_trial(
    client: ControlClient, version: str, before: Holdings, between_s: float
) -> str | None:
    found = await _lacks(client, version, before, between_s)
    if found is not None:
        return found
    if (await _in_time(client.update_status())).state is not UpdateState.TRIAL:
        return "it does not know that it is on trial"
    return None


async def _lacks(
    client: ControlClient, version: str, before: Holdings, between_s: float
) -> str | None:
    for number in range(ANSWERS):
        if number:
            await asyncio.sleep(between_s)
        status = await _in_time(client.status())
        if status.service.version != version:
            return f"it calls itself {status.service.version}"
    opened: tuple[Callable[[], Awaitable[object]], ...] = (
        client.settings, client.network, client.keys, client.gateway, client.history_state,
        client.downloads, client.alarms,
    )  # fmt: skip
    for ask in opened:
        await _in_time(ask())
    await _adopted(client)
    await _command(client)
    return missing_preset(before, await _in_time(client.presets())) or missing_runtime(
        before, (await _in_time(client.runtimes())).runtimes
    )


async def _adopted(client: ControlClient) -> None:
    """Ask for the adopted engine; without one there is nothing to find again."""
    try:
        await _in_time(client.adopted())
    except StudioError as error:
        if error.code != _NOTHING_ADOPTED:
            raise


async def _command(client: ControlClient) -> None:
    """Ask how what was served last would be served; what this machine lacks is no fault of it."""
    boots = (await _in_time(client.boots(limit=1))).boots
    if not boots:
        return
    try:
        await _in_time(client.argv(ArgvRequest(preset=boots[-1].preset)))
    except StudioError as error:
        if isinstance(error, ServiceUnreachable):
            raise  # the call itself broke


async def _in_time(answer: Awaitable[T]) -> T:
    async with asyncio.timeout(ANSWER_S):
        return await answer
