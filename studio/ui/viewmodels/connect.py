"""The page that points chat clients at the gateway, and the panel that tries it."""

import enum
from collections.abc import Iterable

import msgspec

from studio.domain.clients import (
    ClientInfo,
    ClientList,
    ClientState,
    Connected,
    ConnectPlan,
    Labelled,
    Snippet,
    TryPiece,
    Undone,
)
from studio.domain.control import KeyInfo
from studio.domain.errors import ErrorInfo
from studio.domain.units import latency_text, rate_text, tokens_text
from studio.ui.language import marked, t, told
from studio.ui.viewmodels.words import ButtonView, Role, Shape, Text

NEW_KEY = "new"


class TryState(enum.StrEnum):
    """How far one answer is."""

    IDLE = "idle"
    ASKED = "asked"
    STREAMS = "streams"
    DONE = "done"


class ChoiceView(msgspec.Struct, frozen=True, kw_only=True):
    """A client in the list."""

    id: str
    text: str
    tooltip: str
    spoken: str
    is_found: bool


class SignView(msgspec.Struct, frozen=True, kw_only=True):
    """How a client stands, with a sign that needs no colour."""

    text: str
    shape: Shape
    role: Role


class KeyChoice(msgspec.Struct, frozen=True, kw_only=True):
    """A key that may be put into a client; `value` as the service takes it."""

    value: str | None
    text: str


class ConnectView(msgspec.Struct, frozen=True, kw_only=True):
    """The client in front."""

    title: str
    summary: str
    sign: SignView
    facts: tuple[tuple[str, Text], ...]
    diff: str
    diff_title: str
    values: tuple[Labelled, ...]
    steps: tuple[str, ...]
    snippets: tuple[Snippet, ...]
    notes: tuple[str, ...]
    write: ButtonView
    undo: ButtonView
    file: ButtonView
    copy: str
    done: str
    """What was just done."""


class TryView(msgspec.Struct, frozen=True, kw_only=True):
    """The panel that streams one answer."""

    answer: str
    is_quiet: bool
    """It is no answer but what to do."""
    seen: str
    tooltip: str
    ask: ButtonView
    stop: ButtonView


_STATES: dict[ClientState, tuple[str, Shape, Role]] = {
    ClientState.CONNECTED: (marked("Connected"), Shape.TICK, Role.OK),
    ClientState.CHANGED: (marked("Changed since it was written"), Shape.TRIANGLE, Role.WARN),
    ClientState.UNTOUCHED: (marked("Not connected"), Shape.RING, Role.QUIET),
}


def is_masked(value: str) -> bool:
    """Tell whether a key is only hinted at, so that copying it would mislead."""
    return value.endswith("…")


def choices(found: ClientList | None) -> tuple[ChoiceView, ...]:
    """Return the list, those found on this machine first."""
    return tuple(_choice(one) for one in (found.clients if found is not None else ()))


def group_words() -> tuple[str, str]:
    """Return the headings of the list: found here, and the others."""
    return t("Found here"), t("Not found here")


def first_choice(found: ClientList, chosen: str | None) -> str | None:
    """Return the client to show: the chosen one while it is there, else the first."""
    ids = [one.id for one in found.clients]
    if chosen in ids:
        return chosen
    return ids[0] if ids else None


def is_too_early(error: ErrorInfo | None) -> bool:
    """Tell whether nothing is wrong but that nothing was served yet."""
    return error is not None and error.code == "client-model-unknown"


def empty_words(error: ErrorInfo | None, *, is_live: bool) -> str:
    """Return what stands in a client's place while there is no plan for it."""
    if is_too_early(error):
        return t(
            "Start a preset on the Serve page first: its model is what the client will ask for."
        )
    if error is not None:
        return ""
    if not is_live:
        return t("The chat clients appear when the service answers.")
    return t("Looking which chat clients are on this machine.")


def key_choices(plan: ConnectPlan | None, keys: Iterable[KeyInfo]) -> tuple[KeyChoice, ...]:
    """Return the keys to choose from: the client's own, another new one, those that are kept."""
    if plan is None:
        return ()
    own = told(plan.client.title)
    kept = [
        one.name
        for one in keys
        if one.stored is not None and one.revoked_at is None and not one.has_expired
    ]
    first = t("Key “{name}”") if own in kept else t("Key “{name}”, made when needed")
    others = [KeyChoice(value=name, text=name) for name in kept if name != own]
    return (
        KeyChoice(value=None, text=first.format(name=own)),
        *others,
        KeyChoice(value=NEW_KEY, text=t("Make another key")),
    )


def connect_view(
    plan: ConnectPlan, done: Connected | Undone | None, *, is_busy: bool, is_live: bool
) -> ConnectView:
    """Return the client in front; `done` is what was just done to it."""
    connected = done if isinstance(done, Connected) else None
    can = is_live and not is_busy
    shown = connected.plan if connected is not None else plan
    word, shape, role = _STATES[plan.client.state]
    return ConnectView(
        title=told(plan.client.title),
        summary=told(plan.client.summary),
        sign=SignView(text=t(word) if plan.client.can_write else "", shape=shape, role=role),
        facts=_facts(plan),
        diff="" if connected is not None else plan.diff,
        diff_title=_diff_title(plan, connected),
        values=shown.values,
        steps=tuple(told(one) for one in shown.steps),
        snippets=tuple(
            msgspec.structs.replace(one, title=told(one.title)) for one in shown.snippets
        ),
        notes=tuple(told(one) for one in shown.notes),
        write=_write(plan, connected, can=can),
        undo=ButtonView(
            text=t("Undo"),
            visible=plan.client.state is not ClientState.UNTOUCHED,
            enabled=can and plan.client.state is ClientState.CONNECTED,
            tooltip=_undo_tooltip(plan.client),
        ),
        file=ButtonView(
            text=t("Another file…") if plan.path is not None else t("Name its file…"),
            visible=plan.client.can_write and plan.client.state is ClientState.UNTOUCHED,
            enabled=can,
        ),
        copy=_copied(shown),
        done=_done(done),
    )


def try_view(state: TryState, pieces: tuple[TryPiece, ...], *, is_serving: bool) -> TryView:
    """Return the panel; the figures are those that this window saw itself."""
    text = "".join(one.text for one in pieces if not one.is_thought)
    thinks = not text and any(one.is_thought for one in pieces)
    if state is TryState.ASKED:
        text, is_quiet = t("Waiting for the first token."), True
    elif thinks and state is TryState.STREAMS:
        text, is_quiet = t("Thinking."), True
    elif not text:
        words = t("Ask something short, and see how fast the answer comes. Nothing is kept of it.")
        text, is_quiet = words if state is TryState.IDLE else t("The answer is empty."), True
    else:
        is_quiet = False
    runs = state in (TryState.ASKED, TryState.STREAMS)
    return TryView(
        answer=text,
        is_quiet=is_quiet,
        seen=_seen(pieces),
        tooltip=t("Measured by this window, from the request to each piece of the answer."),
        ask=ButtonView(
            text=t("Ask"),
            enabled=not runs and is_serving,
            tooltip="" if is_serving else t("Start a preset on the Serve page first."),
        ),
        stop=ButtonView(text=t("Stop"), enabled=runs, visible=runs),
    )


def _copied(plan: ConnectPlan) -> str:
    values = [one for one in plan.values if not is_masked(one.value)]
    return "\n".join(f"{one.label}: {one.value}" for one in values) or plan.diff


def _choice(one: ClientInfo) -> ChoiceView:
    marks = {ClientState.CONNECTED: " ✓", ClientState.CHANGED: " !"}
    title, word = told(one.title), t(_STATES[one.state][0])
    where = one.found_by or (one.path if one.can_write else None) or told(one.summary)
    return ChoiceView(
        id=one.id,
        text=title + marks.get(one.state, ""),
        tooltip=where,
        spoken=f"{title}, {word}" if one.can_write else title,
        is_found=one.is_found,
    )


def _facts(plan: ConnectPlan) -> tuple[tuple[str, Text], ...]:
    facts = [
        (t("Address"), Text(text=plan.base_url)),
        (t("Model"), Text(text=plan.model)),
    ]
    if plan.path is not None:
        missing = t("There is none yet; it will be made.")
        facts.append((t("File"), Text(text=plan.path, tooltip="" if plan.exists else missing)))
    versions = t("Read for: {versions}").format(versions=plan.client.versions)
    facts.append((t("Documented"), Text(text=plan.client.documented, tooltip=versions)))
    return tuple(facts)


def _diff_title(plan: ConnectPlan, connected: Connected | None) -> str:
    if connected is not None or plan.path is None:
        return ""
    return t("The file already says all of this.") if plan.is_written else t("What changes")


def _write(plan: ConnectPlan, connected: Connected | None, *, can: bool) -> ButtonView:
    if plan.path is not None:
        return ButtonView(
            text=t("Write the file"),
            enabled=can and not plan.is_written and connected is None,
            tooltip=t("A backup is kept beside it."),
        )
    text = t("Show the key") if plan.key_exists else t("Make the key and show it")
    return ButtonView(text=text, enabled=can and connected is None)


def _undo_tooltip(client: ClientInfo) -> str:
    if client.state is ClientState.CHANGED:
        return t("The file was changed since; it is not put back, so that nothing is lost.")
    return t("Put the file back as it was, to the byte.")


def _done(done: Connected | Undone | None) -> str:
    if isinstance(done, Undone):
        form = t("{path} is gone: there had been none.")
        return (form if done.was_removed else t("{path} is as it was.")).format(path=done.path)
    if done is None:
        return ""
    if done.path is None:
        return t("The values below hold the key “{name}”.").format(name=done.plan.key_name)
    if not done.has_changed:
        return t("The file already says all of this.")
    if done.backup is None:
        return t("Written: {path}").format(path=done.path)
    return t("Written: {path}. As it was, it lies in {backup}.").format(
        path=done.path, backup=done.backup
    )


def _seen(pieces: tuple[TryPiece, ...]) -> str:
    if not pieces:
        return ""
    last = pieces[-1]
    return t("seen here: first token {ttft} · {rate} · {tokens}").format(
        ttft=latency_text(last.ttft_s),
        rate=rate_text(last.tokens_per_s),
        tokens=tokens_text(last.tokens),
    )
