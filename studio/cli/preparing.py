"""`weir models missing` and `weir models prepare`."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from studio.cli import preparing_text
from studio.cli import preparing_words as words
from studio.cli.arguments import Invocation
from studio.cli.console import Console
from studio.cli.reach import Command, running_or_offline
from studio.cli.watch import watched
from studio.domain.preparing import PrepareRequest, PresetStanding

if TYPE_CHECKING:
    from studio.cli.reach import Connector
    from studio.control.client import ControlClient


async def missing(call: Invocation, connector: "Connector", console: Console) -> int:
    """Show what a preset's models still need; asks hubs, starts nothing."""
    client = await running_or_offline(connector)
    try:
        found = await client.missing(call.name, listed=True)
    finally:
        await client.close()
    if call.json:
        console.document(found)
    else:
        console.say(preparing_text.standing_text(found))
    return 0


async def prepare(call: Invocation, connector: "Connector", console: Console) -> int:
    """Fetch and prepare, showing how far it is; with `--dry-run` only say what that would be."""
    if call.dry_run:
        return await missing(call, connector, console)

    async def operation(client: "ControlClient") -> PresetStanding:
        return await client.prepare(PrepareRequest(name=call.name, consent=call.consent))

    found = await watched(connector, console, operation)
    if call.json:
        console.document(found)
    else:
        console.say(words.DONE.format(name=call.name))
        console.say(preparing_text.standing_text(found))
    return 0


PREPARING_COMMANDS: Mapping[str, Command] = {
    "models missing": missing,
    "models prepare": prepare,
}
