"""`weir runtime export`, `import` and `signers`.

Paths are made absolute here: the service stands in another folder than the person.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from studio.cli import bundle_text, bundle_words, words
from studio.cli.arguments import Invocation
from studio.cli.console import Console
from studio.cli.mistakes import UsageError
from studio.cli.reach import Command, running_or_offline
from studio.cli.watch import watched
from studio.domain.bundles import (
    Exported,
    ExportRequest,
    Imported,
    ImportRequest,
    SignerList,
    TrustRequest,
)
from studio.domain.errors import NotFound
from studio.domain.runtimes import RuntimeState

if TYPE_CHECKING:
    from studio.cli.reach import Connector
    from studio.control.client import ControlClient

_OK = 0


async def export_runtime(call: Invocation, connector: "Connector", console: Console) -> int:
    """Write an installed runtime into one signed file, showing how far it is."""
    request = ExportRequest(
        to=_target(call.to or "."), key=_absolute(call.key) if call.key is not None else None
    )

    await _require_installed(call.name, connector)

    async def operation(client: "ControlClient") -> Exported:
        return await client.export_runtime(call.name, request)

    done = await watched(connector, console, operation)
    if call.json:
        console.document(done)
    else:
        console.say(bundle_text.exported_text(done, console.width))
    return _OK


async def _require_installed(name: str, connector: "Connector") -> None:
    """Refuse what is not here before a whole service is started for it.

    Raises: NotFound (`runtime-unknown`, `runtime-not-installed`).
    """
    client = await running_or_offline(connector)
    try:
        info = (await client.runtime(name)).info
    finally:
        await client.close()
    # A damaged one goes on: the export says what is wrong with it.
    if info.state not in (RuntimeState.INSTALLED, RuntimeState.DAMAGED):
        raise NotFound(
            "runtime-not-installed",
            bundle_words.NOT_INSTALLED.format(title=info.title),
            hint=bundle_words.HINT_INSTALL.format(name=name),
        )


async def import_runtime(call: Invocation, connector: "Connector", console: Console) -> int:
    """Install a runtime out of one signed file, showing how far it is."""
    request = ImportRequest(path=_absolute(call.name), trust=call.trust)

    async def operation(client: "ControlClient") -> Imported:
        return await client.import_runtime(request)

    done = await watched(connector, console, operation)
    if call.json:
        console.document(done)
    else:
        console.say(bundle_text.imported_text(done, console.width))
    return _OK


async def signers(call: Invocation, connector: "Connector", console: Console) -> int:
    """List, trust or forget signers; needs no service."""
    if call.action != "list" and call.reference is None:
        raise UsageError(words.missing("FINGERPRINT"), words.see_help("weir runtime signers"))
    if call.action == "list" and call.reference is not None:
        raise UsageError(
            words.unexpected_argument(call.reference), words.see_help("weir runtime signers")
        )
    client = await running_or_offline(connector)
    try:
        found = await _signers(call, client)
    finally:
        await client.close()
    if call.json:
        console.document(found)
    else:
        console.say(bundle_text.signers_text(found, console.width))
    return _OK


async def _signers(call: Invocation, client: "ControlClient") -> SignerList:
    reference = call.reference or ""
    if call.action == "trust":
        request = TrustRequest(fingerprint=reference, name=call.signer_name)
        return await client.trust_signer(request)
    if call.action == "forget":
        return await client.forget_signer(reference)
    return await client.signers()


def _target(text: str) -> str:
    """Return the place of an export; a slash at the end says that it is a folder."""
    return _absolute(text) + ("/" if text.endswith(("/", os.sep)) else "")


def _absolute(text: str) -> str:
    return str(Path(text).expanduser().absolute())


BUNDLE_COMMANDS: Mapping[str, Command] = {
    "runtime export": export_runtime,
    "runtime import": import_runtime,
    "runtime signers": signers,
}
