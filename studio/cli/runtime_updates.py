"""`weir runtime updates` and `weir runtime update`: what is offered, and taking it up."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from studio.cli import updates_text
from studio.cli.arguments import Invocation
from studio.cli.console import Console
from studio.cli.reach import Command
from studio.cli.runtime import answer, reached
from studio.cli.watch import watched
from studio.domain.runtimes import InstallRequest, RuntimeUpdated

if TYPE_CHECKING:
    from studio.cli.reach import Connector
    from studio.control.client import ControlClient

_OK = 0


async def list_updates(call: Invocation, connector: "Connector", console: Console) -> int:
    """List what could take the place of installed runtimes."""
    async with reached(connector) as client:
        found = await client.runtime_updates()
    answer(call, console, found, updates_text.updates_text(found.updates, console.width))
    return _OK


async def update_runtime(call: Invocation, connector: "Connector", console: Console) -> int:
    """Take an update up, showing how far it is."""

    async def operation(client: "ControlClient") -> RuntimeUpdated:
        return await client.update_runtime(call.name, InstallRequest(consent=call.consent))

    done = await watched(connector, console, operation)
    answer(call, console, done, updates_text.updated_text(done))
    return _OK


UPDATE_COMMANDS: Mapping[str, Command] = {
    "runtime updates": list_updates,
    "runtime update": update_runtime,
}
