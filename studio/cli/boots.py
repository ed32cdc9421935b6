"""`weir boots`, and the pins of pools that boots make possible; no service is needed."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from studio.cli import boots_text
from studio.cli.arguments import Invocation
from studio.cli.console import Console
from studio.cli.reach import Command, running_or_offline

if TYPE_CHECKING:
    from studio.cli.reach import Connector
    from studio.domain.boots import PinResult

_OK = 0


async def boots(call: Invocation, connector: "Connector", console: Console) -> int:
    """List the newest boots."""
    client = await running_or_offline(connector)
    try:
        found = await client.boots(preset=call.preset, limit=call.lines or 0)
    finally:
        await client.close()
    if call.json:
        console.document(found)
    else:
        console.say(boots_text.history_text(found, call.preset, console.width))
    return _OK


async def pin(call: Invocation, connector: "Connector", console: Console) -> int:
    """Keep the pool of a preset's last warm boot."""
    client = await running_or_offline(connector)
    try:
        made = await client.pin_preset(call.name)
    finally:
        await client.close()
    return _answer(call, console, made)


async def unpin(call: Invocation, connector: "Connector", console: Console) -> int:
    """Leave the size of a preset's pool to the engine again."""
    client = await running_or_offline(connector)
    try:
        made = await client.unpin_preset(call.name)
    finally:
        await client.close()
    return _answer(call, console, made)


def _answer(call: Invocation, console: Console, made: "PinResult") -> int:
    if call.json:
        console.document(made)
    else:
        console.say(made.note)
    return _OK


BOOT_COMMANDS: Mapping[str, Command] = {
    "boots": boots,
    "presets pin": pin,
    "presets unpin": unpin,
}
