"""`weir doctor`: what this machine, or one from a file, is good for."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from studio.cli import doctor_text
from studio.cli.arguments import Invocation
from studio.cli.console import Console
from studio.cli.reach import Command, running_or_offline
from studio.domain.doctor import Level

if TYPE_CHECKING:
    from studio.cli.reach import Connector

_OK = 0
_NOTHING_FITS = 4
"""The same as of a start that the host is not good for."""


async def doctor(call: Invocation, connector: "Connector", console: Console) -> int:
    """Show every verdict; the status says whether anything at all can be served."""
    client = await running_or_offline(connector)
    try:
        found = await client.doctor()
    finally:
        await client.close()
    if call.json:
        console.document(found)
    else:
        console.say(doctor_text.report_text(found, console.width))
    return _NOTHING_FITS if found.level is Level.STOPS else _OK


DOCTOR_COMMANDS: Mapping[str, Command] = {"doctor": doctor}
