"""`weir gateway adjust`: what is changed in requests, and whether. Needs no service."""

import textwrap
from collections.abc import Mapping
from typing import TYPE_CHECKING

from studio.cli import adjust_words as words
from studio.cli.arguments import Invocation
from studio.cli.console import Console
from studio.cli.keys import chosen
from studio.cli.mistakes import near
from studio.cli.reach import Command, running_or_offline
from studio.cli.render import count_text, labelled, table
from studio.domain.errors import NotFound
from studio.domain.gateway import Adjustment, AdjustmentChange, AdjustmentList

if TYPE_CHECKING:
    from studio.cli.reach import Connector

_ALL = "all"
_WIDTH = 66
_HOW = {"on": True, "off": False, "default": None}


async def adjust(call: Invocation, connector: "Connector", console: Console) -> int:
    """List them, show one, or switch one."""
    client = await running_or_offline(connector)
    try:
        key = chosen(await client.keys(), call.key) if call.key is not None else None
        listed = await client.adjustments()
        if call.reference is not None:
            _check(call.reference, listed)
        if call.reference is not None and call.other:
            change = AdjustmentChange(
                id=call.reference,
                is_on=_HOW[call.other],
                key=None if key is None else key.id,
            )
            listed = await client.adjust(change)
    finally:
        await client.close()
    if call.json:
        console.document(listed)
    elif call.reference is None:
        console.say(list_text(listed, console.width if console.out_is_terminal else None))
    elif call.other:
        whom = words.EVERYBODY if key is None else words.ONE_KEY.format(key=key.name)
        how = call.other if _HOW[call.other] is not None else words.DEFAULT
        said = words.SWITCHED_ALL if call.reference == _ALL else words.SWITCHED
        console.say(said.format(id=call.reference, how=how, whom=whom))
    else:
        shown = [one for one in listed.adjustments if call.reference in (one.id, _ALL)]
        console.say("\n\n".join(one_text(one) for one in shown))
    return 0


def list_text(listed: AdjustmentList, width: int | None = None) -> str:
    """Return all of them, one a line, cut at `width`."""
    rows = [words.HEADINGS]
    rows += [(one.id, _state(one), _used(one), one.what) for one in listed.adjustments]
    blocks = [words.ALL_OFF] if listed.are_off else []
    return "\n\n".join([*blocks, table(rows, width), words.FOOTER])


def one_text(one: Adjustment) -> str:
    """Return all about one."""
    how = words.ON if one.is_on else words.OFF
    rows = [
        (words.LABEL_ID, one.id),
        (words.LABEL_IS, how + (words.BY_DEFAULT if one.is_default else "")),
    ]
    if one.is_asked and one.is_default:
        rows[-1] = (words.LABEL_IS, words.IS_ASKED)
    for key, is_on in one.keys.items():
        other = words.OTHER.format(key=key, how=words.ON if is_on else words.OFF)
        rows.append((words.LABEL_KEYS, other))
    if one.fits is not None:
        rows.append((words.LABEL_ENGINE, words.FITS[one.fits]))
    if one.times is not None:
        rows.append((words.LABEL_USED, words.USED.format(requests=_requests(one.times))))
    rows += [
        (words.LABEL_WHAT, one.what),
        (words.LABEL_WHY, one.why),
        (words.LABEL_WHERE, ", ".join(route.removeprefix("/v1/") for route in one.routes)),
        (words.LABEL_SOURCE, one.source),
    ]
    return labelled((label, line) for label, text in rows for line in _lines(text))


def _requests(count: int) -> str:
    return words.ONE_REQUEST if count == 1 else words.REQUESTS.format(count=count_text(count))


def _lines(text: str) -> list[str]:
    return textwrap.wrap(text, _WIDTH, break_long_words=False, break_on_hyphens=False) or [""]


def _state(one: Adjustment) -> str:
    off = words.ASKED if one.is_asked and one.is_default else words.OFF
    text = words.ON if one.is_on else off
    text += "*" if one.keys else ""
    return text + (words.NOT_FOR_THIS if one.fits is False else "")


def _used(one: Adjustment) -> str:
    return "" if one.times is None else count_text(one.times)


def _check(name: str, listed: AdjustmentList) -> None:
    known = [_ALL, *(one.id for one in listed.adjustments)]
    if name in known:
        return
    close = near(name, known)
    raise NotFound(
        "adjustment-unknown",
        words.UNKNOWN.format(name=name),
        hint=words.HINT_NEAR.format(near=close) if close else words.HINT_UNKNOWN,
    )


ADJUST_COMMANDS: Mapping[str, Command] = {"gateway adjust": adjust}
