"""`weir report`: one file that says what runs or failed, with or without a service."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from studio.cli import report_words
from studio.cli.arguments import Invocation
from studio.cli.console import Console, plain
from studio.cli.reach import running_or_none
from studio.domain.errors import ServiceUnreachable
from studio.domain.report import ReportPreview, ReportRequest, ReportWritten

if TYPE_CHECKING:
    from studio.cli.reach import Connector
    from studio.control.client import ControlClient

_PATIENCE_S = 8.0
"""How long a service may take; one that hangs is reported about without its help."""


async def report(call: Invocation, connector: "Connector", console: Console) -> int:
    """Write the report, or print it."""
    if call.show:
        preview = await _preview(connector)
        if call.json:
            console.document(preview)
        else:
            console.say("\n".join(_shown(one.name, one.text) for one in preview.entries))
        return 0
    written = await _write(connector, _request(call))
    if call.json:
        console.document(written)
        return 0
    console.note(written.summary)
    console.say(report_words.written(written.path, written.size_bytes, len(written.entries)))
    console.note(report_words.LOOK)
    return 0


def _request(call: Invocation) -> ReportRequest:
    """Return what to write; the path is this terminal's, not the service's."""
    return ReportRequest(path=str(Path(call.file or "").absolute()), replace=call.replace)


def _shown(name: str, text: str) -> str:
    lines = "\n".join(plain(line) for line in text.splitlines())
    return f"===== {name} =====\n{lines}\n"


async def _write(connector: "Connector", request: ReportRequest) -> ReportWritten:
    for client in await _clients(connector):
        try:
            async with asyncio.timeout(_PATIENCE_S):
                return await client.report(request)
        except (TimeoutError, ServiceUnreachable):
            continue
        finally:
            await client.close()
    raise _no_answer()


async def _preview(connector: "Connector") -> ReportPreview:
    for client in await _clients(connector):
        try:
            async with asyncio.timeout(_PATIENCE_S):
                return await client.report_preview()
        except (TimeoutError, ServiceUnreachable):
            continue
        finally:
            await client.close()
    raise _no_answer()


async def _clients(connector: "Connector") -> "list[ControlClient]":
    """Return who may answer: the service, which knows what runs, then this process."""
    try:
        service = await running_or_none(connector)
    except ServiceUnreachable:
        service = None
    return [*([service] if service is not None else []), connector.salvage()]


def _no_answer() -> ServiceUnreachable:
    return ServiceUnreachable(
        "report-not-made",
        "The report was not made in time.",
        hint="The disk may be very slow; try again.",
    )
