"""`weir metrics`: the endpoint for Prometheus. Needs no service."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from studio.cli import scrape_words as words
from studio.cli.arguments import Invocation
from studio.cli.console import Console
from studio.cli.reach import Command, running_or_offline
from studio.domain.scrape import ScrapeAction, ScrapeInfo, ScrapeRequest

if TYPE_CHECKING:
    from studio.cli.reach import Connector

_OK = 0


async def show(call: Invocation, connector: "Connector", console: Console) -> int:
    """Show how it stands."""
    return await _tell(None, call, connector, console)


async def turn_on(call: Invocation, connector: "Connector", console: Console) -> int:
    """Open it."""
    request = ScrapeRequest(action=ScrapeAction.ON, port=call.port)
    return await _tell(request, call, connector, console)


async def turn_off(call: Invocation, connector: "Connector", console: Console) -> int:
    """Close it."""
    return await _tell(ScrapeRequest(action=ScrapeAction.OFF), call, connector, console)


async def rotate(call: Invocation, connector: "Connector", console: Console) -> int:
    """Make a new token."""
    return await _tell(ScrapeRequest(action=ScrapeAction.ROTATE), call, connector, console)


async def show_token(call: Invocation, connector: "Connector", console: Console) -> int:
    """Print the token."""
    client = await running_or_offline(connector)
    try:
        found = await client.scrape_token()
    finally:
        await client.close()
    if call.json:
        console.document(found)
    else:
        console.say(found.token)
    return _OK


async def _tell(
    request: ScrapeRequest | None, call: Invocation, connector: "Connector", console: Console
) -> int:
    client = await running_or_offline(connector)
    try:
        found = await (client.scrape() if request is None else client.change_scrape(request))
    finally:
        await client.close()
    if call.json:
        console.document(found)
        return _OK
    if request is not None and request.action is ScrapeAction.ROTATE:
        console.say(words.ROTATED)
    else:
        console.say(info_text(found))
    return _OK


def info_text(info: ScrapeInfo) -> str:
    """Return how it stands, in words."""
    if not info.is_on:
        return words.OFF
    if info.url is None:
        port = "" if info.port is None else words.ON_PORT.format(port=info.port)
        return words.ON_LATER.format(port=port)
    lines = [words.ON.format(url=info.url)]
    return "\n".join(lines if info.note is None else [*lines, info.note])


SCRAPE_COMMANDS: Mapping[str, Command] = {
    "metrics": show,
    "metrics show": show,
    "metrics on": turn_on,
    "metrics off": turn_off,
    "metrics show-token": show_token,
    "metrics rotate": rotate,
}
