"""`weir adopt`: serve clients from a vLLM that already runs. Its key never stands in a command."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from studio.cli import adopt_words as words
from studio.cli.arguments import Invocation
from studio.cli.console import Console
from studio.cli.mistakes import UsageError
from studio.cli.reach import running_or_offline
from studio.cli.render import labelled
from studio.cli.words import see_help
from studio.domain.adopt import AdoptRequest, AdoptResult
from studio.domain.errors import BadInput, HostLacks, StudioError
from studio.domain.server import AdoptedInfo
from studio.domain.units import tokens_text

if TYPE_CHECKING:
    from studio.cli.reach import Command, Connector
    from studio.control.client import ControlClient

_KEY_LIMIT = 16_384
_TRIES = 3


async def adopt(call: Invocation, connector: "Connector", console: Console) -> int:
    """Adopt the vLLM at an address, let go of it, or show which one it is."""
    if call.url is None:
        return await _without_url(call, connector, console)
    if call.forget:
        raise UsageError(words.BOTH, see_help("weir adopt"))
    request = AdoptRequest(
        url=call.url,
        key=_key(call.key_file) if call.key_file is not None else None,
        name=call.name or None,
        port=call.port,
    )
    client = await connector.connect(start=True, hold=False)
    try:
        result = await _until_let_in(client, request, console)
    finally:
        await client.close()
    if call.json:
        document = msgspec.to_builtins(result)
        if result.api_key is None:
            del document["api_key"]
        console.document(document)
    else:
        console.say(result_text(result))
    return 0


async def _without_url(call: Invocation, connector: "Connector", console: Console) -> int:
    client = await running_or_offline(connector)
    try:
        if not call.forget:
            found = await client.adopted()
            if call.json:
                console.document(found)
            else:
                console.say(info_text(found))
            return 0
        gone = await client.forget_adopted()
    finally:
        await client.close()
    if call.json:
        console.document(gone)
    else:
        console.say(words.FORGOTTEN.format(name=gone.name) if gone.was_adopted else words.NOTHING)
    return 0


async def _until_let_in(
    client: "ControlClient", request: AdoptRequest, console: Console
) -> AdoptResult:
    """Adopt it; where it wants a key, ask a person for it."""
    for _ in range(_TRIES):
        try:
            return await client.adopt(request)
        except StudioError as error:
            if error.code != "adopt-key-refused" or not console.can_ask:
                raise
        key = await console.ask_secret(words.ASK_KEY.format(url=request.url))
        request = msgspec.structs.replace(request, key=key)
    return await client.adopt(request)


def _key(place: str) -> str:
    """Return the key in a file, or on standard input. Raises: HostLacks, BadInput."""
    try:
        if place == "-":
            raw = sys.stdin.buffer.read(_KEY_LIMIT + 1)
        else:
            with Path(place).expanduser().open("rb") as file:
                raw = file.read(_KEY_LIMIT + 1)
    except OSError as error:
        reason = error.strerror or str(error)
        raise HostLacks(
            "not-readable",
            words.NOT_READABLE.format(path=place, reason=reason),
            hint=words.HINT_NOT_READABLE,
        ) from error
    if len(raw) > _KEY_LIMIT:
        raise BadInput(
            "adopt-key-invalid",
            words.KEY_TOO_LONG.format(path=place),
            hint=words.HINT_KEY_TOO_LONG,
        )
    return raw.decode("utf-8", "replace")


def result_text(result: AdoptResult) -> str:
    """Return what was adopted, where clients connect, and what there is to note."""
    found = result.adopted
    head = words.ADOPTED.format(
        name=found.name, version=found.version or words.UNKNOWN_VERSION, url=found.url
    )
    pairs = [(words.ADDRESS, result.base_url)]
    if result.api_key is not None:
        pairs += [(words.API_KEY, result.api_key), (words.API_KEY, words.KEY_ONCE)]
    pairs += [
        (words.MODEL, result.served_name),
        (words.CONTEXT, tokens_text(result.max_model_len)),
        (words.POOL, tokens_text(result.pool_tokens)),
        *((words.TO_NOTE, note) for note in result.notes),
    ]
    return f"{head}\n\n{labelled(pairs)}"


def info_text(found: AdoptedInfo) -> str:
    """Return which vLLM is adopted."""
    head = words.ADOPTED.format(
        name=found.name, version=found.version or words.UNKNOWN_VERSION, url=found.url
    )
    return head if not found.models else f"{head}\n\n{_models(found)}"


def _models(found: AdoptedInfo) -> str:
    return labelled((words.MODEL, one) for one in found.models)


ADOPT_COMMANDS: "dict[str, Command]" = {"adopt": adopt}
