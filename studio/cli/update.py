"""`weir update`: newer versions of the Studio. Works without a service and in a broken home."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from studio.cli import update_words as words
from studio.cli.arguments import Invocation
from studio.cli.console import Console
from studio.cli.reach import Command, running_or_none
from studio.cli.up import IDLE
from studio.cli.update_text import status_text
from studio.domain.control import Status, UpRequest
from studio.domain.errors import Busy, NeedsConsent, ServiceUnreachable, from_info
from studio.domain.self_update import (
    Came,
    UpdateApplyRequest,
    UpdateCheckRequest,
    UpdateState,
    UpdateStatus,
)
from studio.domain.units import bytes_text

if TYPE_CHECKING:
    from studio.cli.reach import Connector
    from studio.control.client import ControlClient

_LOOK_S = 0.2
_GONE_S = 60.0
"""How long a service may take to finish the answers under way and end."""
_OVER_S = 150.0
"""A trial has its minute; a version that hangs is ended, and the one before starts."""

Change = Callable[["ControlClient"], Awaitable[UpdateStatus]]


async def status(call: Invocation, connector: "Connector", console: Console) -> int:
    """Show where everything stands."""
    return await _shown(call, connector, console, lambda client: client.update_status())


async def check(call: Invocation, connector: "Connector", console: Console) -> int:
    """Look at the feed."""
    request = UpdateCheckRequest(source=_place(call.source))
    return await _shown(call, connector, console, lambda client: client.update_check(request))


async def get(call: Invocation, connector: "Connector", console: Console) -> int:
    """Fetch and stage, showing how far it is."""
    request = UpdateCheckRequest(source=_place(call.source))

    async def fetched(client: "ControlClient") -> UpdateStatus:
        async with asyncio.TaskGroup() as group:
            watching = group.create_task(_watch(client, console))
            try:
                return await client.update_get(request)
            finally:
                watching.cancel()

    return await _shown(call, connector, console, fetched)


async def apply(call: Invocation, connector: "Connector", console: Console) -> int:
    """Let the staged version take over, now or at the next start."""
    request = UpdateApplyRequest(wanted=not call.forget)
    return await _change(call, connector, console, lambda client: client.update_apply(request))


async def rollback(call: Invocation, connector: "Connector", console: Console) -> int:
    """Go back to the version before."""

    async def back(client: "ControlClient") -> UpdateStatus:
        found = await client.update_rollback()
        if not call.json:
            console.note(words.BACK_KEEPS)
        return found

    return await _change(call, connector, console, back)


async def _shown(
    call: Invocation, connector: "Connector", console: Console, question: Change
) -> int:
    client = connector.salvage()
    try:
        found = await _plainly(question, client)
    finally:
        await client.close()
    _show(found, call, console)
    return 0


async def _plainly(question: Change, client: "ControlClient") -> UpdateStatus:
    """Return the answer; an error comes as it is, not in a group."""
    try:
        return await question(client)
    except BaseExceptionGroup as errors:
        found: BaseException = errors
        while isinstance(found, BaseExceptionGroup):
            found = found.exceptions[0]
        raise found from None


async def _change(
    call: Invocation, connector: "Connector", console: Console, change: Change
) -> int:
    """Choose a version; where it is not for later, exchange the service and see it come up."""
    client = connector.salvage()
    try:
        before = await _running(connector)
        chosen = await change(client)
        is_now = not (call.later or call.forget)
        if is_now and before is not None and not await _agreed(chosen, before, call, console):
            await client.update_apply(UpdateApplyRequest(wanted=False))
            console.say(words.NOT_CHANGED)
            return 0
        if not is_now:
            _show(chosen, call, console)
            return 0
        await _exchange(connector, client, console, chosen, before)
        _show(await client.update_status(), call, console, is_over=True)
    finally:
        await client.close()
    return 0


async def _agreed(chosen: UpdateStatus, before: Status, call: Invocation, console: Console) -> bool:
    """Return whether the service may be ended. Raises: NeedsConsent (`update-consent`)."""
    version = chosen.waiting or words.NO_VERSION
    if call.consent:
        return True
    if not console.can_ask:
        raise NeedsConsent(
            "update-consent", words.CONSENT.format(version=version), hint=words.HINT_CONSENT
        )
    question = words.QUESTION.format(version=version)
    if before.engine.state not in IDLE:
        question = words.QUESTION_SERVING.format(
            version=version, preset=before.engine.preset or words.NO_VERSION
        )
    return await console.ask(question, default=False)


async def _exchange(
    connector: "Connector",
    client: "ControlClient",
    console: Console,
    chosen: UpdateStatus,
    before: Status | None,
) -> None:
    """End the service, start it anew, wait until the new version has proven itself.

    Raises: what took the new version back, Busy (`update-not-in-time`).
    """
    version = chosen.waiting or words.NO_VERSION
    console.note(words.TAKING_OVER.format(version=version))
    if before is not None:
        await _end(connector, client)
    over = await _until_over(connector, client, version)
    if before is None:
        await _end(connector, client)
    elif before.engine.state not in IDLE:
        await _serve_again(connector, console, before)
    if over.failed is not None and over.last_version != version:
        raise from_info(over.failed)
    if not console.json:
        console.note(words.DONE.format(version=version))


async def _until_over(
    connector: "Connector", client: "ControlClient", version: str
) -> UpdateStatus:
    deadline = time.monotonic() + _OVER_S
    while time.monotonic() < deadline:
        is_running = await _running(connector, start=True) is not None
        now = await client.update_status()
        # On Windows the program is exchanged also where its Linux is not there yet.
        if is_running or now.came is Came.SETUP:
            is_decided = now.last_version == version or now.failed is not None
            if is_decided and now.state is not UpdateState.TRIAL:
                return now
        await asyncio.sleep(_LOOK_S)
    raise Busy(
        "update-not-in-time",
        words.NOT_IN_TIME.format(version=version),
        hint=words.HINT_NOT_IN_TIME,
    )


async def _running(connector: "Connector", *, start: bool = False) -> Status | None:
    """Return what runs, started if asked to; None where nothing does or it does not come up."""
    service: ControlClient | None
    try:
        if start:
            service = await connector.connect(start=True, hold=False)
        else:
            service = await running_or_none(connector)
        if service is None:
            return None
        try:
            return await service.status()
        finally:
            await service.close()
    except ServiceUnreachable:
        return None


async def _end(connector: "Connector", client: "ControlClient") -> None:
    service = await running_or_none(connector)
    if service is not None:
        try:
            await service.down()
        except ServiceUnreachable:
            pass  # it was gone before its answer had left
        finally:
            await service.close()
    deadline = time.monotonic() + _GONE_S
    while (await client.update_status()).service_version is not None:
        if time.monotonic() > deadline:
            return  # the new one waits for its lock, and says so
        await asyncio.sleep(_LOOK_S)


async def _serve_again(connector: "Connector", console: Console, before: Status) -> None:
    service = await connector.connect(start=True, hold=False)
    try:
        await service.up(UpRequest(preset=before.engine.preset))
    finally:
        await service.close()
    console.note(words.SERVING_AGAIN.format(preset=before.engine.preset))


async def _watch(client: "ControlClient", console: Console) -> None:
    """Show how much of a package is here."""
    while True:
        await asyncio.sleep(_LOOK_S)
        now = await client.update_status()
        if now.fetched_bytes is not None and console.err_is_terminal:
            console.live(words.FETCHING.format(done=bytes_text(now.fetched_bytes)))


def _show(
    found: UpdateStatus, call: Invocation, console: Console, *, is_over: bool = False
) -> None:
    if call.json:
        console.document(found)
    elif not is_over:
        console.say(status_text(found))


def _place(text: str | None) -> str | None:
    """Return a folder as one that means the same everywhere; an address as it is."""
    if text is None or "://" in text:
        return text
    return str(Path(text).expanduser().absolute())


UPDATE_COMMANDS: Mapping[str, Command] = {
    "update": status,
    "update status": status,
    "update check": check,
    "update get": get,
    "update apply": apply,
    "update rollback": rollback,
}
