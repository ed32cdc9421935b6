"""What a version of the Studio that is on trial has to show before it is the one in use.

Asked through the control API, as a window would: it answers with its own number, opens databases
and settings, finds the presets and runtimes that the one before had, can say how it would serve
what was served last, and paints every page of its window where Qt came along.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import msgspec

from studio.app.update_proof import Holdings, missing_preset, missing_runtime
from studio.control.client import ControlClient
from studio.domain.errors import ServiceUnreachable, StudioError
from studio.domain.presets import ArgvRequest
from studio.domain.self_update import UpdateState
from studio.host import process

T = TypeVar("T")

ANSWERS = 3
"""So many answers, `between_s` apart, show that a version goes on answering."""
ANSWER_S = 10.0
WINDOW_S = 15.0
"""A window paints all its pages in a second; two of them fit into a trial."""
_NOTHING_ADOPTED = "nothing-adopted"


class _Smoke(msgspec.Struct, frozen=True, kw_only=True):
    """The line that `weir ui --smoke` prints."""

    pages: tuple[str, ...]


async def shortcoming(
    client: ControlClient, version: str, before: Holdings, *, between_s: float
) -> str | None:
    """Return in words what speaks against a version whose service answers `client`, or None."""
    try:
        return await _lacks(client, version, before, between_s)
    except StudioError as error:
        return f"it answers with an error: {error.message.rstrip('.')}"
    except TimeoutError:
        return f"it does not answer within {ANSWER_S:.0f} s"


async def window_shortcoming(program: Path, before: Path | None) -> str | None:
    """Return what is wrong with the window of a program, or None.

    A window that the program before cannot paint either fails for a reason of this machine's,
    which is held against no version.
    """
    found = await _window(program)
    if found is None or before is None or await _window(before) is not None:
        return None
    return found


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
    if (await _in_time(client.update_status())).state is not UpdateState.TRIAL:
        return "it does not know that it is on trial"
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


async def _window(program: Path) -> str | None:
    """Return what is wrong with a window that paints every page where nobody sees it."""
    home = os.environ.get("WEIR_HOME")
    environment = process.helper_environment(
        {"QT_QPA_PLATFORM": "offscreen", **({"WEIR_HOME": home} if home else {})}
    )
    lines: list[str] = []
    try:
        done = await process.run(
            [str(program), "ui", "--smoke"], env=environment, timeout_s=WINDOW_S,
            on_line=lines.append,
        )  # fmt: skip
    except StudioError as error:
        return f"its window does not start: {error.message.rstrip('.')}"
    if done.exit_code != 0:
        return f"its window ends with status {done.exit_code}"
    return None if any(_is_painted(line) for line in lines) else "its window paints no page"


def _is_painted(line: str) -> bool:
    try:
        return bool(msgspec.json.decode(line, type=_Smoke).pages)
    except msgspec.DecodeError:
        return False
