"""`weir network`: the policy in force, and what the person changes of it. Needs no service."""

from typing import TYPE_CHECKING

from studio.cli import network_text
from studio.cli.arguments import Invocation
from studio.cli.console import Console
from studio.cli.reach import running_or_offline
from studio.domain.network import NetworkChange

if TYPE_CHECKING:
    from studio.cli.reach import Connector


async def network(call: Invocation, connector: "Connector", console: Console) -> int:
    """Show the policy, after changing it if asked to."""
    client = await running_or_offline(connector)
    try:
        if call.assigned or call.dropped:
            found = await client.change_network(_change(call))
        else:
            found = await client.network()
    finally:
        await client.close()
    if call.json:
        console.document(found)
    else:
        console.say(network_text.report_text(found, console.width))
    return 0


def _change(call: Invocation) -> NetworkChange:
    """Return what was asked for; what is set twice (mirrors, hosts) is set to both."""
    values: dict[str, str] = {}
    for name, value in call.assigned:
        values[name] = f"{values[name]} {value}" if name in values else value
    return NetworkChange(values=values, forget=call.dropped)
