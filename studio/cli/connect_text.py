"""Chat clients to text, as pure functions."""

import textwrap
from collections.abc import Iterator, Sequence

from studio.cli import connect_words as words
from studio.cli.console import plain
from studio.cli.render import table
from studio.domain.clients import ClientInfo, ClientList, Connected, ConnectPlan, TryPiece, Undone
from studio.domain.units import latency_text, rate_text, tokens_text

_INDENT = "  "


def list_text(found: ClientList, width: int) -> str:
    """Return the clients, those that were found first."""
    lines: list[str] = []
    for heading, is_found in ((words.HEADING_FOUND, True), (words.HEADING_OTHERS, False)):
        some = [one for one in found.clients if one.is_found is is_found]
        if some:
            lines += [f"{heading}:", *_rows(some), ""]
    for note in found.notes:
        lines += [*textwrap.wrap(note, width), ""]
    lines.append(words.SEE_ONE)
    return "\n".join(lines)


def plan_text(plan: ConnectPlan, width: int) -> str:
    """Return what would be done."""
    lines = [plain(f"{plan.client.title}: {plan.client.summary}"), *_facts(plan)]
    if plan.is_written:
        lines += ["", words.ALREADY]
    elif plan.diff:
        lines += ["", *(plain(line) for line in plan.diff.splitlines())]
    lines += _more(plan, width)
    lines.append("")
    if plan.path is not None and not plan.is_written:
        lines.append(words.NEXT_WRITE.format(client=plan.client.id))
    elif plan.path is None:
        lines.append(words.NEXT_HAND.format(client=plan.client.id))
        if plan.client.can_write:
            lines.append(words.NEXT_NAME.format(client=plan.client.id))
    return "\n".join(lines).rstrip("\n")


def connected_text(done: Connected, width: int) -> str:
    """Return what was done, and what is left to do."""
    lines = []
    if done.key_was_made:
        lines.append(plain(words.KEY_MADE.format(name=done.plan.key_name)))
    if done.path is not None:
        form = words.WRITTEN if done.has_changed else words.UNCHANGED
        lines.append(plain(form.format(path=done.path)))
    if done.backup is not None:
        lines.append(plain(words.BACKED_UP.format(backup=done.backup)))
    if done.has_changed:
        lines.append(words.NEXT_UNDO.format(client=done.plan.client.id))
    return "\n".join([*lines, *_more(done.plan, width)])


def undone_text(done: Undone) -> str:
    """Return what was undone."""
    form = words.REMOVED if done.was_removed else words.UNDONE
    lines = [plain(form.format(path=done.path))]
    if done.key_name is not None:
        lines.append(plain(words.KEY_STAYS.format(name=done.key_name)))
    return "\n".join(lines)


def seen_text(piece: TryPiece) -> str:
    """Return what was seen of an answer."""
    return words.SEEN.format(
        ttft=latency_text(piece.ttft_s),
        rate=rate_text(piece.tokens_per_s),
        tokens=tokens_text(piece.tokens),
    )


def _rows(clients: Sequence[ClientInfo]) -> list[str]:
    rows = []
    for one in clients:
        where = one.path or words.BY_HAND
        rows.append((one.id, one.title, words.STATES[one.state], where))
    return [(_INDENT + plain(line)).rstrip() for line in table(rows).splitlines()]


def _facts(plan: ConnectPlan) -> list[str]:
    key = f"`{plan.key_name}`"
    if not plan.key_exists:
        key = words.KEY_MADE_THEN.format(name=plan.key_name)
    pairs = [(words.ADDRESS, plan.base_url), (words.MODEL, plan.model), (words.KEY, key)]
    if plan.path is not None:
        form = "{path}" if plan.exists else words.NO_FILE_YET
        pairs.append((words.FILE, form.format(path=plan.path)))
    pairs.append((words.DOCUMENTED, plan.client.documented))
    return [_INDENT + plain(line) for line in table(pairs).splitlines()]


def _more(plan: ConnectPlan, width: int) -> Iterator[str]:
    if plan.values:
        yield ""
        yield f"{words.HEADING_VALUES}:"
        pairs = [(one.label, one.value) for one in plan.values]
        yield from (_INDENT + plain(line) for line in table(pairs).splitlines())
    if plan.steps:
        yield ""
        yield f"{words.HEADING_STEPS}:"
        for number, step in enumerate(plan.steps, 1):
            yield from textwrap.wrap(
                plain(step),
                width,
                initial_indent=f"{_INDENT}{number}. ",
                subsequent_indent=_INDENT + "   ",
                break_long_words=False,
                break_on_hyphens=False,
            )
    for one in plan.snippets:
        yield ""
        yield f"{one.title}:"
        yield ""
        yield from one.text.splitlines()
    for note in plan.notes:
        yield ""
        yield from textwrap.wrap(plain(note), width, break_long_words=False)
