"""The keys page."""

import enum
import re
from collections.abc import Sequence

import msgspec

from studio.domain.control import KeyInfo
from studio.domain.keys import PromptEntry
from studio.domain.units import bytes_text
from studio.ui.language import marked, t, told
from studio.ui.state import Action, Known, Link, Secret
from studio.ui.viewmodels.dates import instant_text, recent_text
from studio.ui.viewmodels.key_form import limit_words
from studio.ui.viewmodels.words import MAKE_KEY, ButtonView, Text, plural

_CUT = re.compile(r"^\[… [\d,]+ [ a-z]+ …\]$", re.MULTILINE)
"""Stands in a long prompt where its middle was."""


class KeyDeed(enum.StrEnum):
    """What can be done with a key beside revoking it."""

    EDIT = "edit"
    ROTATE = "rotate"
    REVEAL = "reveal"
    CONNECT = "connect"
    RECORD = "record"
    STOP_RECORDING = "stop-recording"
    PROMPTS = "prompts"


class DeedView(msgspec.Struct, frozen=True, kw_only=True):
    """One entry of a key's menu."""

    deed: KeyDeed
    text: str
    tooltip: str
    enabled: bool = True


class KeyRow(msgspec.Struct, frozen=True, kw_only=True):
    """One key; `question` is asked in place before it is revoked."""

    id: str
    name: str
    prefix: Text
    state: Text
    is_recorded: bool
    """Its prompts are kept: a red sign says so."""
    last_used: Text
    requests: Text
    tokens: Text
    revoked: bool
    revoke: ButtonView
    question: str
    deeds: tuple[DeedView, ...]
    rotate_question: str


class KeysView(msgspec.Struct, frozen=True, kw_only=True):
    """The whole page."""

    summary: str
    rows: tuple[KeyRow, ...]
    empty: str
    create: ButtonView


class SecretView(msgspec.Struct, frozen=True, kw_only=True):
    """The card that shows a key once."""

    title: str
    hint: str
    key: str
    base_url: str
    dismiss: str = marked("I have it")


HEADINGS = (
    marked("Name"),
    marked("Key"),
    marked("State"),
    marked("Last used"),
    marked("30 days"),
    marked("Requests"),
    marked("Tokens"),
    "",
)


def keys_view(known: Known, name: str) -> KeysView:
    """Return the page; `name` is what stands in the field for a new key."""
    keys = known.keys or ()
    working = sum(key.revoked_at is None for key in keys)
    live = known.link is Link.LIVE
    said = t("{working} now") if live else t("{working} when the service answers")
    return KeysView(
        summary=said.format(working=plural(working, "key works", "keys work"))
        if known.keys
        else "",
        rows=tuple(_row(key, live=live) for key in _ordered(keys)),
        empty=_empty(known),
        create=_create(known, name),
    )


def secret_view(secret: Secret, base_url: str | None) -> SecretView:
    """Return the shown-once card."""
    name = f" “{secret.name}”" if secret.name else ""
    once = t("Shown once and kept as a hash only: copy it into your chat client now.")
    kept = t("It is kept, and can be shown again. Whoever has it may use this gateway.")
    title = t("Your new key{name}") if secret.is_new else t("Key{name}")
    return SecretView(
        title=title.format(name=name),
        hint=once if secret.is_new else kept,
        key=secret.key,
        base_url=base_url or "",
    )


def state_text(key: KeyInfo, *, live: bool = True) -> Text:
    """Return whether a key works, and how far; without the service none does."""
    limits = "\n".join(limit_words(key.limits))
    if key.revoked_at is not None:
        return Text(text=t("revoked"), tooltip=instant_text(key.revoked_at))
    if key.has_expired:
        return Text(text=t("expired"), tooltip=limits)
    if key.prompts_until is not None:
        until = instant_text(key.prompts_until)
        return Text(
            text=t("prompts are kept"),
            tooltip=t("Until {until} its prompts lie in the Studio's folder.").format(until=until),
        )
    if not live:
        return Text(tooltip="\n".join(filter(None, (t("The service does not answer."), limits))))
    if limits:
        return Text(text=t("works, limited"), tooltip=limits)
    return Text(text=t("works"), tooltip=t("Every model and route, from everywhere, for ever"))


def prompt_words(entries: Sequence[PromptEntry]) -> str:
    """Return the kept prompts as one text."""
    if not entries:
        return t("Nothing was kept yet.")
    return "\n\n".join(
        f"── {instant_text(one.at)} · {one.route} · {bytes_text(one.body_bytes)} · "
        f"{one.request_id}\n{_CUT.sub(lambda cut: told(cut[0]), one.body)}"
        for one in entries
    )


def _ordered(keys: tuple[KeyInfo, ...]) -> list[KeyInfo]:
    return sorted(keys, key=lambda key: (key.revoked_at is not None, key.created_at))


def _row(key: KeyInfo, *, live: bool) -> KeyRow:
    revoked = key.revoked_at is not None
    never = t("No client has used this key yet.") if key.last_used_at is None else ""
    made = t("Made {when}").format(when=instant_text(key.created_at))
    address = f" · {key.last_address}" if key.last_address else ""
    return KeyRow(
        id=key.id,
        name=key.name,
        prefix=Text(text=f"{key.prefix}…", tooltip=made),
        state=state_text(key, live=live),
        is_recorded=key.prompts_until is not None and not revoked,
        last_used=Text(
            text=recent_text(key.last_used_at),
            tooltip=never or f"{instant_text(key.last_used_at)}{address}",
        ),
        requests=Text(
            text=f"{key.requests:,}",
            tooltip=plural(key.errors, "request failed", "requests failed"),
        ),
        tokens=Text(
            text=f"{key.prompt_tokens + key.generated_tokens:,}",
            tooltip=t("{prompt} of prompts, {cached} of them reused; {generated} generated").format(
                prompt=f"{key.prompt_tokens:,}",
                cached=f"{key.cached_tokens:,}",
                generated=f"{key.generated_tokens:,}",
            ),
        ),
        revoked=revoked,
        revoke=ButtonView(
            text=t("Revoked") if revoked else t("Revoke"),
            enabled=live and not revoked,
            tooltip=t("Revoked {revoked_at}").format(revoked_at=instant_text(key.revoked_at))
            if revoked
            else "",
        ),
        question=t("Clients that use “{name}” are refused from then on. Revoke it?").format(
            name=key.name
        ),
        deeds=_deeds(key, live=live and not revoked),
        rotate_question=t(
            "“{name}” gets a new secret, and its clients need it. Name, limits and use stay."
        ).format(name=key.name),
    )


def _deeds(key: KeyInfo, *, live: bool) -> tuple[DeedView, ...]:
    """Return the entries of a key's menu."""
    kept = key.stored is not None
    not_kept = t("Only a key that was made to be kept can be shown again")
    recorded = key.prompts_until is not None
    record = DeedView(
        deed=KeyDeed.STOP_RECORDING if recorded else KeyDeed.RECORD,
        text=t("Stop keeping its prompts") if recorded else t("Keep its prompts for an hour"),
        tooltip=t("To find a mistake of a client; anybody with this machine could read them"),
        enabled=live,
    )
    return (
        DeedView(
            deed=KeyDeed.EDIT,
            text=t("Change…"),
            tooltip=t("Its name, and what it may do"),
            enabled=live,
        ),
        DeedView(
            deed=KeyDeed.CONNECT,
            text=t("Put into a client…"),
            tooltip=t("Set a chat client up with this key") if kept else not_kept,
            enabled=live and kept,
        ),
        DeedView(
            deed=KeyDeed.REVEAL,
            text=t("Show it again"),
            tooltip=t("It is kept in your keyring, or in a file of yours") if kept else not_kept,
            enabled=live and kept,
        ),
        DeedView(
            deed=KeyDeed.ROTATE,
            text=t("New secret…"),
            tooltip=t("The old one works no longer; name, limits and use stay"),
            enabled=live,
        ),
        record,
        DeedView(
            deed=KeyDeed.PROMPTS,
            text=t("Show kept prompts…"),
            tooltip=t("What was kept while it was on"),
        ),
    )


def _empty(known: Known) -> str:
    if known.keys is None:
        return t("The keys appear when the service answers.")
    if not known.keys:
        return t("There is no key yet. Name one above and make it: each chat client gets its own.")
    return ""


def _create(known: Known, name: str) -> ButtonView:
    if known.link is not Link.LIVE:
        return ButtonView(
            text=t(MAKE_KEY), enabled=False, tooltip=t("The service does not answer yet.")
        )
    if not name.strip():
        return ButtonView(text=t(MAKE_KEY), enabled=False, tooltip=t("Give the key a name first."))
    busy = Action.CREATE_KEY in known.pending
    return ButtonView(text=t(MAKE_KEY), enabled=not busy, tooltip=t("Make it and show it once"))
