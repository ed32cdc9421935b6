"""`weir models list|show|verify|rm|import|roots`: each works without a service."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from studio.cli import models_text as text
from studio.cli import models_words as words
from studio.cli.arguments import Invocation
from studio.cli.console import Console
from studio.cli.mistakes import UsageError
from studio.cli.reach import Command, running_or_none, running_or_offline
from studio.cli.words import see_help
from studio.domain.errors import NeedsConsent
from studio.domain.library import (
    CheckInfo,
    CheckRequest,
    CheckState,
    ImportWay,
    ModelImport,
    RemoveRequest,
    RootChange,
)
from studio.domain.proofs import ModelState
from studio.domain.units import bytes_text

if TYPE_CHECKING:
    from studio.cli.reach import Connector
    from studio.control.client import ControlClient

T = TypeVar("T")

_LOOK_S = 1.0
_TELL_S = 2.0
_NOT_WHOLE = 4
_LIVE = (CheckState.QUEUED, CheckState.RUNNING, CheckState.WAITING)


async def list_(call: Invocation, connector: "Connector", console: Console) -> int:
    """List every model."""
    client = await running_or_offline(connector)
    try:
        found = await client.models()
    finally:
        await client.close()
    if call.json:
        console.document(found)
    else:
        console.say(text.list_text(found, console.width))
    return 0


async def show(call: Invocation, connector: "Connector", console: Console) -> int:
    """Show one model."""
    client = await running_or_offline(connector)
    try:
        found = await client.model(_meant(call.name))
    finally:
        await client.close()
    if call.json:
        console.document(found)
    else:
        console.say(text.detail_text(found))
    return 0


async def roots(call: Invocation, connector: "Connector", console: Console) -> int:
    """List the folders that are searched, after changing them if asked to."""
    if call.action != "list" and call.reference is None:
        sentence = words.ROOTS_NEED_FOLDER.format(action=call.action)
        raise UsageError(sentence, see_help("weir models roots"))
    client = await running_or_offline(connector)
    try:
        if call.reference is None:
            found = await client.model_roots()
        else:
            path = _absolute(call.reference)
            change = RootChange(add=path) if call.action == "add" else RootChange(remove=path)
            found = await client.change_model_roots(change)
    finally:
        await client.close()
    if call.json:
        console.document(found)
    else:
        console.say(text.roots_text(found))
    return 0


async def verify(call: Invocation, connector: "Connector", console: Console) -> int:
    """Check one model or all; 4 when one of them is not whole."""
    name = _meant(call.reference) if call.reference is not None else None
    if call.forget and name is None:
        raise UsageError(words.STOP_NEEDS_NAME, see_help("weir models verify"))
    service = await running_or_none(connector)
    client = service or connector.offline()
    try:
        if call.forget:
            listed = await client.stop_model_check(CheckRequest(name=name))
            return _said(call, console, listed, words.CHECK_ENDED.format(name=name))
        request = CheckRequest(name=name)
        wanted = await _paths(client, name)
        if call.detach and service is not None:
            listed = await client.check_models(request)
            count = sum(one.state in _LIVE for one in listed.checks)
            return _said(call, console, listed, words.CHECK_BEGUN.format(count=count))
        await _until_checked(client, request, wanted, console)
        failed = [one for one in (await client.model_checks()).checks if one.path in wanted]
        models = [one for one in (await client.models()).models if one.path in wanted]
    finally:
        await client.close()
    for one in failed:
        if one.error is not None:
            console.note(one.error.message)
    _said(call, console, models, text.verified_text(models))
    return 0 if all(one.state is ModelState.READY for one in models) else _NOT_WHOLE


async def _paths(client: "ControlClient", name: str | None) -> frozenset[str]:
    if name is not None:
        return frozenset({(await client.model(name)).model.path})
    return frozenset(one.path for one in (await client.models()).models if one.files)


async def _until_checked(
    client: "ControlClient", request: CheckRequest, wanted: frozenset[str], console: Console
) -> None:
    """Wait until the checks are over, and say now and then how far they are."""

    async def checked() -> None:
        await client.check_models(request)  # without a service it is over when this returns
        while True:
            if not _under_way((await client.model_checks()).checks, wanted):
                return
            await asyncio.sleep(_LOOK_S)

    async def tell() -> None:
        for one in _under_way((await client.model_checks()).checks, wanted)[:1]:
            console.note(text.check_line(one))

    await _told(checked, tell)


def _under_way(checks: tuple[CheckInfo, ...], wanted: frozenset[str]) -> list[CheckInfo]:
    found = [one for one in checks if one.path in wanted and one.state in _LIVE]
    return sorted(found, key=lambda one: one.state is CheckState.QUEUED)


async def remove(call: Invocation, connector: "Connector", console: Console) -> int:
    """Say what goes, ask, remove it."""
    name = _meant(call.name)
    client = await running_or_offline(connector)
    try:
        plan = await client.remove_model(RemoveRequest(name=name, dry_run=True))
        if call.dry_run:
            return _said(call, console, plan, text.plan_text(plan))
        if plan.refusal is None and not call.consent:
            if not console.can_ask:
                raise NeedsConsent("model-remove", words.REMOVE_NOBODY, hint=words.REMOVE_HINT)
            console.say(text.plan_text(plan))
            if not await console.ask(words.REMOVE_ASK, default=False):
                return _said(call, console, plan, words.KEPT)
        # By its path: another model may have got the name while somebody thought about it.
        done = await client.remove_model(RemoveRequest(name=plan.path))
    finally:
        await client.close()
    sentence = words.FORGOTTEN if done.is_reference else words.REMOVED
    freed = bytes_text(done.freed_bytes)
    return _said(call, console, done, sentence.format(name=done.name, freed=freed))


async def import_(call: Invocation, connector: "Connector", console: Console) -> int:
    """Take a model in."""
    request = ModelImport(
        path=_absolute(call.name), by=ImportWay(call.form), name=call.new_name or None
    )
    client = await running_or_offline(connector)

    async def tell() -> None:
        now = (await client.model_import()).current
        if now is not None and now.total_bytes:
            done, total = bytes_text(now.done_bytes), bytes_text(now.total_bytes)
            console.note(words.IMPORT_LINE.format(name=now.name, done=done, total=total))

    try:
        done = await _told(lambda: client.import_model(request), tell)
    finally:
        await client.close()
    return _said(call, console, done, text.imported_text(done))


async def _told(work: Callable[[], Awaitable[T]], tell: Callable[[], Awaitable[None]]) -> T:
    """Do the work, and tell now and then how far it is."""

    async def telling() -> None:
        while True:
            await asyncio.sleep(_TELL_S)
            await tell()

    try:
        async with asyncio.TaskGroup() as tasks:
            beside = tasks.create_task(telling())
            found = await work()
            beside.cancel()
        return found
    except ExceptionGroup as failed:
        error = failed.exceptions[0]
    raise error


def _said(call: Invocation, console: Console, document: object, sentence: str) -> int:
    if call.json:
        console.document(document)
    else:
        console.say(sentence)
    return 0


def _absolute(path: str) -> str:
    with contextlib.suppress(RuntimeError):  # `~nobody` names no home; the service says so
        return str(Path(path).expanduser().absolute())
    return path


def _meant(name: str) -> str:
    """Return a name, or the whole path where it begins like one."""
    is_path = name.startswith(("./", "../", "~/", "/")) or name in (".", "..")
    return str(Path(_absolute(name)).resolve()) if is_path else name


MODEL_COMMANDS: Mapping[str, Command] = {
    "models": list_,
    "models list": list_,
    "models show": show,
    "models verify": verify,
    "models rm": remove,
    "models import": import_,
    "models roots": roots,
}
