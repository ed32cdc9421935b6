"""`weir runtime …`: each command asks one thing and shows the answer.

Only `install` and `repair` need a service, for their progress; where none runs they start one that
ends with them.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import msgspec

from studio.cli import runtime_text, series_words, words
from studio.cli.arguments import Invocation
from studio.cli.bundle import BUNDLE_COMMANDS
from studio.cli.console import Console
from studio.cli.mistakes import UsageError
from studio.cli.reach import Command, running_or_offline
from studio.cli.series import fetch_series
from studio.cli.watch import watched
from studio.domain.integrity import Repaired
from studio.domain.runtimes import (
    CollectRequest,
    InstallRequest,
    PinRequest,
    RollbackRequest,
    RuntimeDetail,
    VerifyRequest,
)

if TYPE_CHECKING:
    from studio.cli.reach import Connector
    from studio.control.client import ControlClient

_OK = 0
_DIFFERS = 4
"""As for every error about bytes that are not what they should be."""


@asynccontextmanager
async def reached(connector: "Connector") -> AsyncIterator["ControlClient"]:
    """Reach the running service, else one in this process."""
    client = await running_or_offline(connector)
    try:
        yield client
    finally:
        await client.close()


async def list_runtimes(call: Invocation, connector: "Connector", console: Console) -> int:
    """List the runtimes with state and verdict."""
    async with reached(connector) as client:
        found = await client.runtimes()
    if call.json:
        console.document(found)
    else:
        console.say(runtime_text.list_text(found.runtimes, console.width))
    return _OK


async def show_runtime(call: Invocation, connector: "Connector", console: Console) -> int:
    """Show all about one runtime."""
    async with reached(connector) as client:
        found = await client.runtime(call.name)
    if call.json:
        console.document(found)
    else:
        console.say(runtime_text.detail_text(found, console.width))
    return _OK


async def pin_runtime(call: Invocation, connector: "Connector", console: Console) -> int:
    """Supply what a recipe leaves open, and say what still is."""
    both = [name for name in call.with_steps if name in call.without_steps]
    if both:
        sentence = series_words.WITH_AND_WITHOUT.format(step=both[0])
        raise UsageError(sentence, words.see_help("weir runtime pin"))
    request = PinRequest(
        commit=call.commit,
        hashes=call.hashes,
        confirm=call.confirm,
        steps={**dict.fromkeys(call.with_steps, True), **dict.fromkeys(call.without_steps, False)},
        forget=call.forget,
    )
    async with reached(connector) as client:
        found = await client.pin_runtime(call.name, request)
    if call.json:
        console.document(found)
    else:
        console.say(runtime_text.pinned_text(found, console.width))
    return _OK


async def install_runtime(call: Invocation, connector: "Connector", console: Console) -> int:
    """Install a runtime, showing how far it is."""

    async def operation(client: "ControlClient") -> RuntimeDetail:
        return await client.install_runtime(call.name, InstallRequest(consent=call.consent))

    found = await watched(connector, console, operation)
    answer(call, console, found, runtime_text.installed_text(found))
    return _OK


async def stop_install(call: Invocation, connector: "Connector", console: Console) -> int:
    """Stop what is being done to a runtime."""
    async with reached(connector) as client:
        done = await client.stop_install(call.name)
    answer(call, console, done, runtime_text.stopped_text(done))
    return _OK


async def repair_runtime(call: Invocation, connector: "Connector", console: Console) -> int:
    """Repair a runtime, showing how far it is."""

    async def operation(client: "ControlClient") -> Repaired:
        return await client.repair_runtime(call.name)

    done = await watched(connector, console, operation)
    answer(call, console, done, runtime_text.repaired_text(done))
    return _OK


async def verify_runtime(call: Invocation, connector: "Connector", console: Console) -> int:
    """Compare a runtime with the list of its files; a difference is exit status 4."""
    async with reached(connector) as client:
        verdict = await client.verify_runtime(call.name, VerifyRequest(full=call.full))
    answer(call, console, verdict, runtime_text.verdict_text(verdict, console.width))
    return _OK if verdict.is_whole else _DIFFERS


async def list_versions(call: Invocation, connector: "Connector", console: Console) -> int:
    """List the installations that are kept."""
    async with reached(connector) as client:
        found = await client.runtime_versions(call.name)
    answer(call, console, found, runtime_text.versions_text(found))
    return _OK


async def roll_back(call: Invocation, connector: "Connector", console: Console) -> int:
    """Use the installation before the present one, or the one after it."""
    async with reached(connector) as client:
        found = await client.roll_back(call.name, RollbackRequest(forward=call.forward))
    answer(call, console, found, runtime_text.versions_text(found))
    return _OK


async def collect(call: Invocation, connector: "Connector", console: Console) -> int:
    """Remove what nothing uses, or say what that would be."""
    async with reached(connector) as client:
        done = await client.collect_runtimes(CollectRequest(dry_run=call.dry_run))
    answer(call, console, done, runtime_text.collected_text(done, console.width))
    return _OK


def answer(call: Invocation, console: Console, document: msgspec.Struct, text: str) -> None:
    """Show a document as asked for: as it is, or in words."""
    if call.json:
        console.document(document)
    else:
        console.say(text)


RUNTIME_COMMANDS: Mapping[str, Command] = {
    "runtime list": list_runtimes,
    "runtime show": show_runtime,
    "runtime series": fetch_series,
    "runtime pin": pin_runtime,
    "runtime install": install_runtime,
    "runtime stop": stop_install,
    "runtime verify": verify_runtime,
    "runtime repair": repair_runtime,
    "runtime versions": list_versions,
    "runtime rollback": roll_back,
    "runtime gc": collect,
    **BUNDLE_COMMANDS,
}
