"""`weir wsl`: the Linux inside Windows in which engines run. Needs no service."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from studio.cli import wsl_words as words
from studio.cli.arguments import Invocation
from studio.cli.console import Console
from studio.cli.reach import Command
from studio.cli.render import labelled
from studio.domain.errors import NeedsConsent
from studio.domain.plans import PlanRequest, machine_bytes
from studio.domain.readings import AdapterReadings
from studio.domain.units import GIB, bytes_text
from studio.domain.wsl import (
    WslConfigRequest,
    WslLanRequest,
    WslRemoveRequest,
    WslReport,
    WslSetupRequest,
    WslStep,
)

if TYPE_CHECKING:
    from studio.cli.reach import Connector

_BY_ITSELF = (WslStep.INSTALL, WslStep.UPDATE, WslStep.IMPORT)
_FAILED = 4


async def status(call: Invocation, connector: "Connector", console: Console) -> int:
    """Show how far it is."""
    client = connector.salvage()
    try:
        found = await client.wsl_report()
    finally:
        await client.close()
    return _show(found, call, console)


async def setup(call: Invocation, connector: "Connector", console: Console) -> int:
    """Take steps until a person or a restart is needed, or it is done."""
    client = connector.salvage()
    try:
        now = await client.wsl_report()
        taken: set[WslStep] = set()
        while now.step in _BY_ITSELF and now.step not in taken:
            taken.add(now.step)
            if now.step is WslStep.INSTALL and not await _agreed(
                call, console, words.QUESTION_INSTALL, default=True
            ):
                break
            now = await client.wsl_setup(WslSetupRequest(consent=True, rootfs=call.rootfs))
    finally:
        await client.close()
    return _show(now, call, console)


async def memory(call: Invocation, connector: "Connector", console: Console) -> int:
    """Write `.wslconfig`, after a yes; what is proposed is for a preset."""
    needed = await _needed(call.preset, connector) if call.preset else None
    client = connector.salvage()
    try:
        chosen = call.memory_gib * GIB if call.memory_gib else None
        asked = WslConfigRequest(
            preset=call.preset or None, needed_bytes=needed, memory_bytes=chosen, write=False
        )
        now = await client.wsl_memory(asked)
        shown = ", ".join(now.config) if chosen is None else f"memory={call.memory_gib}GB"
        if not shown:
            console.say(words.NOTHING_PROPOSED if now.config_preset else words.NO_PRESET)
            return 0
        if not call.json:
            console.say(words.CHANGES.format(file=now.config_file))
            for line in now.config_change:
                console.say(f"  {line}")
        question = words.QUESTION_MEMORY.format(lines=shown, file=now.config_file)
        if await _agreed(call, console, question, default=False):
            await client.wsl_memory(WslConfigRequest(memory_bytes=chosen))
            console.say(words.WRITTEN)
    finally:
        await client.close()
    return 0


async def _needed(preset: str, connector: "Connector") -> int:
    """Return what a preset takes of the machine's memory, by the planner."""
    client = connector.offline()
    try:
        plan = await client.plan(PlanRequest(preset=preset))
    finally:
        await client.close()
    return machine_bytes(plan)


async def open_lan(call: Invocation, connector: "Connector", console: Console) -> int:
    """Let other machines reach the gateway."""
    return await _lan(call, connector, console, is_open=True)


async def close_lan(call: Invocation, connector: "Connector", console: Console) -> int:
    """Let nobody else reach it any more."""
    return await _lan(call, connector, console, is_open=False)


async def _lan(call: Invocation, connector: "Connector", console: Console, *, is_open: bool) -> int:
    question = words.QUESTION_OPEN if is_open else words.QUESTION_CLOSE
    if not await _agreed(call, console, question, default=False):
        console.say(words.NOTHING_CHANGED)
        return 0
    client = connector.salvage()
    try:
        found = await client.wsl_lan(WslLanRequest(is_open=is_open, consent=True))
    finally:
        await client.close()
    return _show(found, call, console)


async def compact(call: Invocation, connector: "Connector", console: Console) -> int:
    """Make the disk image smaller."""
    client = connector.salvage()
    try:
        found = await client.wsl_compact()
    finally:
        await client.close()
    return _show(found, call, console)


async def remove(call: Invocation, connector: "Connector", console: Console) -> int:
    """Say what is lost, then remove it."""
    client = connector.salvage()
    try:
        found = await client.wsl_remove(WslRemoveRequest())
        if not call.json:
            console.say(words.CONTENTS.format(size=bytes_text(found.disk_bytes)))
            for line in found.lines:
                console.say(f"  {line.expandtabs(8)}")
            if not found.lines:
                console.say(words.CONTENTS_HIDDEN)
        if await _agreed(call, console, words.QUESTION_REMOVE, default=False):
            found = await client.wsl_remove(WslRemoveRequest(consent=True))
    finally:
        await client.close()
    if call.json:
        console.document(found)
    else:
        console.say(words.REMOVED if found.removed else words.NOT_REMOVED)
    return 0


async def _agreed(call: Invocation, console: Console, question: str, *, default: bool) -> bool:
    """Return the person's word. Raises: NeedsConsent (`wsl-consent`)."""
    if call.consent:
        return True
    if not console.can_ask:
        raise NeedsConsent("wsl-consent", words.CONSENT, hint=words.HINT_CONSENT)
    return await console.ask(question, default=default)


def _show(found: WslReport, call: Invocation, console: Console) -> int:
    if call.json:
        console.document(found)
    else:
        console.say(report_text(found))
    return _FAILED if found.step is WslStep.REFUSED else 0


def report_text(found: WslReport) -> str:
    """Return everything that is known, a line each."""
    return labelled(_rows(found))


def _rows(found: WslReport) -> Iterator[tuple[str, str]]:
    yield words.STATE, words.STEPS[found.step]
    if found.version is not None:
        yield words.VERSION, found.version
    if found.importing_bytes is not None:
        yield words.IMPORTING, words.WRITTEN_SO_FAR.format(size=bytes_text(found.importing_bytes))
    if found.disk is not None and found.disk_bytes is not None:
        size = bytes_text(found.disk_bytes)
        yield words.DISK, words.DISK_IS.format(size=size, path=found.disk)
    if found.disk_was_bytes is not None:
        yield words.DISK, words.DISK_WAS.format(size=bytes_text(found.disk_was_bytes))
    if found.is_compacting:
        yield words.DISK, words.COMPACTING
    if found.networking is not None:
        yield words.NETWORK, found.networking
    if found.is_reachable is not None:
        text = words.REACHED_YES if found.is_reachable else words.REACHED_NO
        yield words.REACHED, text.format(address=found.address)
    if found.config:
        lines = ", ".join(found.config)
        yield words.MEMORY, words.PROPOSED.format(lines=lines, file=found.config_file)
    yield from _lan_rows(found)
    yield from _memory_rows(found.memory)
    yield from _problem_rows(found)


def _problem_rows(found: WslReport) -> Iterator[tuple[str, str]]:
    """Yield what is in the way, and what to do about it."""
    if found.is_inside_older:
        yield words.INSIDE, words.INSIDE_OLDER.format(version=found.inside_version)
    if found.firmware is not None:
        yield words.FIRMWARE, found.firmware
    if found.problem is not None:
        yield words.PROBLEM, found.problem.message
        if found.problem.hint is not None:
            yield words.PROBLEM, found.problem.hint


def _lan_rows(found: WslReport) -> Iterator[tuple[str, str]]:
    """Yield whether other machines reach the gateway, and what would let them."""
    if found.is_lan_open:
        yield words.LAN, words.LAN_STALE if found.is_lan_stale else words.LAN_OPEN
        for command in found.lan_gateway:
            yield words.LAN, words.LAN_GATEWAY.format(command=command)
        return
    for command in found.lan:
        yield words.LAN, words.LAN_IS.format(command=command)


def _memory_rows(found: AdapterReadings | None) -> Iterator[tuple[str, str]]:
    """Yield what of each card's memory Windows has moved into the machine's."""
    for one in found.adapters if found is not None else ():
        if one.is_nvidia is not False:
            shared = bytes_text(one.shared_bytes)
            yield words.CARD, words.CARD_IS.format(name=one.name or one.luid, size=shared)


WSL_COMMANDS: Mapping[str, Command] = {
    "wsl": status,
    "wsl status": status,
    "wsl setup": setup,
    "wsl memory": memory,
    "wsl open": open_lan,
    "wsl close": close_lan,
    "wsl compact": compact,
    "wsl remove": remove,
}
