"""`weir models get|login|logout` and `weir downloads`: each works without a service."""

import asyncio
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from studio.cli import hub_words as words
from studio.cli.arguments import Invocation
from studio.cli.console import Console
from studio.cli.download_text import line, list_text
from studio.cli.mistakes import UsageError
from studio.cli.reach import Command, running_or_offline
from studio.cli.words import see_help
from studio.domain.downloads import (
    DownloadDeed,
    DownloadList,
    Fetched,
    GetRequest,
    HubName,
    LimitRequest,
    LoginInfo,
    LoginRequest,
)
from studio.domain.errors import StudioError
from studio.domain.units import bytes_text, counted

if TYPE_CHECKING:
    from studio.cli.reach import Connector
    from studio.control.client import ControlClient

_LOOK_S = 2.0
_MOST_TOKEN = 4096


async def get(call: Invocation, connector: "Connector", console: Console) -> int:
    """Fetch a model, and say now and then how far it is."""
    request = GetRequest(
        repository=call.name,
        hub=HubName(call.hub) if call.hub else None,
        revision=call.revision,
        include=call.include,
        exclude=call.exclude,
        into=_absolute(call.to) if call.to else None,
        update=call.update,
    )
    client = await running_or_offline(connector)
    try:
        try:
            found = await _watched(client, request, console)
        except StudioError as error:
            found = await _watched(client, await _elsewhere(error, request, console), console)
    finally:
        await client.close()
    if call.json:
        console.document(found)
    else:
        console.say(_fetched(found))
    return 0


async def _elsewhere(error: StudioError, request: GetRequest, console: Console) -> GetRequest:
    """Return the request for the other hub if the person wants that, else raise `error`."""
    other = error.data.get("hub") if error.code == "hub-other" else None
    if not isinstance(other, str) or not console.can_ask:
        raise error
    question = words.ASK_OTHER.format(message=error.message, hub=other)
    if not await console.ask(question, default=False):
        raise error
    return msgspec.structs.replace(request, hub=HubName(other))


async def _watched(client: "ControlClient", request: GetRequest, console: Console) -> Fetched:
    try:
        async with asyncio.TaskGroup() as tasks:
            telling = tasks.create_task(_tell(client, request.repository, console))
            found = await client.get_model(request)
            telling.cancel()
        return found
    except ExceptionGroup as failed:
        error = failed.exceptions[0]
    raise error


async def _tell(client: "ControlClient", repository: str, console: Console) -> None:
    while True:
        await asyncio.sleep(_LOOK_S)
        for one in (await client.downloads()).downloads:
            if one.title == repository:
                console.note(line(one))


async def login(call: Invocation, connector: "Connector", console: Console) -> int:
    """Keep a token."""
    if call.token not in (None, "-"):
        raise UsageError(words.TOKEN_ONLY_STDIN, words.HINT_TOKEN)
    if call.token == "-":
        text = (await asyncio.to_thread(sys.stdin.readline, _MOST_TOKEN)).strip()
    else:
        text = await console.ask_secret(words.ASK_TOKEN) if console.can_ask else None
    client = await running_or_offline(connector)
    try:
        if text is None:
            found = await client.hub_login(_hub(call))
        else:
            found = await client.log_in(LoginRequest(hub=_hub(call), token=text))
    finally:
        await client.close()
    return _say_login(call, found, console)


async def logout(call: Invocation, connector: "Connector", console: Console) -> int:
    """Forget a token."""
    client = await running_or_offline(connector)
    try:
        found = await client.log_in(LoginRequest(hub=_hub(call)))
    finally:
        await client.close()
    return _say_login(call, found, console)


async def downloads(call: Invocation, connector: "Connector", console: Console) -> int:
    """Show the queue, after changing it if asked to."""
    client = await running_or_offline(connector)
    try:
        found = await _changed(call, client)
    finally:
        await client.close()
    if call.json:
        console.document(found)
    else:
        console.say(list_text(found))
    return 0


async def _changed(call: Invocation, client: "ControlClient") -> DownloadList:
    if call.action == "list":
        return await client.downloads()
    if call.reference is None:
        sentence = words.NEEDS_NAME.format(action=call.action)
        raise UsageError(sentence, see_help("weir downloads"))
    if call.action == "limit":
        return await client.limit_downloads(LimitRequest(bytes_per_s=_limit(call.reference)))
    return await client.change_download(call.reference, DownloadDeed(call.action))


def _limit(text: str) -> int | None:
    if text == "off":
        return None
    try:
        return int(float(text) * 1e6)
    except (ValueError, OverflowError):
        sentence = words.LIMIT_WRONG.format(found=text)
        raise UsageError(sentence, see_help("weir downloads")) from None


def _fetched(found: Fetched) -> str:
    text = words.FETCHED.format(
        repository=found.repository,
        commit=found.commit[:12],
        files=counted(len(found.files), "file", "files"),
        bytes=bytes_text(sum(file.bytes for file in found.files)),
        folder=found.folder,
    )
    if found.newer_commit is None:
        return text
    newer = words.NEWER.format(commit=found.newer_commit[:12], repository=found.repository)
    return f"{text}\n{newer}"


def _absolute(folder: str) -> str:
    return str(Path(folder).expanduser().absolute())


def _hub(call: Invocation) -> HubName:
    return HubName(call.hub) if call.hub else HubName.HUGGING_FACE


def _say_login(call: Invocation, found: LoginInfo, console: Console) -> int:
    if call.json:
        console.document(found)
    else:
        console.say(_login_text(found))
    return 0


def _login_text(found: LoginInfo) -> str:
    if found.source is None:
        return words.NO_TOKEN.format(hub=found.hub)
    text = words.TOKEN_FROM.format(hub=found.hub, source=found.source, endpoint=found.endpoint)
    if found.account is not None:
        role = words.ROLE.format(role=found.role) if found.role else ""
        text = f"{text}\n{words.ACCOUNT.format(account=found.account, role=role)}"
    return text if found.note is None else f"{text}\n{found.note}"


HUB_COMMANDS: Mapping[str, Command] = {
    "models get": get,
    "models login": login,
    "models logout": logout,
    "downloads": downloads,
}
