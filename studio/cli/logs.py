"""`weir logs`: the newest lines, and with `-f` each new one as it comes.

Reads the files, whatever runs: so it shows earlier boots too, and following survives the end and
the return of engine and service. Searching is done here, never in the service.
"""

import asyncio
import contextlib
import datetime
import signal
import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from studio.cli import log_words
from studio.cli.arguments import Invocation
from studio.cli.console import Console, plain
from studio.cli.reach import running_or_none
from studio.domain.errors import BadInput
from studio.domain.logs import MOST_LINES, Filter, LogLimits, moment
from studio.domain.metrics import LogLine
from studio.domain.tracebacks import Folder, LogEntry, begins_afresh

if TYPE_CHECKING:
    from studio.cli.reach import Connector
    from studio.control.client import ControlClient

_LINES = 200
_POLL_S = 0.1
_PATIENCE = 5
"""After so many polls without a line of its own, a traceback is shown as far as it came."""


class _Asked:
    """What one call asks for."""

    def __init__(self, call: Invocation) -> None:
        """Raises: BadInput (`time-invalid`, `pattern-invalid`)."""
        now = time.time()
        self.source = "service" if call.of_service else "engine"
        self.since = moment(call.since, now) if call.since is not None else None
        self.lines = call.lines or (_LINES if self.since is None else None)
        self.grep, self.level = call.grep, call.level
        self.full, self.json = call.full, call.json
        self.filter()

    def filter(self) -> Filter:
        """Return a filter that has seen nothing yet."""
        return Filter(grep=self.grep, level=self.level, shown=entry_text)


async def logs(call: Invocation, connector: "Connector", console: Console) -> int:
    """Show the newest lines that are asked for, or change how much is kept."""
    if call.assigned:
        return await _limit(call, connector, console)
    asked = _Asked(call)
    _end_at_once()
    client = connector.salvage()
    try:
        shown, after = await _newest(client, asked)
        if asked.json and not call.follow:
            console.document(shown)
        else:
            _show(shown, asked, console)
        if call.follow:
            if not asked.json and await _nothing_runs(connector):
                console.note(log_words.WAITING)
            await _follow(client, asked, console, after)
        elif not shown and not asked.json:
            console.note(log_words.NO_LINES)
    finally:
        await client.close()
    return 0


def _end_at_once() -> None:
    """Let Ctrl+C end this process also inside an expression that runs away.

    The loop's own handler only marks the task as cancelled, which it hears of after the match.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if is_main and signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def entry_text(entry: LogEntry, *, full: bool = False) -> str:
    """Return an entry as it is shown: the engine's as it wrote it, our own marked."""
    if full and entry.whole:
        return "\n".join(plain(text) for text in entry.whole)
    text = plain(entry.text)
    if entry.source == "service":
        moment_ = datetime.datetime.fromtimestamp(entry.at, datetime.UTC).astimezone()
        return f"{moment_:%Y-%m-%d %H:%M:%S} {text}"
    return text if entry.source == "engine" else f"{entry.source}: {text}"


def _show(entries: Sequence[LogEntry], asked: _Asked, console: Console) -> None:
    if not entries:
        return
    if asked.json:
        for entry in entries:
            console.document(entry)
    else:
        console.say("\n".join(entry_text(entry, full=asked.full) for entry in entries))


async def _newest(client: "ControlClient", asked: _Asked) -> tuple[list[LogEntry], str]:
    """Return the newest entries that are asked for, and where to go on.

    Goes back page by page until there are enough; a page begins where an entry does.
    """
    found: list[LogEntry] = []
    held: list[LogLine] = []
    before: str | None = None
    after = ""
    most = asked.lines if asked.lines is not None else None
    is_open = asked.filter().is_open and most is not None
    size = min(MOST_LINES, 2 * most + 500) if is_open and most is not None else MOST_LINES
    while True:
        page = await client.log_page(
            source=asked.source, lines=size, before=before, since=asked.since
        )
        after = after or page.after
        before = page.before
        lines = [*page.lines, *held]
        cut = begins_afresh(lines) if before is not None and len(held) < MOST_LINES else 0
        held, lines = lines[:cut], _numbered(lines[cut:])
        found = [*_entries(lines, asked), *found]
        if before is None or (most is not None and len(found) >= most):
            return found[-most:] if most is not None else found, after


def _numbered(lines: Sequence[LogLine]) -> list[LogLine]:
    """Number the lines of several pages in one row."""
    return [msgspec.structs.replace(line, seq=seq) for seq, line in enumerate(lines, 1)]


def _entries(lines: Sequence[LogLine], asked: _Asked) -> list[LogEntry]:
    folder, wanted = Folder(), asked.filter()
    entries = sorted([*folder.take(lines), *folder.rest()], key=lambda entry: entry.seq)
    return [entry for entry in entries if wanted.passes(entry)]


async def _follow(client: "ControlClient", asked: _Asked, console: Console, after: str) -> None:
    folder, wanted = Folder(patience=_PATIENCE), asked.filter()
    while True:
        page = await client.log_page(source=asked.source, lines=MOST_LINES, after=after)
        after = page.after
        if page.is_gap:
            console.note(log_words.GAP)
        entries = folder.take(page.lines)
        _show([entry for entry in entries if wanted.passes(entry)], asked, console)
        if not page.lines:
            await asyncio.sleep(_POLL_S)


async def _nothing_runs(connector: "Connector") -> bool:
    client = await running_or_none(connector)
    if client is None:
        return True
    await client.close()
    return False


async def _limit(call: Invocation, connector: "Connector", console: Console) -> int:
    """Change how much is kept; a running service takes it up at once."""
    client = await running_or_none(connector) or connector.salvage()
    try:
        wanted = _changed(await client.log_limits(), call.assigned)
        kept = await client.limit_logs(wanted)
    finally:
        await client.close()
    if call.json:
        console.document(kept)
    else:
        console.say(log_words.limits(kept))
    return 0


def _changed(limits: LogLimits, assigned: Sequence[tuple[str, str]]) -> LogLimits:
    for name, text in assigned:
        if name not in ("file_mib", "files"):
            message, hint = log_words.unknown_limit(name)
            raise BadInput("log-limit-unknown", message, hint=hint)
        number: int | None = None
        with contextlib.suppress(ValueError):
            number = int(text)
        if number is None:
            raise BadInput("log-limit-invalid", log_words.limit_not_a_number(name, text))
        limits = msgspec.structs.replace(limits, **{name: number})
    return limits
