"""`weir plan`: ask for a plan and show it; needs no service."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from studio.cli import plan_text, plan_words
from studio.cli.arguments import Invocation
from studio.cli.console import Console
from studio.cli.reach import Command, running_or_offline
from studio.domain.plans import MakeRequest, Plan, PlanRequest

if TYPE_CHECKING:
    from studio.cli.reach import Connector

_OK = 0
_UNICODE_SAMPLE = "█▓▒░▕·"
_BYTES_PER_MB = 1_000_000


async def plan(call: Invocation, connector: "Connector", console: Console) -> int:
    """Show what fits; an answer is no error, whatever it says."""
    client = await running_or_offline(connector)
    try:
        found = await client.plan(_request(call))
    finally:
        await client.close()
    if call.json:
        console.document(found)
    else:
        console.say(_text(found, console))
    return _OK


async def make_preset(call: Invocation, connector: "Connector", console: Console) -> int:
    """Make a preset of a model folder, and show its plan."""
    request = MakeRequest(
        folder=_absolute(call.model) or "",
        id=call.other,
        runtime=call.engine,
        gpus=call.gpus,
        replace=call.replace,
    )
    client = await running_or_offline(connector)
    try:
        made = await client.make_preset(request)
    finally:
        await client.close()
    if call.json:
        console.document(made)
        return _OK
    notes = [f"  - {note}" for note in made.notes]
    head = "\n".join([plan_words.made(made.id, made.path), *notes])
    console.say(f"{head}\n\n{_text(made.plan, console)}")
    return _OK


def _text(found: Plan, console: Console) -> str:
    return plan_text.plan_text(
        found,
        min(console.width, plan_text.WIDEST),
        unicode=console.can_show(_UNICODE_SAMPLE),
        colour=console.has_colour and console.out_is_terminal,
    )


def _request(call: Invocation) -> PlanRequest:
    """Return what was typed; files are named so that a service elsewhere on the disk finds them."""
    rate = call.rate_mb_per_s
    return PlanRequest(
        preset=call.preset,
        model=_absolute(call.model),
        drafter=_absolute(call.drafter),
        engine=call.engine,
        overrides=call.overrides,
        gpus=call.gpus,
        allow_spill=call.allow_spill,
        download_bytes_per_s=rate * _BYTES_PER_MB if rate is not None else None,
    )


def _absolute(path: str | None) -> str | None:
    return None if path is None else str(Path(path).expanduser().absolute())


PLAN_COMMANDS: Mapping[str, Command] = {"plan": plan, "presets make": make_preset}
