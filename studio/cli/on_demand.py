"""`weir gateway on-demand` and `queue`: what requests start, and who waits."""

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec

from studio.cli import on_demand_words as words
from studio.cli.arguments import Invocation
from studio.cli.console import Console
from studio.cli.on_demand_text import queue_text, report_text
from studio.cli.reach import Command, running_or_offline
from studio.domain.demand import DemandChange
from studio.domain.errors import BadInput

if TYPE_CHECKING:
    from studio.cli.reach import Connector

_OK = 0


async def on_demand(call: Invocation, connector: "Connector", console: Console) -> int:
    """Show what requests may start, after changing it if asked to. Needs no service."""
    change = _change(call)
    client = await running_or_offline(connector)
    try:
        if change == DemandChange():
            report = await client.on_demand()
        else:
            report = await client.change_on_demand(change)
    finally:
        await client.close()
    if call.json:
        console.document(report)
    else:
        console.say(report_text(report, time.time()))
    return _OK


async def queue(call: Invocation, connector: "Connector", console: Console) -> int:
    """Show who waits; nobody does when no service runs."""
    client = await running_or_offline(connector)
    try:
        found = await client.queue()
    finally:
        await client.close()
    if call.json:
        console.document(found)
    else:
        console.say(queue_text(found, time.time()))
    return _OK


def _change(call: Invocation) -> DemandChange:
    change = msgspec.convert(call.changes, DemandChange)
    if call.remove:
        if call.preset is None:
            raise BadInput("preset-missing", words.NO_PRESET, hint=words.HINT_REMOVE)
        return msgspec.structs.replace(change, remove=call.preset)
    overrides = dict(call.overrides) if call.overrides else None
    return msgspec.structs.replace(change, preset=call.preset, overrides=overrides)


ON_DEMAND_COMMANDS: Mapping[str, Command] = {
    "gateway on-demand": on_demand,
    "gateway queue": queue,
}
