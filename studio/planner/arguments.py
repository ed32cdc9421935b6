"""Settings typed with vLLM's own argument names, as values: checked for name and kind. Pure."""

import difflib
import json
from collections.abc import Mapping

from studio.domain.errors import BadInput
from studio.domain.manifests import Document
from studio.domain.quantities import whole_number

_SHOWN_LENGTH = 100
_YES = ("1", "true", "yes", "on")
_NO = ("0", "false", "no", "off")
_AUTO = {"max_model_len": {"auto": -1}}


Number = int | float
"""Named out here: the record has fields that are called as the types are."""


class Arguments(Document, frozen=True, kw_only=True):
    """`runtimes/arguments.toml`: names of the engine's arguments by the kind of their value."""

    schema_version: int
    source: str
    bool: tuple[str, ...]
    int: tuple[str, ...]
    float: tuple[str, ...]
    json: tuple[str, ...]
    text: tuple[str, ...]
    extra_int: tuple[str, ...]
    """Of other versions and of patched engines."""
    extra_text: tuple[str, ...]
    aliases: dict[str, str]
    """Short forms and older names, to the full name."""
    least: dict[str, Number]
    most: dict[str, Number]

    def kinds(self) -> dict[str, str]:
        """Return every name with its kind."""
        found = {}
        for kind in ("text", "json", "float", "int", "bool"):
            found.update(dict.fromkeys(getattr(self, kind), kind))
        found.update(dict.fromkeys(self.extra_int, "int"))
        found.update(dict.fromkeys(self.extra_text, "text"))
        return found


def read(texts: Mapping[str, str], known: Arguments) -> dict[str, object]:
    """Return the values of `texts`, names and kinds checked; short forms become the full name.

    Raises: BadInput (`knob-unknown`, `knob-value`, `knob-twice`).
    """
    kinds = known.kinds()
    values: dict[str, object] = {}
    for typed, text in texts.items():
        name = _full_name(typed, kinds, known.aliases)
        if name in values:
            raise BadInput(
                "knob-twice",
                f"`{name}` is set twice: `{typed}` is another name of it.",
                hint="Leave one of them out.",
            )
        values[name] = _within(name, _value(name, text, kinds[name]), known)
    return values


def _full_name(typed: str, kinds: Mapping[str, str], aliases: Mapping[str, str]) -> str:
    name = typed.strip().lstrip("-").replace("-", "_")
    if name in kinds:
        return name
    if name in aliases:
        return aliases[name]
    begun = [one for one in kinds if one.startswith(name)]
    if len(begun) == 1:  # the engine takes unambiguous beginnings too
        return begun[0]
    close = difflib.get_close_matches(name, [*kinds, *aliases], n=1)
    raise BadInput(
        "knob-unknown",
        f"The engine has no argument `{_shown(typed)}`.",
        hint=f"Did you mean `{aliases.get(close[0], close[0])}`?"
        if close
        else "Names are those of `vllm serve --help=all`, with underscores.",
    )


def _value(name: str, text: str, kind: str) -> object:
    if text in _AUTO.get(name, {}):
        return _AUTO[name][text]
    value: object = None
    match kind:
        case "bool":
            value, expected = _flag(text), "`true` or `false`"
        case "int":
            value, expected = whole_number(text), "a whole number"
        case "float":
            value, expected = _number(text), "a number"
        case "json":
            value, expected = _document(text), 'JSON, for example `{"method": "mtp"}`'
        case _:
            value, expected = text, "a text"
    if value is None:
        raise BadInput("knob-value", f"`{name}` should be {expected}, found `{_shown(text)}`.")
    return value


def _within(name: str, value: object, known: Arguments) -> object:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    least, most = known.least.get(name), known.most.get(name)
    if least is not None and value < least:
        raise BadInput("knob-value", f"`{name}` should be at least {least:g}, found `{value}`.")
    if most is not None and value > most:
        raise BadInput("knob-value", f"`{name}` should be at most {most:g}, found `{value}`.")
    return value


def _flag(text: str) -> bool | None:
    word = text.strip().lower()
    if word in _YES:
        return True
    return False if word in _NO else None


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if abs(number) < float("inf") else None


def _document(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _shown(text: str) -> str:
    return text if len(text) <= _SHOWN_LENGTH else f"{text[:_SHOWN_LENGTH]}…"
