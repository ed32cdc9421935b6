"""`weir settings`: what follows a death, a standstill, an early request. Needs no service."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from studio.cli import settings_words as words
from studio.cli.arguments import Invocation
from studio.cli.console import Console
from studio.cli.reach import Command, running_or_offline
from studio.cli.render import labelled
from studio.domain.settings import CareChange, CareSettings
from studio.domain.units import duration_text

if TYPE_CHECKING:
    from studio.cli.reach import Connector


async def settings(call: Invocation, connector: "Connector", console: Console) -> int:
    """Show the settings, after changing them if asked to."""
    client = await running_or_offline(connector)
    try:
        if call.assigned or call.dropped:
            change = CareChange(values=dict(call.assigned), forget=call.dropped)
            found = await client.change_settings(change)
        else:
            found = await client.settings()
    finally:
        await client.close()
    if call.json:
        console.document(found)
    else:
        console.say(settings_text(found))
    return 0


def settings_text(now: CareSettings) -> str:
    """Return the settings, one a line, with what each means."""
    return labelled(
        (name, text if name in now.chosen else text + _why(name, now)) for name, text in _rows(now)
    )


def _why(name: str, now: CareSettings) -> str:
    """Return why something holds that nobody chose."""
    is_given = name == words.SAMPLE and now.sample_s != CareSettings().sample_s
    return words.BY_VARIABLE if is_given else words.NOT_CHOSEN


def _rows(now: CareSettings) -> Iterator[tuple[str, str]]:
    yield words.ON_DEATH, words.DEATHS[now.on_death]
    yield words.ON_STALL, words.STALLS[now.on_stall]
    if now.stall_s is None:
        yield words.STALL, words.STALL_BY_PRESET
    else:
        yield words.STALL, words.STALL_SECONDS.format(seconds=duration_text(now.stall_s))
    if now.wait_s is None:
        yield words.WAIT, words.WAIT_AUTO
    elif now.wait_s == 0:
        yield words.WAIT, words.WAIT_NONE
    else:
        yield words.WAIT, words.WAIT_SECONDS.format(seconds=duration_text(now.wait_s))
    yield words.UPDATES, words.UPDATES_ON if now.check_updates else words.UPDATES_OFF
    yield words.SAMPLE, words.SAMPLE_SECONDS.format(seconds=f"{now.sample_s:g} s")
    yield words.HISTORY, words.HISTORY_MIB.format(mib=now.history_mib)


SETTINGS_COMMANDS: Mapping[str, Command] = {"settings": settings}
