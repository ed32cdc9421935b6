"""`weir diagnose`: why the engine of a log failed. Needs neither a service nor a home in order."""

import contextlib
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import msgspec

from studio.cli import diagnose_text
from studio.cli import remedy_words as words
from studio.cli.arguments import Invocation
from studio.cli.console import Console
from studio.cli.reach import Command
from studio.domain.diagnosis import DiagnoseRequest, Diagnosis
from studio.domain.errors import HostLacks

if TYPE_CHECKING:
    from studio.cli.reach import Connector

_OK, _NOTHING_KNOWN = 0, 1
_STANDARD_INPUT = "-"
_CHUNK = 1 << 20


async def diagnose(call: Invocation, connector: "Connector", console: Console) -> int:
    """Show what the log says; status 1 when nothing in it is known."""
    client = connector.salvage()
    try:
        with _file(call.log) as path:
            request = DiagnoseRequest(
                path=str(path) if path is not None else None, exit_code=call.exit_code
            )
            found = await client.diagnose(request)
    finally:
        await client.close()
    if call.log == _STANDARD_INPUT:
        found = msgspec.structs.replace(found, source=_STANDARD_INPUT)
    if call.json:
        console.document(found)
    elif found.matches:
        console.say(diagnose_text.diagnosis_text(found, min(console.width, 100)))
    else:
        console.say(_nothing_known(found))
        if found.death is not None:
            died, cause = found.death, found.death.cause or words.NO_CAUSE
            console.say(words.DIED.format(at=died.at, cause=cause, folder=died.folder))
        console.note(words.HINT_NOTHING_KNOWN)
    return _OK if found.matches else _NOTHING_KNOWN


def _nothing_known(found: Diagnosis) -> str:
    source = words.STANDARD_INPUT if found.source == _STANDARD_INPUT else found.source
    if found.lines == 0:
        return words.EMPTY.format(source=source)
    lines = words.ONE_LINE if found.lines == 1 else words.LINES.format(count=found.lines)
    return words.NOTHING_KNOWN.format(source=source, lines=lines)


@contextlib.contextmanager
def _file(given: str | None) -> Iterator[Path | None]:
    """Yield the file to read; what comes on standard input is put into one for that time."""
    if given != _STANDARD_INPUT:
        yield None if given is None else Path(given).expanduser().absolute()
        return
    with tempfile.TemporaryDirectory(prefix="weir-log-") as folder:
        path = Path(folder) / "log"
        try:
            with path.open("wb") as file:
                _copy(sys.stdin.buffer, file)
        except OSError as error:
            why = error.strerror or str(error)
            raise HostLacks("input-unreadable", words.STDIN_UNREADABLE.format(why=why)) from error
        yield path


def _copy(source: BinaryIO, target: BinaryIO) -> None:
    while chunk := source.read(_CHUNK):
        target.write(chunk)


DIAGNOSE_COMMANDS: Mapping[str, Command] = {"diagnose": diagnose}
