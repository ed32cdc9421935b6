"""What a key may do, as a form that people fill in: text in, limits or what is wrong out."""

import msgspec

from studio.domain.control import KeyInfo
from studio.domain.keys import KeyLimits
from studio.domain.quantities import whole_number
from studio.ui.language import marked, t
from studio.ui.viewmodels.moments import parsed, year_words
from studio.ui.viewmodels.words import listed, named


class Field(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the form; an empty one limits nothing."""

    id: str
    label: str
    hint: str
    tooltip: str


FIELDS: tuple[Field, ...] = (
    Field(
        id="models",
        label=marked("Models"),
        hint=marked("all; or names, parted by commas"),
        tooltip=marked("Only these models; the list of models shows no others"),
    ),
    Field(
        id="routes",
        label=marked("Routes"),
        hint=marked("all; or openai, anthropic, …"),
        tooltip=marked("A dialect, or the last part of a route such as chat/completions"),
    ),
    Field(
        id="addresses",
        label=marked("From"),
        hint=marked("everywhere; or 192.168.1.0/24"),
        tooltip=marked("Addresses or networks that it may be used from, parted by commas"),
    ),
    Field(
        id="expires_at",
        label=marked("Ends"),
        hint=marked("never; or 30d, or 2027-01-31"),
        tooltip=marked("After a span such as 12h or 30d, or at 00:00 of a day"),
    ),
    Field(
        id="requests_per_minute",
        label=marked("Requests a minute"),
        hint=marked("any number"),
        tooltip=marked("How many requests it may make in any 60 seconds"),
    ),
    Field(
        id="max_concurrent",
        label=marked("At a time"),
        hint=marked("any number"),
        tooltip=marked("How many requests it may have under way"),
    ),
    Field(
        id="tokens_per_day",
        label=marked("Tokens a day"),
        hint=marked("any number; or 2m"),
        tooltip=marked("Prompt and answer together; refused beyond. 2m is 2,000,000"),
    ),
    Field(
        id="warn_tokens_per_day",
        label=marked("Warning from"),
        hint=marked("no warning; or 1m"),
        tooltip=marked("From so many tokens a day answers carry the header x-weir-warning"),
    ),
    Field(
        id="max_context",
        label=marked("Context"),
        hint=marked("as long as the model's; or 32k"),
        tooltip=marked("Tokens of prompt and answer of one request together"),
    ),
)
_LISTS = frozenset({"models", "routes", "addresses"})
_MOST_NAME = 64


class Form(msgspec.Struct, frozen=True, kw_only=True):
    """What stands in the form."""

    name: str = ""
    values: dict[str, str] = {}
    only_running: bool = False
    store: bool = False


class Filled(msgspec.Struct, frozen=True, kw_only=True):
    """What came of it: `problems` by the id of a field; without any, `limits` hold."""

    name: str
    limits: KeyLimits
    problems: dict[str, str]


def read(form: Form) -> Filled:
    """Return what a form says, and what of it cannot be."""
    problems: dict[str, str] = {}
    values: dict[str, object] = {"only_running": True if form.only_running else None}
    for field in FIELDS:
        text = form.values.get(field.id, "").strip()
        if not text:
            continue
        if field.id in _LISTS:
            parts = text.replace("，", ",").split(",")
            values[field.id] = tuple(part.strip() for part in parts if part.strip()) or None
        elif field.id == "expires_at":
            values[field.id] = text
        else:
            number = whole_number(text)
            if number is None or number < 1:
                problems[field.id] = t("A whole number such as 20000 or 32k.")
            values[field.id] = number
    name = form.name.strip()
    if not name:
        problems["name"] = t("Give the key a name first.")
    elif len(name) > _MOST_NAME:
        problems["name"] = t("At most 64 letters.")
    limits = KeyLimits() if problems else msgspec.convert(values, KeyLimits)
    return Filled(name=name, limits=limits, problems=problems)


def form_of(key: KeyInfo) -> Form:
    """Return the form as a key stands now."""
    limits = key.limits
    values: dict[str, str] = {}
    for field in FIELDS:
        value = getattr(limits, field.id)
        if isinstance(value, tuple):
            values[field.id] = ", ".join(value)
        elif value is not None:
            values[field.id] = str(value)
    return Form(name=key.name, values=values, only_running=bool(limits.only_running))


def limit_words(limits: KeyLimits) -> tuple[str, ...]:
    """Return a line for each limit that is set."""
    found = []
    for field in FIELDS:
        value = getattr(limits, field.id)
        if value is None:
            continue
        if isinstance(value, tuple):
            text = listed(value)
        elif isinstance(value, int):
            text = f"{value:,}"
        else:
            text = year_words(parsed(str(value)))
        found.append(named(t(field.label), text))
    if limits.only_running:
        found.append(t("Starts nothing: uses what runs"))
    return tuple(found)
