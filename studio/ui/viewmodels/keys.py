"""The keys page."""

import datetime

import msgspec

from studio.domain.control import KeyInfo
from studio.domain.units import UNKNOWN
from studio.ui.language import marked, t
from studio.ui.state import Action, Known, Link, Secret
from studio.ui.viewmodels.words import MAKE_KEY, ButtonView, Text, plural


class KeyRow(msgspec.Struct, frozen=True, kw_only=True):
    """One key; `question` is asked in place before it is revoked."""

    id: str
    name: str
    prefix: str
    created: Text
    last_used: Text
    requests: Text
    tokens: Text
    revoked: bool
    revoke: ButtonView
    question: str


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
    marked("Made"),
    marked("Last used"),
    marked("Requests"),
    marked("Tokens in · reused · out"),
    "",
)

# Not strftime's %b: that follows the process's locale, and these words are English.
_MONTHS = "JanFebMarAprMayJunJulAugSepOctNovDec"


def keys_view(known: Known, name: str) -> KeysView:
    """Return the page; `name` is what stands in the field for a new key."""
    keys = known.keys or ()
    working = sum(key.revoked_at is None for key in keys)
    live = known.link is Link.LIVE
    return KeysView(
        summary=t("{working} now").format(working=plural(working, "key works", "keys work"))
        if known.keys
        else "",
        rows=tuple(_row(key, live=live) for key in _ordered(keys)),
        empty=_empty(known),
        create=_create(known, name),
    )


def secret_view(secret: Secret, base_url: str | None) -> SecretView:
    """Return the shown-once card."""
    name = f" “{secret.name}”" if secret.name else ""
    return SecretView(
        title=t("Your new key{name}").format(name=name),
        hint=t("Shown once and kept as a hash only: copy it into your chat client now."),
        key=secret.key,
        base_url=base_url or "",
    )


def day_text(iso: str | None) -> str:
    """Return an ISO 8601 instant as `29 Nov 2026` in local time."""
    local = _local(iso)
    return UNKNOWN if local is None else f"{local.day} {_month(local)} {local.year}"


def instant_text(iso: str | None) -> str:
    """Return an ISO 8601 instant as `29 Nov 2026, 15:24` in local time."""
    local = _local(iso)
    return UNKNOWN if local is None else f"{day_text(iso)}, {local:%H:%M}"


def _recent_text(iso: str | None) -> str:
    local = _local(iso)
    return UNKNOWN if local is None else f"{local.day} {_month(local)}, {local:%H:%M}"


def _local(iso: str | None) -> datetime.datetime | None:
    try:
        instant = datetime.datetime.fromisoformat(iso or "")
    except ValueError:
        return None
    return instant.astimezone() if instant.tzinfo else instant


def _month(instant: datetime.datetime) -> str:
    return _MONTHS[3 * instant.month - 3 : 3 * instant.month]


def _ordered(keys: tuple[KeyInfo, ...]) -> list[KeyInfo]:
    return sorted(keys, key=lambda key: (key.revoked_at is not None, key.created_at))


def _row(key: KeyInfo, *, live: bool) -> KeyRow:
    revoked = key.revoked_at is not None
    never = t("No client has used this key yet.") if key.last_used_at is None else ""
    errors = plural(key.errors, "request failed", "requests failed")
    return KeyRow(
        id=key.id,
        name=key.name,
        prefix=f"{key.prefix}…",
        created=Text(text=day_text(key.created_at), tooltip=instant_text(key.created_at)),
        last_used=Text(
            text=_recent_text(key.last_used_at),
            tooltip=never or instant_text(key.last_used_at),
        ),
        requests=Text(text=f"{key.requests:,}", tooltip=errors),
        tokens=Text(
            text=f"{key.prompt_tokens:,} · {key.cached_tokens:,} · {key.generated_tokens:,}",
            tooltip=t("Prompt tokens, prompt tokens reused from the cache, generated tokens"),
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
