"""`weir disk`: what the Studio takes of its disk. Needs no service."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from studio.cli import disk_words as words
from studio.cli.arguments import Invocation
from studio.cli.console import Console
from studio.cli.reach import Command, running_or_offline
from studio.cli.render import table
from studio.cli.uninstall_words import GROUPS
from studio.domain.disk import DiskReport
from studio.domain.units import bytes_text

if TYPE_CHECKING:
    from studio.cli.reach import Connector


async def disk(call: Invocation, connector: "Connector", console: Console) -> int:
    """Show sizes by groups, and what is free."""
    client = await running_or_offline(connector)
    try:
        report = await client.disk()
    finally:
        await client.close()
    if call.json:
        console.document(report)
    else:
        console.say(report_text(report))
    return 0


def report_text(report: DiskReport) -> str:
    """Return the report as a table, and what can be done."""
    rows = [
        (GROUPS[use.group.value], bytes_text(use.bytes), f"{use.files:,}") for use in report.uses
    ]
    rows += [
        (words.OWN, bytes_text(report.own_bytes), f"{sum(use.files for use in report.uses):,}"),
        (words.OTHERS, bytes_text(report.others_bytes), ""),
        (words.FREE, bytes_text(report.free_bytes), ""),
        (words.WHOLE, bytes_text(report.total_bytes), ""),
    ]
    lines = [table([words.HEADINGS, *rows]), words.PLACE.format(home=report.home)]
    return "\n".join([*lines, words.WAYS])


DISK_COMMANDS: Mapping[str, Command] = {"disk": disk}
