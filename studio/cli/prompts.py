"""`weir keys prompts`: keep the prompts of one key for a while, with a red sign."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from studio.cli import prompt_words as words
from studio.cli.arguments import Invocation
from studio.cli.console import Console, plain
from studio.cli.keys import chosen_or_revoked
from studio.cli.reach import Command, running_or_offline
from studio.cli.render import count_text, moment_text
from studio.domain.keys import PromptEntry, PromptLogState
from studio.domain.units import bytes_text

if TYPE_CHECKING:
    from studio.cli.reach import Connector

DEFAULT_S = 3_600
SHOWN = 20


async def prompts(call: Invocation, connector: "Connector", console: Console) -> int:
    """Switch it, show what was kept, or delete that."""
    client = await running_or_offline(connector)
    try:
        key = chosen_or_revoked(await client.keys(), call.name)
        if call.other == "show":
            entries = await client.prompts(key.id, lines=call.lines or SHOWN)
            _show(entries, key.name, call, console)
            return 0
        match call.other:
            case "on":
                state = await client.log_prompts(key.id, call.seconds or DEFAULT_S)
            case "off":
                state = await client.log_prompts(key.id, 0)
            case "clear":
                state = await client.clear_prompts(key.id)
            case _:
                state = await client.prompt_log(key.id)
    finally:
        await client.close()
    if call.json:
        console.document(state)
        return 0
    if call.other == "clear":
        console.say(words.CLEARED.format(key=state.key))
    else:
        console.say(state_text(state))  # with the sign where they are kept
    if call.other == "on":
        console.note(words.ON_NOTE)
    return 0


def state_text(state: PromptLogState) -> str:
    """Return whether prompts are kept, and what lies there."""
    lines = []
    if state.until is None:
        lines.append(words.NOT_KEPT.format(key=state.key))
    else:
        lines.append(_kept(state, words.SIGN))
    if state.folder is None or not state.kept:
        lines.append(words.NONE_THERE)
    else:
        lines.append(
            words.LIE_THERE.format(
                prompts=_prompts(state.kept),
                folder=state.folder,
                size=bytes_text(state.bytes),
                key=state.key,
            )
        )
    return "\n".join(lines)


def _prompts(count: int) -> str:
    return words.ONE_LIES if count == 1 else words.MANY_LIE.format(count=count_text(count))


def warn(states: Iterable[PromptLogState], console: Console) -> None:
    """Put up the red sign for each key whose prompts are kept."""
    for state in states:
        if state.until is not None:
            console.note(console.styled(_kept(state, words.SIGN), "bad"))


def entry_text(entry: PromptEntry) -> str:
    """Return one prompt with its head."""
    head = words.HEAD.format(
        at=moment_text(entry.at),
        route=entry.route,
        bytes=bytes_text(entry.body_bytes),
        request=entry.request_id,
    )
    return f"{head}\n{plain(entry.body)}"


def _kept(state: PromptLogState, sign: str) -> str:
    return words.KEPT.format(sign=sign, key=state.key, until=moment_text(state.until or ""))


def _show(entries: list[PromptEntry], key: str, call: Invocation, console: Console) -> None:
    if call.json:
        console.document(entries)
    elif not entries:
        console.say(words.NOTHING.format(key=key))
    else:
        console.say("\n\n".join(entry_text(one) for one in entries))


PROMPT_COMMANDS: Mapping[str, Command] = {"keys prompts": prompts}
