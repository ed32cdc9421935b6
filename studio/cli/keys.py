"""`weir keys` and `weir requests`: make, limit, replace and revoke keys, and see their use."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from studio.cli import key_text, key_words
from studio.cli.arguments import Invocation
from studio.cli.console import Console
from studio.cli.kept_key_text import made_text
from studio.cli.key_arguments import LIMIT_NAMES, REQUEST_LINES
from studio.cli.mistakes import near
from studio.cli.reach import Command, running_or_offline
from studio.domain.control import KeyInfo, KeyRequest, NewKey
from studio.domain.errors import BadInput, NotFound
from studio.domain.keys import KeyLimits, RequestEntry, UsageBy, UsageRow

if TYPE_CHECKING:
    from studio.cli.reach import Connector

_OK = 0


async def create(call: Invocation, connector: "Connector", console: Console) -> int:
    """Make a key and show it this once."""
    limits = msgspec.convert(call.limits, KeyLimits)
    client = await running_or_offline(connector)
    try:
        asked = KeyRequest(name=call.name, limits=limits, store=call.store)
        made = await client.create_key(asked)
        note = key_words.made(made.info.name)
        if call.store:
            note = made_text(made.info, await client.secret_store())
    finally:
        await client.close()
    return _shown(made, note, call, console)


async def list_all(call: Invocation, connector: "Connector", console: Console) -> int:
    """List the keys with their usage."""
    client = await running_or_offline(connector)
    try:
        found = await client.keys()
    finally:
        await client.close()
    if call.json:
        console.document(found)
    else:
        console.say(key_text.keys_text(found))
    return _OK


async def show(call: Invocation, connector: "Connector", console: Console) -> int:
    """Show one key, also one that was revoked."""
    client = await running_or_offline(connector)
    try:
        key = _any(await client.keys(), call.name)
    finally:
        await client.close()
    if call.json:
        console.document(key)
    else:
        console.say(key_text.key_text(key))
    return _OK


async def limit(call: Invocation, connector: "Connector", console: Console) -> int:
    """Change some limits of a key; the others stay."""
    if not call.limits and not call.dropped:
        raise BadInput("nothing-to-change", key_words.NOTHING_TO_CHANGE, hint=key_words.HINT_CHANGE)
    client = await running_or_offline(connector)
    try:
        key = chosen(await client.keys(), call.name)
        values = {name: getattr(key.limits, name) for name in KeyLimits.__struct_fields__}
        values |= {LIMIT_NAMES[name]: None for name in call.dropped} | call.limits
        changed = await client.limit_key(key.id, msgspec.convert(values, KeyLimits))
    finally:
        await client.close()
    if call.json:
        console.document(changed)
    else:
        is_same = changed.limits == key.limits
        said = key_words.LIMITS_SAME if is_same else key_words.LIMITS_CHANGED
        console.say(said.format(name=changed.name))
    return _OK


async def rename(call: Invocation, connector: "Connector", console: Console) -> int:
    """Give a key another name."""
    client = await running_or_offline(connector)
    try:
        key = chosen(await client.keys(), call.name)
        renamed = await client.rename_key(key.id, call.new_name)
    finally:
        await client.close()
    if call.json:
        console.document(renamed)
    else:
        console.say(key_words.RENAMED.format(old=key.name, new=renamed.name))
    return _OK


async def rotate(call: Invocation, connector: "Connector", console: Console) -> int:
    """Replace a key's secret and show the new one this once."""
    client = await running_or_offline(connector)
    try:
        key = chosen(await client.keys(), call.name)
        made = await client.rotate_key(key.id)
    finally:
        await client.close()
    said = key_words.ROTATED if made.info.stored is None else key_words.ROTATED_KEPT
    return _shown(made, said.format(name=made.info.name), call, console)


async def revoke(call: Invocation, connector: "Connector", console: Console) -> int:
    """Revoke the key of that name or id."""
    client = await running_or_offline(connector)
    try:
        key = chosen(await client.keys(), call.name)
        revoked = await client.revoke_key(key.id, stop_running=call.now)
    finally:
        await client.close()
    if call.json:
        console.document(revoked)
    else:
        console.say(key_words.revoked(revoked.name))
    return _OK


async def usage(call: Invocation, connector: "Connector", console: Console) -> int:
    """Show what keys have used."""
    client = await running_or_offline(connector)
    try:
        key_id = None
        if call.reference is not None:
            key_id = _any(await client.keys(), call.reference).id
        rows = await client.usage(key_id=key_id, seconds=call.seconds, by=UsageBy(call.by))
    finally:
        await client.close()
    if call.json:
        console.document(rows)
    elif call.csv:
        console.say(key_text.csv_text(rows, UsageRow))
    else:
        console.say(key_text.usage_text(rows))
    return _OK


async def requests(call: Invocation, connector: "Connector", console: Console) -> int:
    """List the newest requests."""
    client = await running_or_offline(connector)
    try:
        key_id = None
        if call.reference is not None:
            key_id = _any(await client.keys(), call.reference).id
        found = await client.requests(
            key_id=key_id, lines=call.lines or REQUEST_LINES, errors_only=call.errors
        )
    finally:
        await client.close()
    if call.json:
        console.document(found)
    elif call.csv:
        console.say(key_text.csv_text(found, RequestEntry))
    else:
        is_narrowed = call.errors or call.reference is not None
        console.say(key_text.requests_text(found, is_narrowed=is_narrowed))
    return _OK


def chosen_or_revoked(keys: Sequence[KeyInfo], reference: str) -> KeyInfo:
    """Return the key whose name or id is `reference`, one that works before one that was revoked.

    Raises: NotFound (`key-unknown`).
    """
    return _any(keys, reference)


def chosen(keys: Sequence[KeyInfo], reference: str) -> KeyInfo:
    """Return the working key whose name or id is `reference`; a name goes before an id.

    Raises: NotFound (`key-unknown`), BadInput (`key-revoked`).
    """
    key = _any(keys, reference)
    if key.revoked_at is not None:
        message, hint = key_words.revoked_before(reference)
        raise BadInput("key-revoked", message, hint=hint)
    return key


def _any(keys: Sequence[KeyInfo], reference: str) -> KeyInfo:
    """Return the key of that name or id; one that works before one that was revoked."""
    for found in (
        [key for key in keys if key.name == reference],
        [key for key in keys if key.id == reference],
    ):
        for key in found:
            if key.revoked_at is None:
                return key
        if found:
            return found[-1]
    works = [key.name for key in keys if key.revoked_at is None]
    message, hint = key_words.unknown(reference, near(reference, works))
    raise NotFound("key-unknown", message, hint=hint)


def _shown(made: NewKey, note: str, call: Invocation, console: Console) -> int:
    """Show a key's secret: the only time that anybody can."""
    if call.json:
        console.document(made)
    else:
        console.note(note)
        console.say(made.key)
    return _OK


KEY_COMMANDS: Mapping[str, Command] = {
    "keys create": create,
    "keys list": list_all,
    "keys show": show,
    "keys limit": limit,
    "keys rename": rename,
    "keys rotate": rotate,
    "keys revoke": revoke,
    "keys usage": usage,
    "requests": requests,
}
