"""`weir fix`: the remedies of what failed last, numbered; with a number it takes one."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from studio.cli import diagnose_text
from studio.cli import remedy_words as words
from studio.cli.arguments import Invocation
from studio.cli.console import Console
from studio.cli.reach import Command, running_or_offline
from studio.cli.up import operate
from studio.cli.watch import Watch
from studio.domain.control import UpResult
from studio.domain.diagnosis import FixRequest, Offered, RemedyList

if TYPE_CHECKING:
    from studio.cli.reach import Connector
    from studio.control.client import ControlClient

_OK = 0


async def fix(call: Invocation, connector: "Connector", console: Console) -> int:
    """List the remedies, or take one and stay until the engine serves."""
    if call.number is None:
        return await _list(call, connector, console)
    # A service is needed that outlives this command: what is mended is to serve.
    client = await connector.connect(start=True, hold=False)
    try:
        offered = await client.remedies()
        chosen = _chosen(offered, call.number)
        if chosen is not None and chosen.remedy.can_apply:
            console.note(words.TAKES.format(text=chosen.remedy.text))
            if chosen.command is not None:
                console.note(words.AS_COMMAND.format(command=chosen.command))
        request = FixRequest(
            number=call.number,
            about=chosen.about if chosen is not None else None,
            consent=call.consent,
        )
        return await operate(
            client, lambda: _fixed(client, request, console), Watch(console), console
        )
    finally:
        await client.close()


async def _list(call: Invocation, connector: "Connector", console: Console) -> int:
    client = await running_or_offline(connector)
    try:
        found = await client.remedies()
    finally:
        await client.close()
    if call.json:
        console.document(found)
    elif found.failure is None and not found.offered:
        console.say(words.NOTHING_FAILED)
    else:
        console.say(diagnose_text.remedies_text(found, min(console.width, 100)))
    return _OK


async def _fixed(client: "ControlClient", request: FixRequest, console: Console) -> UpResult:
    fixed = await client.fix(request)
    if fixed.repaired:
        console.note(words.REPAIRED.format(names=", ".join(fixed.repaired)))
    return fixed.result


def _chosen(offered: RemedyList, number: int) -> Offered | None:
    return next((one for one in offered.offered if one.number == number), None)


FIX_COMMANDS: Mapping[str, Command] = {"fix": fix}
