"""`weir runtime series`: fetch another project's patches, check them, list them."""

from typing import TYPE_CHECKING

from studio.cli.arguments import Invocation
from studio.cli.console import Console
from studio.cli.reach import running_or_offline
from studio.cli.series_text import series_text

if TYPE_CHECKING:
    from studio.cli.reach import Connector

_OK = 0


async def fetch_series(call: Invocation, connector: "Connector", console: Console) -> int:
    """Fetch and show the series of a runtime."""
    client = await running_or_offline(connector)
    try:
        found = await client.fetch_series(call.name)
    finally:
        await client.close()
    if call.json:
        console.document(found)
    else:
        console.say(series_text(found))
    return _OK
