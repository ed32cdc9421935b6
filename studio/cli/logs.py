"""`weir logs`: the newest lines, and with `-f` each new one as it comes."""

import contextlib
import dataclasses
from collections.abc import Iterable
from typing import TYPE_CHECKING

from studio.cli import words
from studio.cli.arguments import Invocation
from studio.cli.console import Console, plain
from studio.cli.parsers import LEVELS
from studio.cli.reach import running, running_or_offline
from studio.domain.events import LogAppended, ServiceStopping
from studio.domain.metrics import LogLine

if TYPE_CHECKING:
    from studio.cli.reach import Connector
    from studio.control.client import ControlClient

_ALL_LINES = 5000
"""What the service keeps in memory; a filter looks through all of it."""


class Filter:
    """Which lines a person asked for.

    A line without a level (the rest of a traceback) belongs to the last line of its source that
    has one.
    """

    def __init__(self, *, grep: str | None = None, level: str | None = None) -> None:
        self._grep = grep.casefold() if grep else None
        self._least = LEVELS.index(level) if level else None
        self._last_level: dict[str, str] = {}

    @property
    def is_open(self) -> bool:
        """Whether every line passes."""
        return self._grep is None and self._least is None

    def passes(self, line: LogLine) -> bool:
        """Return whether `line` is to be shown; takes the lines in their order."""
        if line.level in LEVELS:
            self._last_level[line.source] = line.level
        level = self._last_level.get(line.source, "info")
        if self._least is not None and LEVELS.index(level) < self._least:
            return False
        return self._grep is None or self._grep in line.text.casefold()


@dataclasses.dataclass(slots=True, kw_only=True)
class _Tail:
    """Where a follower stands."""

    console: Console
    wanted: Filter
    last: int = -1

    def show(self, lines: Iterable[LogLine]) -> None:
        """Write the lines that are new and wanted."""
        new = [line for line in lines if line.seq > self.last]
        if new:
            self.last = new[-1].seq
        shown = [line_text(line) for line in new if self.wanted.passes(line)]
        if shown:
            self.console.say("\n".join(shown))


def line_text(line: LogLine) -> str:
    """Return a line as it is shown: the engine's as it wrote it, our own marked."""
    text = plain(line.text)
    return text if line.source == "engine" else f"{line.source}: {text}"


async def logs(call: Invocation, connector: "Connector", console: Console) -> int:
    """Show the newest lines that are asked for."""
    wanted = Filter(grep=call.grep, level=call.level)
    # The log's file outlives the service, so that it can say why a start failed.
    client = await (running if call.follow else running_or_offline)(connector)
    try:
        if call.follow:
            await _follow(call, client, _Tail(console=console, wanted=wanted))
            return 0
        shown = await _newest(call, client, wanted)
    finally:
        await client.close()
    if shown:
        console.say("\n".join(line_text(line) for line in shown))
    else:
        console.note(words.NO_LINES)
    return 0


async def _newest(call: Invocation, client: "ControlClient", wanted: Filter) -> list[LogLine]:
    asked = call.lines if wanted.is_open else max(call.lines, _ALL_LINES)
    lines = await client.logs(lines=asked)
    return [line for line in lines if wanted.passes(line)][-call.lines :]


async def _follow(call: Invocation, client: "ControlClient", tail: _Tail) -> None:
    """Show the newest lines, then every new one until the service ends.

    The stream is opened first, so that no line falls between the two.
    """
    async with contextlib.aclosing(client.events()) as events:
        is_caught_up = False
        async for event in events:
            if not is_caught_up:
                is_caught_up = True
                lines = await _newest(call, client, tail.wanted)
                tail.show(lines)
            if isinstance(event, LogAppended):
                await _show_new(event, client, tail)
            elif isinstance(event, ServiceStopping):
                tail.console.note(words.service_ended(event.reason))
                return


async def _show_new(event: LogAppended, client: "ControlClient", tail: _Tail) -> None:
    if not event.lines:
        return
    first = event.lines[0].seq
    if event.dropped and first > tail.last + 1:
        missed = await client.logs(lines=_ALL_LINES, after=tail.last)
        older = [line for line in missed if line.seq < first]
        lost = first - tail.last - 1 - sum(line.seq > tail.last for line in older)
        if lost > 0:
            tail.console.note(words.lines_left_out(lost))
        tail.show(older)
    tail.show(event.lines)
