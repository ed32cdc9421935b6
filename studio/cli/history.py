"""`weir history`: charts of the past, and the whole of it as CSV. Needs no service."""

import contextlib
import os
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from studio.cli import history_text
from studio.cli import history_words as words
from studio.cli.arguments import Invocation
from studio.cli.chart import BLOCKS, PLAIN
from studio.cli.console import Console
from studio.cli.reach import Command, running_or_offline
from studio.domain import series
from studio.domain.errors import BadInput, HostLacks
from studio.domain.history import HistoryPage
from studio.domain.history_csv import csv_heading, csv_rows
from studio.domain.logs import moment
from studio.domain.units import counted

if TYPE_CHECKING:
    from studio.cli.reach import Connector
    from studio.control.client import ControlClient

_OK = 0
_DEFAULT_SINCE = "2h"


async def history(call: Invocation, connector: "Connector", console: Console) -> int:
    """Show charts and events, list what is kept, or write it down."""
    now = time.time()
    since, until = _span(call, now)
    client = await running_or_offline(connector)
    try:
        if call.file is not None:
            return await _export(call, client, console, (since, until))
        if call.show:
            return await _list(call, client, console, now)
        columns = max(20, min(console.width, 200) - 14)
        answer = await client.series(
            _wanted(call), since=since, until=until, **({} if call.json else {"points": columns})
        )
    finally:
        await client.close()
    if call.json:
        console.document(answer)
    else:
        marks = BLOCKS if console.can_show(BLOCKS) else PLAIN
        console.say(history_text.answer_text(answer, min(console.width, 200), marks))
    return _OK


def _span(call: Invocation, now: float) -> tuple[float, float]:
    """Return what is asked for. Raises: BadInput (`time-invalid`, `history-span`)."""
    default = "0" if call.file is not None else _DEFAULT_SINCE
    since = 0.0 if call.since is None and default == "0" else moment(call.since or default, now)
    until = now if call.until is None else moment(call.until, now)
    if since >= until:
        raise BadInput(
            "history-span",
            words.BACKWARDS.format(since=call.since or default, until=call.until or "now"),
            hint=words.HINT_BACKWARDS,
        )
    return max(0.0, since), until


def _wanted(call: Invocation) -> list[str]:
    return [name.strip() for name in (call.series or "").split(",") if name.strip()]


async def _list(call: Invocation, client: "ControlClient", console: Console, now: float) -> int:
    state = await client.history_state()
    if call.json:
        console.document(state)
        return _OK
    known = (await client.series(since=now - 1, until=now)).known
    console.say(history_text.state_text(state, known))
    return _OK


async def _export(
    call: Invocation, client: "ControlClient", console: Console, span: tuple[float, float]
) -> int:
    """Write CSV part by part: a year is more than one answer should hold."""
    assert call.file is not None
    wanted, (since, until) = _wanted(call), span
    target = _target(call.file, replace=call.replace)
    step_s = None if call.step_s is None else float(call.step_s)
    page = await client.history_rows(wanted, since=since, until=until, step_s=step_s)
    step_s = page.step_s  # the same for every part, however long it takes
    names = series.chosen(page.known, series.patterns(wanted or ["*"]))
    with _output(target, console) as out:
        out.write(csv_heading(names))
        count, first, last = 0, None, None
        while True:
            out.write(csv_rows(page.rows, names))
            count += len(page.rows)
            if page.rows:
                first = page.rows[0].at if first is None else first
                last = page.rows[-1].at
            if page.next_at is None:
                break
            page = await _next(client, wanted, page, until, step_s)
    if target is not None:
        _report(call, console, target, count, (first or since, last or until))
    return _OK


def _target(file: str, *, replace: bool) -> Path | None:
    """Return the file to write; None for standard output. Raises: BadInput (`file-exists`)."""
    if file == "-":
        return None
    target = Path(file).absolute()
    if target.exists() and not replace:
        message = words.FILE_EXISTS.format(file=target)
        raise BadInput("file-exists", message, hint=words.HINT_REPLACE)
    return target


async def _next(
    client: "ControlClient", wanted: list[str], page: HistoryPage, until: float, step_s: float
) -> HistoryPage:
    assert page.next_at is not None
    return await client.history_rows(wanted, since=page.next_at, until=until, step_s=step_s)


def _report(
    call: Invocation, console: Console, target: Path, count: int, span: tuple[float, float]
) -> None:
    if call.json:
        console.document({"file": str(target), "rows": count, "since": span[0], "until": span[1]})
        return
    since, until = (time.strftime("%Y-%m-%d %H:%M", time.localtime(at)) for at in span)
    console.say(
        words.WRITTEN.format(
            rows=counted(count, "row", "rows"), since=since, until=until, file=target
        )
    )


class _Writes(Protocol):
    def write(self, text: str, /) -> object: ...


class _Said:
    """Writes to standard output by way of the console, which knows about closed pipes."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def write(self, text: str) -> None:
        """Write whole lines."""
        if text:
            self._console.say(text.rstrip("\n"))


@contextlib.contextmanager
def _output(target: Path | None, console: Console) -> "Iterator[_Writes]":
    """Yield where to write; a file is whole or absent. Raises: HostLacks (`not-writable`)."""
    if target is None:
        yield _Said(console)
        return
    try:
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", dir=target.parent, prefix=f".{target.name}.", delete=False
        ) as file:
            made = Path(file.name)
            try:
                yield file
                file.flush()
                os.fsync(file.fileno())
                made.replace(target)
            except BaseException:
                made.unlink(missing_ok=True)
                raise
    except OSError as error:
        raise HostLacks(
            "not-writable", f"{target} cannot be written: {error.strerror or error}."
        ) from error


HISTORY_COMMANDS: Mapping[str, Command] = {"history": history}
