"""`weir keys reveal`: a key that was made with `--store`."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from studio.cli.arguments import Invocation
from studio.cli.console import Console
from studio.cli.keys import chosen
from studio.cli.reach import Command, running_or_offline

if TYPE_CHECKING:
    from studio.cli.reach import Connector

_OK = 0


async def reveal(call: Invocation, connector: "Connector", console: Console) -> int:
    """Show a key that was made with `--store`."""
    client = await running_or_offline(connector)
    try:
        key = chosen(await client.keys(), call.name)
        found = await client.reveal_key(key.id)
    finally:
        await client.close()
    if call.json:
        console.document(found)
    else:
        console.say(found.key)
    return _OK


KEPT_KEY_COMMANDS: Mapping[str, Command] = {"keys reveal": reveal}
