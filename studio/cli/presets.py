"""`weir presets …` and `weir argv`: each asks one thing and shows it; none needs a service."""

import shutil
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from studio.cli import preset_text, preset_words
from studio.cli.arguments import Invocation
from studio.cli.console import Console
from studio.cli.reach import Command, running_or_offline
from studio.domain.errors import BadInput, StudioError
from studio.domain.presets import (
    ArgvRequest,
    CommandFormat,
    CopyRequest,
    EditRequest,
    ImportPresetRequest,
    PresetText,
)

if TYPE_CHECKING:
    from studio.cli.reach import Connector
    from studio.control.client import ControlClient

_OK = 0


@asynccontextmanager
async def _client(connector: "Connector") -> AsyncIterator["ControlClient"]:
    client = await running_or_offline(connector)
    try:
        yield client
    finally:
        await client.close()


async def list_presets(call: Invocation, connector: "Connector", console: Console) -> int:
    """List the presets with their verdict."""
    async with _client(connector) as client:
        found = await client.presets()
    if call.json:
        console.document(found)
    else:
        console.say(preset_text.list_text(found, console.width))
    return _OK


async def show_preset(call: Invocation, connector: "Connector", console: Console) -> int:
    """Show all about one preset."""
    async with _client(connector) as client:
        found = await client.preset(call.name)
    _answer(call, console, found, preset_text.detail_text(found, console.width))
    return _OK


async def diff_preset(call: Invocation, connector: "Connector", console: Console) -> int:
    """Compare a preset with another one, or with what it came from."""
    async with _client(connector) as client:
        found = await client.preset_diff(call.name, call.other)
    _answer(call, console, found, preset_text.diff_text(found, console.width))
    return _OK


async def copy_preset(call: Invocation, connector: "Connector", console: Console) -> int:
    """Make a preset of the person's own."""
    request = CopyRequest(id=call.other or "", title=call.title, values=call.overrides)
    async with _client(connector) as client:
        made = await client.copy_preset(call.name, request)
    text = preset_words.COPIED.format(id=made.id, path=made.path)
    _answer(call, console, made, text)
    return _OK


async def import_preset(call: Invocation, connector: "Connector", console: Console) -> int:
    """Take over a preset from a file."""
    source, content = _given(call.name)
    request = ImportPresetRequest(text=content, id=call.other, source=source)
    async with _client(connector) as client:
        made = await client.import_preset(request)
    _answer(call, console, made, preset_words.IMPORTED.format(id=made.id, path=made.path))
    return _OK


def _given(name: str) -> tuple[str, str]:
    """Return the file that was named, and its content."""
    try:
        path = Path(name).expanduser()
        return str(path), path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        sentence = preset_words.NO_FILE.format(path=name, reason=reason)
        raise BadInput("file-unreadable", sentence) from error


async def edit_preset(call: Invocation, connector: "Connector", console: Console) -> int:
    """Change single settings, or let the person edit the file."""
    async with _client(connector) as client:
        before = await client.preset_text(call.name)
        if call.overrides:
            request = EditRequest(values=call.overrides)
            made = await client.edit_preset(call.name, request)
        else:
            made = await _edited(before, client, connector, console)
    _answer(call, console, made, preset_text.saved_text(before, made, console.width))
    return _OK


async def _edited(
    before: PresetText, client: "ControlClient", connector: "Connector", console: Console
) -> PresetText:
    """Return the preset after the editor; what cannot be saved is kept for another try."""
    path = await connector.edit(before.text, f"{before.id}.toml")
    after = path.read_text(encoding="utf-8", errors="replace")
    try:
        if after == before.text:
            made = before
        else:
            made = await client.edit_preset(before.id, EditRequest(text=after))
    except StudioError:
        console.note(preset_words.KEPT.format(path=path))
        raise
    shutil.rmtree(path.parent, ignore_errors=True)
    return made


async def argv(call: Invocation, connector: "Connector", console: Console) -> int:
    """Print the command that would serve a preset, and what would be in its way beside it."""
    request = ArgvRequest(
        preset=call.preset or "",
        overrides=call.overrides,
        gpus=call.gpus,
        format=CommandFormat(call.form),
    )
    async with _client(connector) as client:
        found = await client.argv(request)
    if call.json:
        console.document(found)
        return _OK
    console.note(preset_text.argv_notes_text(found, console.width))
    console.say(found.text)
    return _OK


def _answer(call: Invocation, console: Console, document: msgspec.Struct, text: str) -> None:
    if call.json:
        console.document(document)
    else:
        console.say(text)


PRESET_COMMANDS: Mapping[str, Command] = {
    "presets": list_presets,
    "presets list": list_presets,
    "presets show": show_preset,
    "presets diff": diff_preset,
    "presets copy": copy_preset,
    "presets import": import_preset,
    "presets edit": edit_preset,
    "argv": argv,
}
