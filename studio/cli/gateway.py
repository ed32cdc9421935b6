"""`weir gateway`: names, who may ask, and where it can be reached. Needs no service."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from studio.cli import gateway_words as words
from studio.cli.arguments import Invocation
from studio.cli.console import Console
from studio.cli.reach import Command, running_or_offline
from studio.cli.render import table
from studio.domain.errors import BadInput
from studio.domain.gateway import GatewayChange, GatewayReport

if TYPE_CHECKING:
    from studio.cli.reach import Connector

_OK = 0


async def show(call: Invocation, connector: "Connector", console: Console) -> int:
    """Show how it is set up."""
    return await _tell(None, call, connector, console)


async def alias(call: Invocation, connector: "Connector", console: Console) -> int:
    """Let a name mean a model."""
    return await _tell(
        GatewayChange(aliases={call.name: call.model or ""}), call, connector, console
    )


async def allow(call: Invocation, connector: "Connector", console: Console) -> int:
    """Allow a host's name or a page."""
    is_page = "://" in call.name
    change = GatewayChange(
        hosts=() if is_page else (call.name,), origins=(call.name,) if is_page else ()
    )
    return await _tell(change, call, connector, console)


async def forget(call: Invocation, connector: "Connector", console: Console) -> int:
    """Take one of them away."""
    return await _tell(GatewayChange(forget=(call.name,)), call, connector, console)


async def listen(call: Invocation, connector: "Connector", console: Console) -> int:
    """Choose address and encryption."""
    is_plain = call.reference is None and call.tls is None and call.port is None
    if is_plain and not (call.certificate or call.key):
        raise BadInput("nothing-to-change", words.NOTHING_CHOSEN, hint=words.HINT_LISTEN)
    change = GatewayChange(
        address=call.reference,
        port=call.port,
        tls=call.tls,
        certificate=_absolute(call.certificate),
        private_key=_absolute(call.key),
        expose=call.expose,
    )
    return await _tell(change, call, connector, console)


def report_text(report: GatewayReport) -> str:
    """Return the set-up as lines of label and value."""
    chosen = report.settings
    rows: list[tuple[str, str]] = []
    _add(rows, words.LABEL_ADDRESSES, report.urls, words.NONE)
    rows.append((words.LABEL_OPEN, words.YES if report.is_open else words.NOT_YET))
    aliases = [
        words.MEANS.format(alias=name, meant=meant or words.WHATEVER)
        for name, meant in chosen.aliases.items()
    ]
    _add(rows, words.LABEL_ALIASES, aliases, words.NONE)
    _add(rows, words.LABEL_HOSTS, chosen.hosts, words.ONLY_OWN)
    _add(rows, words.LABEL_PAGES, chosen.origins, words.NONE)
    tls = words.NO
    if chosen.tls:
        tls = words.OWN_CERTIFICATE
        if chosen.certificate is not None:
            tls = words.GIVEN_CERTIFICATE.format(file=chosen.certificate)
    rows.append((words.LABEL_TLS, tls))
    if report.fingerprint is not None:
        rows.append(("", words.FINGERPRINT.format(fingerprint=report.fingerprint)))
    if report.notes:
        _add(rows, words.LABEL_NOTES, report.notes, "")
    return table(rows)


def _add(
    rows: list[tuple[str, str]], label: str, values: "list[str] | tuple[str, ...]", empty: str
) -> None:
    for number, value in enumerate(values or (empty,)):
        rows.append((label if number == 0 else "", value))


def _absolute(file: str | None) -> str | None:
    """Return a path that the service, in another folder, finds too."""
    return None if file is None else str(Path(file).expanduser().absolute())


async def _tell(
    change: GatewayChange | None, call: Invocation, connector: "Connector", console: Console
) -> int:
    client = await running_or_offline(connector)
    try:
        report = await (client.gateway() if change is None else client.change_gateway(change))
    finally:
        await client.close()
    if call.json:
        console.document(report)
    else:
        console.say(report_text(report))
    return _OK


GATEWAY_COMMANDS: Mapping[str, Command] = {
    "gateway": show,
    "gateway show": show,
    "gateway alias": alias,
    "gateway allow": allow,
    "gateway forget": forget,
    "gateway listen": listen,
}
