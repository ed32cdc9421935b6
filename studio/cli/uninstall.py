"""`weir uninstall`: show everything that is ours, ask, remove it. Works in a broken home."""

import asyncio
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import msgspec

from studio.cli import uninstall_words as words
from studio.cli.arguments import Invocation
from studio.cli.console import Console
from studio.cli.mistakes import UsageError
from studio.cli.reach import Command, running_or_none
from studio.cli.words import see_help
from studio.domain.errors import NeedsConsent, ServiceUnreachable
from studio.domain.uninstall import (
    KEPT_BY_DEFAULT,
    Belongings,
    UninstallPlan,
    UninstallRequest,
    UninstallResult,
)
from studio.domain.units import bytes_text

if TYPE_CHECKING:
    from studio.cli.reach import Connector
    from studio.control.client import ControlClient

ALL = "all"
_FAILED = 1
_LOOK_S = 0.2
_LOOKS = 75


async def uninstall(call: Invocation, connector: "Connector", console: Console) -> int:
    """List, ask, end the service, remove. 1 when something could not be removed."""
    removed, kept = _named(call.kinds, "--remove"), _named(call.keep, "--keep")
    for group in removed & kept:
        raise UsageError(words.BOTH.format(name=group), see_help("weir uninstall"))
    client = connector.salvage()
    try:
        plan = await client.uninstall_plan()
        chosen = await _chosen(plan, removed, kept, call, console)
        if call.dry_run or not chosen:
            _show_plan(plan, chosen, call, console)
            return 0
        if plan.service_pid is not None:
            await _end_service(connector)
            await _until_gone(client)
        result = await client.uninstall(UninstallRequest(remove=tuple(sorted(chosen))))
    finally:
        await client.close()
    _show_result(result, plan, chosen, call, console)
    return _FAILED if result.left else 0


async def _chosen(
    plan: UninstallPlan,
    removed: frozenset[Belongings],
    kept: frozenset[Belongings],
    call: Invocation,
    console: Console,
) -> frozenset[Belongings]:
    """Return which groups are to go; a person is asked where the command line leaves it open."""
    there = frozenset(place.group for place in plan.places) - kept
    if removed:
        return there & removed
    usual = there - KEPT_BY_DEFAULT
    if call.dry_run or call.consent or not there:
        return usual
    if not console.can_ask:
        raise NeedsConsent("uninstall-consent", words.NOBODY_TO_ASK, hint=words.HINT_YES)
    console.say(_plan_text(plan, usual))
    chosen = set(there)
    for group in Belongings:
        if group in there and group.value in words.QUESTIONS:
            question = words.QUESTIONS[group.value].format(size=_size(plan, [group]))
            if not await console.ask(question, default=group not in KEPT_BY_DEFAULT):
                chosen.discard(group)
    question = words.REALLY.format(groups=_listed(chosen), size=_size(plan, chosen))
    return frozenset(chosen) if await console.ask(question, default=False) else frozenset()


def _named(names: Iterable[str], option: str) -> frozenset[Belongings]:
    found: set[Belongings] = set()
    for name in names:
        if name == ALL and option == "--remove":
            found |= set(Belongings)
            continue
        try:
            found.add(Belongings(name))
        except ValueError:
            raise UsageError(
                words.UNKNOWN.format(name=name),
                words.KNOWN.format(names=", ".join(Belongings)),
            ) from None
    return frozenset(found)


async def _end_service(connector: "Connector") -> None:
    client: ControlClient | None = await running_or_none(connector)
    if client is None:
        return
    try:
        await client.down()
    except ServiceUnreachable:
        pass  # it was gone before its answer had left; the removal looks again
    finally:
        await client.close()


async def _until_gone(client: "ControlClient") -> None:
    """Wait for the service's end; one that does not end is refused by the removal itself."""
    for _ in range(_LOOKS):
        if (await client.uninstall_plan()).service_pid is None:
            return
        await asyncio.sleep(_LOOK_S)


def _show_plan(
    plan: UninstallPlan, chosen: frozenset[Belongings], call: Invocation, console: Console
) -> None:
    if call.json:
        console.document({**msgspec.to_builtins(plan), "remove": sorted(chosen)})
    elif call.dry_run:
        console.say(_plan_text(plan, chosen))
    else:
        console.say(words.NOT_CHOSEN if plan.places else words.NOTHING)


def _show_result(
    result: UninstallResult,
    plan: UninstallPlan,
    chosen: frozenset[Belongings],
    call: Invocation,
    console: Console,
) -> None:
    if call.json:
        console.document(result)
        return
    files = sum(place.files for place in result.removed)
    lines = [words.DONE.format(files=files, size=bytes_text(result.freed_bytes))]
    lines += [words.STAYS.format(reason=reason) for reason in result.left]
    stays = {place.group for place in plan.places} - chosen
    if stays:
        lines.append(words.LEFT.format(groups=_listed(stays)))
    if plan.foreign:
        lines.append(words.FOREIGN.format(names=", ".join(plan.foreign)))
    console.say("\n".join([*lines, *plan.notes]))


def _plan_text(plan: UninstallPlan, chosen: frozenset[Belongings]) -> str:
    lines = []
    for group in Belongings:
        places = [place for place in plan.places if place.group is group]
        if not places:
            continue
        fate = words.REMOVED if group in chosen else words.KEPT
        lines.append(f"{words.GROUPS[group.value]} ({group.value}, {fate})")
        lines += [
            f"  {bytes_text(place.bytes):>11}  {place.files:>7,} files  {place.path}"
            for place in places
        ]
    if not lines:
        lines.append(words.NOTHING)
    if plan.keyring:
        lines.append(words.KEYRING.format(names=", ".join(plan.keyring)))
    if plan.foreign:
        lines.append(words.FOREIGN.format(names=", ".join(plan.foreign)))
    if plan.service_pid is not None:
        lines.append(words.RUNS.format(pid=plan.service_pid))
    return "\n".join([*lines, *plan.notes])


def _listed(groups: Iterable[Belongings]) -> str:
    return ", ".join(group.value for group in Belongings if group in set(groups))


def _size(plan: UninstallPlan, groups: Iterable[Belongings]) -> str:
    wanted = set(groups)
    return bytes_text(sum(place.bytes for place in plan.places if place.group in wanted))


UNINSTALL_COMMANDS: Mapping[str, Command] = {"uninstall": uninstall}
