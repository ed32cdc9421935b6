"""`weir connect`: chat clients and what they need; `weir try`: one answer."""

import contextlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from studio.cli import connect_text
from studio.cli import connect_words as words
from studio.cli.arguments import Invocation
from studio.cli.console import Console, plain
from studio.cli.mistakes import UsageError
from studio.cli.reach import Command, running, running_or_offline
from studio.domain.clients import ConnectRequest, TryPiece

if TYPE_CHECKING:
    from studio.cli.reach import Connector
    from studio.control.client import ControlClient

_OK = 0
_WIDEST = 100


async def connect(call: Invocation, connector: "Connector", console: Console) -> int:
    """List the clients, or show, write or undo one."""
    if call.reference is None and call.action in ("show", "write", "undo"):
        raise UsageError(words.ONE_ONLY.format(one=call.action), words.SEE_ONE)
    client = await running_or_offline(connector)
    try:
        found, text = await _done(call, client, min(console.width, _WIDEST))
    finally:
        await client.close()
    if call.json:
        console.document(found)
    else:
        console.say(text)
    return _OK


async def _done(call: Invocation, client: "ControlClient", width: int) -> tuple[object, str]:
    if call.reference is None:
        known = await client.clients()
        return known, connect_text.list_text(known, width)
    if call.action == "undo":
        undone = await client.undo_client(call.reference)
        return undone, connect_text.undone_text(undone)
    request = ConnectRequest(key=call.key, model=call.model, file=_whole(call.file))
    if call.action == "write":
        done = await client.connect_client(call.reference, request)
        return done, connect_text.connected_text(done, width)
    plan = await client.plan_client(call.reference, request)
    return plan, connect_text.plan_text(plan, width)


def _whole(path: str | None) -> str | None:
    return None if path is None else str(Path(path).expanduser().absolute())


async def try_it(call: Invocation, connector: "Connector", console: Console) -> int:
    """Show one answer as it comes, then what was seen of it."""
    from studio.control.client_connect import answer

    client = await running(connector)
    try:
        grant = await client.grant_try(call.model)
    finally:
        await client.close()
    last = TryPiece()
    text = thought = ""
    async with contextlib.aclosing(answer(grant, call.name or words.PROMPT)) as pieces:
        async for piece in pieces:
            last = piece
            if piece.is_thought:
                thought += piece.text
                continue
            text += piece.text
            if not call.json and console.out_is_terminal:
                console.redraw(plain(text))
    if call.json:
        console.document({"text": text, "thought": thought, "seen": last, "model": grant.model})
    else:
        if not console.out_is_terminal or not text:
            console.say(plain(text or thought))
        console.note(connect_text.seen_text(last))
    return _OK


CONNECT_COMMANDS: Mapping[str, Command] = {"connect": connect, "try": try_it}
