"""`weir cache`: whose prompts are read anew each turn, and why. Needs no service."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from studio.cli import cache_words as words
from studio.cli.arguments import Invocation
from studio.cli.cache_text import report_text
from studio.cli.console import Console
from studio.cli.reach import Command, running_or_offline

if TYPE_CHECKING:
    from studio.cli.reach import Connector


async def cache(call: Invocation, connector: "Connector", console: Console) -> int:
    """Show what was found, or forget it."""
    client = await running_or_offline(connector)
    try:
        report = await (client.clear_cache_findings() if call.forget else client.cache())
    finally:
        await client.close()
    if call.json:
        console.document(report)
    else:
        console.say(words.NOTHING_LEFT if call.forget else report_text(report))
    return 0


CACHE_COMMANDS: Mapping[str, Command] = {"cache": cache}
