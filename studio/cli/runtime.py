"""`weir runtime …`: each command asks one thing and shows the answer. None needs a service."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from studio.cli import runtime_text
from studio.cli.arguments import Invocation
from studio.cli.console import Console
from studio.cli.reach import Command, running_or_offline
from studio.domain.runtimes import PinRequest

if TYPE_CHECKING:
    from studio.cli.reach import Connector
    from studio.control.client import ControlClient

_OK = 0


@asynccontextmanager
async def _client(connector: "Connector") -> AsyncIterator["ControlClient"]:
    client = await running_or_offline(connector)
    try:
        yield client
    finally:
        await client.close()


async def list_runtimes(call: Invocation, connector: "Connector", console: Console) -> int:
    """List the runtimes with state and verdict."""
    async with _client(connector) as client:
        found = await client.runtimes()
    if call.json:
        console.document(found)
    else:
        console.say(runtime_text.list_text(found.runtimes, console.width))
    return _OK


async def show_runtime(call: Invocation, connector: "Connector", console: Console) -> int:
    """Show all about one runtime."""
    async with _client(connector) as client:
        found = await client.runtime(call.name)
    if call.json:
        console.document(found)
    else:
        console.say(runtime_text.detail_text(found, console.width))
    return _OK


async def pin_runtime(call: Invocation, connector: "Connector", console: Console) -> int:
    """Supply what a recipe leaves open, and say what still is."""
    request = PinRequest(
        commit=call.commit, hashes=call.hashes, confirm=call.confirm, forget=call.forget
    )
    async with _client(connector) as client:
        found = await client.pin_runtime(call.name, request)
    if call.json:
        console.document(found)
    else:
        console.say(runtime_text.pinned_text(found, console.width))
    return _OK


RUNTIME_COMMANDS: Mapping[str, Command] = {
    "runtime list": list_runtimes,
    "runtime show": show_runtime,
    "runtime pin": pin_runtime,
}
