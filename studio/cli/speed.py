"""`weir speed`: how fast it is, and whether that is as it should be."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from studio.cli import speed_text
from studio.cli.arguments import Invocation
from studio.cli.console import Console
from studio.cli.reach import Command, running

if TYPE_CHECKING:
    from studio.cli.reach import Connector


async def speed(call: Invocation, connector: "Connector", console: Console) -> int:
    """Show the speed."""
    client = await running(connector)
    try:
        found = await client.speed()
    finally:
        await client.close()
    if call.json:
        console.document(found)
    else:
        console.say(speed_text.speed_text(found, console.width))
    return 0


SPEED_COMMANDS: Mapping[str, Command] = {"speed": speed}
