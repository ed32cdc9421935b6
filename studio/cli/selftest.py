"""`weir gateway selftest`: the gateway attacks itself. Needs no service."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from studio.cli.arguments import Invocation
from studio.cli.console import Console
from studio.cli.reach import Command, running_or_offline
from studio.cli.selftest_text import report_text

if TYPE_CHECKING:
    from studio.cli.reach import Connector

_LET_THROUGH = 1


async def selftest(call: Invocation, connector: "Connector", console: Console) -> int:
    """Show what held; the exit status is 1 when anything came through."""
    client = await running_or_offline(connector)
    try:
        report = await client.gateway_selftest()
    finally:
        await client.close()
    if call.json:
        console.document(report)
    else:
        console.say(report_text(report))
    return 0 if report.is_safe else _LET_THROUGH


SELFTEST_COMMANDS: Mapping[str, Command] = {"gateway selftest": selftest}
