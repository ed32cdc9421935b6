"""`weir pool`: who lies in the pool, and what more fits."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from studio.cli import pool_text
from studio.cli.arguments import Invocation
from studio.cli.console import Console
from studio.cli.reach import Command, running

if TYPE_CHECKING:
    from studio.cli.reach import Connector


async def pool(call: Invocation, connector: "Connector", console: Console) -> int:
    """Show the pool."""
    client = await running(connector)
    try:
        found = await client.pool()
    finally:
        await client.close()
    if call.json:
        console.document(found)
    else:
        console.say(pool_text.pool_text(found))
    return 0


POOL_COMMANDS: Mapping[str, Command] = {"pool": pool}
