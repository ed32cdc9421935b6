"""`weir alarms`: what the monitor warns of, as a list or as it comes; and silencing one."""

import contextlib
from collections.abc import Mapping
from typing import TYPE_CHECKING

from studio.cli import alarm_text
from studio.cli import alarm_words as words
from studio.cli.arguments import Invocation
from studio.cli.console import Console
from studio.cli.reach import Command, running, running_or_offline
from studio.domain.alarms import MuteRequest
from studio.domain.events import AlarmChanged, ServiceStopping

if TYPE_CHECKING:
    from studio.cli.reach import Connector

_OK = 0


async def show(call: Invocation, connector: "Connector", console: Console) -> int:
    """Show what holds and what is over; with `--follow` also what comes."""
    if call.follow:
        return await _follow(call, connector, console)
    client = await running_or_offline(connector)
    try:
        found = await client.alarms()
    finally:
        await client.close()
    if call.json:
        console.document(found)
    else:
        console.say(alarm_text.list_text(found, min(console.width, 100)))
    return _OK


async def mute(call: Invocation, connector: "Connector", console: Console) -> int:
    """Silence an alarm."""
    request = MuteRequest(for_s=float(call.seconds) if call.seconds else None, is_once=call.once)
    client = await running_or_offline(connector)
    try:
        found = await client.mute_alarm(call.name, request)
    finally:
        await client.close()
    if call.json:
        console.document(found)
    else:
        console.say(words.NOW_MUTED.format(code=call.name))
    return _OK


async def unmute(call: Invocation, connector: "Connector", console: Console) -> int:
    """Let an alarm be heard again."""
    client = await running_or_offline(connector)
    try:
        found = await client.unmute_alarm(call.name)
    finally:
        await client.close()
    if call.json:
        console.document(found)
    else:
        console.say(words.NOW_HEARD.format(code=call.name))
    return _OK


async def _follow(call: Invocation, connector: "Connector", console: Console) -> int:
    """Show each change until the service ends; what holds already comes first."""
    client = await running(connector)
    try:
        async with contextlib.aclosing(client.events()) as events:
            async for event in events:
                if isinstance(event, ServiceStopping):
                    break
                if isinstance(event, AlarmChanged):
                    _show(event, call, console)
    finally:
        await client.close()
    return _OK


def _show(event: AlarmChanged, call: Invocation, console: Console) -> None:
    alarm = event.alarm
    if call.json:
        console.document(alarm)
    elif alarm.ended_at is not None:
        console.say(alarm_text.over_line(alarm))
    elif not alarm.is_muted:
        console.say("\n".join(alarm_text.alarm_lines(alarm, min(console.width, 100))))


ALARM_COMMANDS: Mapping[str, Command] = {
    "alarms": show,
    "alarms list": show,
    "alarms mute": mute,
    "alarms unmute": unmute,
}
