"""`weir gpus`: what the cards do right now. Needs no service."""

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING

from studio.cli import gpu_text
from studio.cli.arguments import Invocation
from studio.cli.console import Console
from studio.cli.reach import Command, running_or_offline

if TYPE_CHECKING:
    from studio.cli.reach import Connector
    from studio.domain.cards import CardsReading

EVERY_S = 1.0


async def gpus(call: Invocation, connector: "Connector", console: Console) -> int:
    """Show the cards, once or once a second."""
    client = await running_or_offline(connector)
    try:
        _show(await client.cards(), call, console)
        while call.follow:
            await asyncio.sleep(EVERY_S)
            _show(await client.cards(), call, console)
    finally:
        await client.close()
    return 0


def _show(reading: "CardsReading", call: Invocation, console: Console) -> None:
    if call.json:
        console.document(reading)
        return
    text = gpu_text.gpus_text(reading, console.width if console.out_is_terminal else None)
    if call.follow:
        console.redraw(text)
    else:
        console.say(text)


GPU_COMMANDS: Mapping[str, Command] = {"gpus": gpus}
