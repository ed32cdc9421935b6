"""`weir up`, `switch` and `restart`: ask the service to serve, show how far it is, stay or leave.

The service decides; this module asks again with the person's answer, and stops on Ctrl+C what it
started itself and nothing else.
"""

import asyncio
import contextlib
import dataclasses
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

import msgspec

from studio.cli import render, service_text, words
from studio.cli.arguments import Invocation
from studio.cli.console import Console, OutputClosed
from studio.cli.reach import running, running_or_none
from studio.cli.watch import Ending, Watch, watching
from studio.domain.control import UpRequest, UpResult
from studio.domain.errors import Interrupted, ServiceUnreachable, StudioError
from studio.domain.server import EngineState
from studio.domain.units import bytes_text

if TYPE_CHECKING:
    from studio.cli.reach import Connector
    from studio.control.client import ControlClient

Operation = Callable[[], Awaitable[UpResult]]

IDLE = (EngineState.STOPPED, EngineState.FAILED)
"""States in which nothing of the engine runs."""


@dataclasses.dataclass(slots=True, kw_only=True)
class _Ours:
    """What this command started, and so has to stop."""

    service: bool
    engine: bool


async def up(call: Invocation, connector: "Connector", console: Console) -> int:
    """Serve a preset and stay until Ctrl+C, or with `--detach` until the first token."""
    client, is_new = await _connect(connector, console, hold=not call.detach)
    try:
        before = await client.status()
        ours = _Ours(service=is_new, engine=before.engine.state in IDLE)
        return await _up(call, client, console, ours)
    finally:
        await client.close()


async def _connect(
    connector: "Connector", console: Console, *, hold: bool
) -> "tuple[ControlClient, bool]":
    client = await running_or_none(connector)
    if client is not None and hold:
        return client, False
    if client is not None:
        # Asking for a start without a hold tells a service that another terminal holds to stay.
        await client.close()
        return await connector.connect(start=True, hold=False), False
    console.note(words.STARTING_SERVICE)
    client = await connector.connect(start=True, hold=hold)
    if client.started is not None:
        console.note(service_text.unit_used(client.started))
    # systemd goes on with a service of its unit when this command ends; only the engine is ours.
    return client, client.started is None or not client.started.is_started


async def _up(call: Invocation, client: "ControlClient", console: Console, ours: _Ours) -> int:
    watch = Watch(console)
    async with watching(client, watch, hold=not call.detach) as stream:
        try:
            result = await _until_served(client.up, _request(call), watch, console)
            ours.engine = not result.already_running
            if not result.already_running:
                await watch.last_stages()
            if not call.detach:
                await _stay(result, stream, watch, console, ours)
                return 0
        except asyncio.CancelledError:
            if stream.done():  # the stream broke, nobody pressed Ctrl+C
                raise
            _forget_cancelling()
            watch.pause()
            await _stop_ours(client, console, ours)
            raise Interrupted("interrupted", words.INTERRUPTED) from None
        except (StudioError, OutputClosed):
            watch.pause()
            if ours.service:
                with contextlib.suppress(StudioError):
                    await client.down()
            raise
    _report(result, console)
    console.say(words.KEEPS_RUNNING)
    return 0


async def _stay(
    result: UpResult,
    stream: "asyncio.Task[Ending]",
    watch: Watch,
    console: Console,
    ours: _Ours,
) -> None:
    watch.pause()
    _report(result, console)
    stops = ours.engine or ours.service
    console.note(words.STOP_WITH_CTRL_C if stops else words.LEAVE_WITH_CTRL_C)
    watch.go_live()
    # Shielded, so that Ctrl+C ends this wait and not the hold on the service, which has to last
    # until the service was told to end.
    ending = await asyncio.shield(stream)
    if ending.error is not None:
        raise ending.error
    console.note(words.service_ended(ending.reason) if ending.reason else words.SERVICE_ENDED)


async def _stop_ours(client: "ControlClient", console: Console, ours: _Ours) -> None:
    with contextlib.suppress(ServiceUnreachable):
        if ours.service:
            console.note(words.STOPPING_ALL)
            await client.down()
            console.note(words.STOPPED_ALL)
        elif ours.engine:
            console.note(words.STOPPING_ENGINE)
            await client.stop()
            console.note(words.STOPPED_ENGINE)
        else:
            now = await client.status()
            console.note(words.left_running(now.engine.preset, now.gateway.base_url))


async def switch(call: Invocation, connector: "Connector", console: Console) -> int:
    """Replace what runs by another preset."""
    client = await running(connector)
    try:
        watch = Watch(console)
        return await operate(
            client,
            lambda: _until_served(client.switch, _request(call), watch, console),
            watch,
            console,
        )
    finally:
        await client.close()


async def restart(_call: Invocation, connector: "Connector", console: Console) -> int:
    """Stop the engine and start it as it was."""
    client = await running(connector)
    try:
        return await operate(client, client.restart, Watch(console), console)
    finally:
        await client.close()


async def operate(
    client: "ControlClient", operation: Operation, watch: Watch, console: Console
) -> int:
    """Carry out what ends with an engine that serves, and show how far it is."""
    async with watching(client, watch, hold=False) as stream:
        try:
            result = await operation()
            await watch.last_stages()
        except asyncio.CancelledError:
            if stream.done():
                raise
            _forget_cancelling()
            watch.pause()
            console.note(words.LEAVES_OPERATION)
            raise Interrupted("interrupted", words.INTERRUPTED) from None
    _report(result, console)
    return 0


async def served(
    client: "ControlClient", call: Invocation, watch: Watch, console: Console
) -> UpResult:
    """Let what was typed serve, asking the person what has to be asked."""
    return await _until_served(client.up, _request(call), watch, console)


def _forget_cancelling() -> None:
    task = asyncio.current_task()
    assert task is not None
    task.uncancel()


# Questions


async def _until_served(
    operation: Callable[[UpRequest], Awaitable[UpResult]],
    request: UpRequest,
    watch: Watch,
    console: Console,
) -> UpResult:
    while True:
        watch.expect_finish()
        try:
            return await operation(request)
        except StudioError as error:
            if not isinstance(error, ServiceUnreachable):
                await watch.last_stages()
            watch.pause()
            request = await _answered(error, request, console)


async def _answered(error: StudioError, request: UpRequest, console: Console) -> UpRequest:
    """Return the request to try next, or raise `error` with what to type instead."""
    # The kind of an error does not travel; what a question needs to know does (NeedsConsent).
    if "download_bytes" in error.data and not request.consent:
        if console.can_ask and await console.ask(_consent_question(error), default=False):
            return msgspec.structs.replace(request, consent=True)
        raise _with_hint(error, words.CONSENT_HINT)
    free_port = error.data.get("free_port")
    if error.code in ("port-taken", "port-reserved"):
        if not isinstance(free_port, int) or free_port == request.port:
            raise _with_hint(error, words.port_hint(None))
        if request.consent or (
            console.can_ask and await console.ask(_port_question(error, free_port), default=True)
        ):
            return msgspec.structs.replace(request, port=free_port)
        raise _with_hint(error, words.port_hint(free_port))
    raise error


def _consent_question(error: StudioError) -> str:
    download, disk = error.data.get("download_bytes"), error.data.get("disk_bytes")
    return words.ask_consent(
        error.message,
        bytes_text(download) if isinstance(download, int | float) else None,
        bytes_text(disk) if isinstance(disk, int | float) else None,
    )


def _port_question(error: StudioError, free_port: int) -> str:
    owner = error.data.get("owner")
    port = error.data.get("port")
    return words.ask_port(str(port or ""), str(owner) if owner else None, free_port)


def _with_hint(error: StudioError, hint: str) -> StudioError:
    return type(error)(
        error.code, error.message, hint=hint, evidence=error.evidence, data=error.data
    )


# Requests and reports


def _request(call: Invocation) -> UpRequest:
    return UpRequest(
        preset=call.preset,
        overrides=call.overrides,
        gpus=call.gpus,
        port=call.port,
        consent=call.consent,
        allow_spill=call.allow_spill,
    )


def _report(result: UpResult, console: Console) -> None:
    if not console.json:
        console.say(render.up_summary(result))
        return
    document = msgspec.to_builtins(result)
    if result.api_key is None:
        del document["api_key"]
    console.document(document)
