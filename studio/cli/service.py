"""`weir service`: the unit, what starts with it, sleep. The unit needs no running service."""

import contextlib
from typing import TYPE_CHECKING

import msgspec

from studio.cli import service_text
from studio.cli import service_words as words
from studio.cli.arguments import Invocation
from studio.cli.console import Console
from studio.cli.reach import running_or_none, running_or_offline
from studio.cli.render import labelled
from studio.domain.control import UpRequest
from studio.domain.errors import ServiceUnreachable
from studio.domain.server import EngineState
from studio.domain.service import (
    AutostartRequest,
    RunsAs,
    SleepPolicy,
    SleepRequest,
    UnitInfo,
    UnitRequest,
)

if TYPE_CHECKING:
    from studio.cli.reach import Command, Connector

_OFF = "off"


async def status(_call: Invocation, connector: "Connector", console: Console) -> int:
    """Show how the service is kept."""
    client = await running_or_offline(connector)
    try:
        found = await client.unit()
    finally:
        await client.close()
    _show(found, console)
    return 0


async def install(call: Invocation, connector: "Connector", console: Console) -> int:
    """Let systemd keep the service; hand over one that runs by hand, if asked to.

    The work is done in this process: the service that runs may be the one that has to end.
    """
    offline = connector.offline()
    try:
        if call.dry_run:
            unit = await offline.unit_text()
            if console.json:
                console.document(unit)
            else:
                console.say(unit.text.rstrip("\n"))
            return 0
        request = UnitRequest(force=call.force, linger=call.linger, restart=call.restart)
        if not call.linger and await _wants_linger(await offline.unit(), console):
            request = msgspec.structs.replace(request, linger=True)
        found = await offline.install_unit(request)
        if call.restart and found.runs_as is RunsAs.HAND:
            found = await _hand_over(connector, request, console)
    finally:
        await offline.close()
    if not call.json and found.runs_as is not RunsAs.HAND:
        console.note(words.INSTALLED_NOW)
    _show(found, console)
    return 0


async def _wants_linger(found: UnitInfo, console: Console) -> bool:
    """Ask a person, once: at the first install, where it is off."""
    is_question = not found.is_installed and found.has_linger is False
    return is_question and console.can_ask and await console.ask(words.ASK_LINGER, default=False)


async def _hand_over(connector: "Connector", request: UnitRequest, console: Console) -> UnitInfo:
    """End the service that runs by hand, start the unit, and serve again what was served."""
    again: UpRequest | None = None
    client = await running_or_none(connector)
    if client is not None:
        console.note(words.HANDING_OVER)
        try:
            engine = (await client.status()).engine
            if engine.state is EngineState.READY and engine.preset is not None:
                again = UpRequest(preset=engine.preset, overrides=dict(engine.overrides))
            with contextlib.suppress(ServiceUnreachable):  # it may be gone before its answer is
                await client.down()
        finally:
            await client.close()
    offline = connector.offline()
    try:
        found = await offline.install_unit(request)
    finally:
        await offline.close()
    if again is not None and found.autostart.preset is None:
        console.note(words.SERVING_AGAIN.format(preset=again.preset))
        client = await connector.connect(start=False, hold=False)
        try:
            await client.up(again)
        finally:
            await client.close()
    return found


async def uninstall(call: Invocation, connector: "Connector", console: Console) -> int:
    """Remove the unit; nothing installed is no error."""
    offline = connector.offline()
    try:
        before = await offline.unit()
        found = await offline.uninstall_unit(UnitRequest(force=call.force))
    finally:
        await offline.close()
    if call.json:
        console.document(found)
        return 0
    console.say(words.REMOVED_NOW if before.is_installed else words.NOTHING_TO_REMOVE)
    for note in found.notes:
        console.note(note)
    return 0


async def autostart(call: Invocation, connector: "Connector", console: Console) -> int:
    """Choose what starts with the service."""
    preset = None if call.preset == _OFF else call.preset
    client = await running_or_offline(connector)
    try:
        chosen = await client.choose_autostart(
            AutostartRequest(preset=preset, overrides=call.overrides if preset else {})
        )
        unit = await client.unit()
    finally:
        await client.close()
    if call.json:
        console.document(chosen)
        return 0
    if preset is None:
        console.say(words.CHOSEN_NONE)
        return 0
    console.say(words.CHOSEN.format(preset=preset))
    if not unit.is_installed:
        console.note(words.NO_UNIT_YET)
    return 0


async def sleep(call: Invocation, connector: "Connector", console: Console) -> int:
    """Choose what becomes of the engine when the machine sleeps."""
    client = await running_or_offline(connector)
    try:
        found = await client.choose_sleep(SleepRequest(policy=SleepPolicy(call.policy)))
    finally:
        await client.close()
    if call.json:
        console.document(found)
    else:
        console.say(words.POLICIES[found.policy])
    return 0


def _show(found: UnitInfo, console: Console) -> None:
    if console.json:
        console.document(found)
    else:
        console.say(labelled(service_text.unit_pairs(found)))


SERVICE_COMMANDS: "dict[str, Command]" = {
    "service install": install,
    "service uninstall": uninstall,
    "service status": status,
    "service autostart": autostart,
    "service sleep": sleep,
}
