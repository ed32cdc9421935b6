"""`weir presets rename`, `remove` and `update`; none needs a service."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from studio.cli import preset_text, preset_words
from studio.cli.arguments import Invocation
from studio.cli.console import Console
from studio.cli.reach import Command, running_or_offline
from studio.domain.presets import UpdateRequest

if TYPE_CHECKING:
    from studio.cli.reach import Connector

_OK = 0


async def rename(call: Invocation, connector: "Connector", console: Console) -> int:
    """Give a preset another title."""
    client = await running_or_offline(connector)
    try:
        made = await client.retitle_preset(call.name, call.other or "")
    finally:
        await client.close()
    if call.json:
        console.document(made)
    else:
        console.say(preset_words.RENAMED.format(id=made.id, path=made.path))
    return _OK


async def remove(call: Invocation, connector: "Connector", console: Console) -> int:
    """Delete a preset."""
    client = await running_or_offline(connector)
    try:
        gone = await client.remove_preset(call.name)
    finally:
        await client.close()
    if call.json:
        console.document(gone)
    else:
        back = preset_words.REMOVED_BACK if gone.is_bundled_back else preset_words.REMOVED
        console.say(back.format(id=gone.id, path=gone.path))
    return _OK


async def update(call: Invocation, connector: "Connector", console: Console) -> int:
    """Take over what changed in a preset's original."""
    take = call.include or None
    client = await running_or_offline(connector)
    try:
        before = await client.preset_text(call.name)
        made = await client.update_preset(call.name, UpdateRequest(take=take))
    finally:
        await client.close()
    if call.json:
        console.document(made)
    else:
        console.say(preset_text.saved_text(before, made, console.width))
    return _OK


PRESET_CHANGE_COMMANDS: Mapping[str, Command] = {
    "presets rename": rename,
    "presets remove": remove,
    "presets update": update,
}
