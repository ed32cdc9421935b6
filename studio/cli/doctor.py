"""`weir doctor`: what this machine, or one from a file, is good for."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from studio.cli import doctor_text
from studio.cli.arguments import Invocation
from studio.cli.console import Console
from studio.cli.reach import Command, running_or_none
from studio.domain.doctor import DoctorReport, Level
from studio.domain.errors import ServiceUnreachable, StudioError

if TYPE_CHECKING:
    from studio.cli.reach import Connector

_OK = 0
_NOTHING_FITS = 4
"""The same as of a start that the host is not good for."""
_CALL_UNKNOWN = "path-unknown"


async def doctor(call: Invocation, connector: "Connector", console: Console) -> int:
    """Show every verdict; the status says whether anything at all can be served."""
    found = await _of_service(connector) or await _of_its_own(connector)
    if call.json:
        console.document(found)
    else:
        console.say(doctor_text.report_text(found, console.width))
    return _NOTHING_FITS if found.level is Level.STOPS else _OK


async def _of_service(connector: "Connector") -> DoctorReport | None:
    """Return what the running service says, which knows whose processes hold a card.

    None where there is none, where it does not answer, and where it is of an older version: the
    doctor is asked when things do not work.
    """
    try:
        client = await running_or_none(connector)
    except ServiceUnreachable:
        return None
    if client is None:
        return None
    try:
        return await client.doctor()
    except StudioError as error:
        if isinstance(error, ServiceUnreachable) or error.code == _CALL_UNKNOWN:
            return None
        raise
    finally:
        await client.close()


async def _of_its_own(connector: "Connector") -> DoctorReport:
    client = connector.offline()
    try:
        return await client.doctor()
    finally:
        await client.close()


DOCTOR_COMMANDS: Mapping[str, Command] = {"doctor": doctor}
