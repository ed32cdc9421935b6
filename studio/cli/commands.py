"""What asks the running service one thing about engine and processes, and shows the answer."""

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

from studio.cli import on_demand_words, render, words
from studio.cli.arguments import Invocation
from studio.cli.console import Console
from studio.cli.on_demand_text import queue_pairs
from studio.cli.reach import Command, running, running_or_none
from studio.domain.control import ProcessInfo
from studio.domain.errors import ServiceUnreachable
from studio.domain.server import EngineState

if TYPE_CHECKING:
    from studio.cli.reach import Connector

_OK = 0
_IDLE = (EngineState.STOPPED, EngineState.FAILED)


async def stop(call: Invocation, connector: "Connector", console: Console) -> int:
    """Stop the engine; nothing running is no error."""
    client = await running_or_none(connector)
    was_running = is_held = False
    if client is not None:
        try:
            before = await client.status()
            was_running = before.engine.state not in _IDLE
            is_held = (await client.stop()).queue.held_since is not None
        finally:
            await client.close()
    if call.json:
        _stopped(console, was_running=was_running, service_running=client is not None)
    else:
        console.say(words.NOTHING_RUNS if client is None else words.ENGINE_STOPPED)
        if is_held:
            console.say(on_demand_words.HELD_AFTER_STOP)
    return _OK


async def down(call: Invocation, connector: "Connector", console: Console) -> int:
    """End engine and service; nothing running is no error."""
    client = await running_or_none(connector)
    if client is not None:
        try:
            await client.down()
        except ServiceUnreachable:
            # The service may be gone before its answer has left; what counts is that it is gone.
            still_there = await running_or_none(connector)
            if still_there is not None:
                await still_there.close()
                raise
        finally:
            await client.close()
    if call.json:
        _stopped(console, was_running=client is not None, service_running=False)
    else:
        console.say(words.NOTHING_RUNS if client is None else words.DOWN_DONE)
    return _OK


def _stopped(console: Console, *, was_running: bool, service_running: bool) -> None:
    console.document({"was_running": was_running, "service_running": service_running})


async def status(call: Invocation, connector: "Connector", console: Console) -> int:
    """Show one instant of everything."""
    client = await running(connector)
    try:
        now = await client.status()
    finally:
        await client.close()
    if call.json:
        console.document(now)
    else:
        at = time.time()
        console.say(render.status_text(now, at, queue_pairs(now.queue, at)))
        if now.prompt_logs:
            from studio.cli.prompts import warn

            warn(now.prompt_logs, console)
    return _OK


async def ps(call: Invocation, connector: "Connector", console: Console) -> int:
    """List our processes; none when nothing runs."""
    client = await running_or_none(connector)
    processes: list[ProcessInfo] = []
    if client is not None:
        try:
            processes = await client.ps()
        finally:
            await client.close()
    if call.json:
        console.document(processes)
    elif not processes:
        console.say(words.NOTHING_RUNS)
    else:
        width = console.width if console.out_is_terminal else None
        console.say(render.processes_text(processes, time.time(), width))
    return _OK


ENGINE_COMMANDS: Mapping[str, Command] = {
    "stop": stop,
    "down": down,
    "status": status,
    "ps": ps,
}
