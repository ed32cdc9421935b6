"""Changes to the text of a preset's file that keep its comments. Pure.

Every change is checked by reading the result again: where it is not what was meant, nothing is
changed and the person is told to edit the file.
"""

import json
import re
import tomllib
from collections.abc import Mapping
from typing import Any

from studio.domain.errors import BadInput
from studio.domain.rules import Value

_EXAMPLE = "the one whose path `weir presets show cpu-demo` names"
_LINE = re.compile(r"\(at line (\d+), column \d+\)")
_HEADER = re.compile(r"^\s*\[", re.MULTILINE)
_VALUES = re.compile(r"^\[values\][ \t]*(?:#.*)?$", re.MULTILINE)
_SECRET_NAME = re.compile(r"(?:^|_)(?:api_?key|token|secret|password)$", re.IGNORECASE)
_SECRET_FLAG = re.compile(r"^--(?:api-key|hf-token)(?:=|$)")
_SECRET_VALUE = re.compile(r"\b(?:sk-[A-Za-z0-9_-]{12,}|hf_[A-Za-z0-9]{16,}|ms-[0-9a-f-]{32,})")


def parse(text: str, where: str) -> dict[str, Any]:
    """Return a TOML text's content. Raises: BadInput (`document-invalid`)."""
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise BadInput(
            "document-invalid",
            f"{_with_line_of(error, text, where)}: it is not valid TOML: {error}.",
            hint=_hint_about(text),
        ) from error


def _with_line_of(error: Exception, text: str, where: str) -> str:
    """Return a file with the line that an error names; the end of a text is its last line."""
    found = _LINE.search(str(error))
    if found is not None:
        return f"{where}, line {found[1]}"
    is_at_end = isinstance(error, tomllib.TOMLDecodeError)
    return f"{where}, line {max(1, len(text.splitlines()))}" if is_at_end else where


def _hint_about(text: str) -> str:
    if text.lstrip()[:1] in ("{", "<"):
        kind = "JSON" if text.lstrip().startswith("{") else "a page of the web"
        return f"This looks like {kind}; a preset is a TOML file, as {_EXAMPLE}."
    return f"Correct that line; a preset looks like {_EXAMPLE}."


def renamed(text: str, preset_id: str, title: str | None, origin: Mapping[str, str]) -> str:
    """Return the text of a copy: its id, its title, and what it came from at the end."""
    wanted = parse(text, "the original")
    made = _with_line(text, "id", preset_id)
    wanted["id"] = preset_id
    if title is not None:
        made = _with_line(made, "title", title)
        wanted["title"] = title
    made = _without_origin(made)
    wanted["origin"] = dict(origin)
    lines = [f"{key} = {literal(value)}" for key, value in origin.items()]
    made = f"{made.rstrip()}\n\n[origin]\n" + "\n".join(lines) + "\n"
    return _checked(made, wanted)


def with_id(text: str, preset_id: str) -> str:
    """Return the text under another id."""
    return _checked(
        _with_line(text, "id", preset_id), {**parse(text, "the preset"), "id": preset_id}
    )


def with_title(text: str, title: str) -> str:
    """Return the text under another title."""
    return _checked(_with_line(text, "title", title), {**parse(text, "the preset"), "title": title})


def with_values(text: str, values: Mapping[str, Value]) -> str:
    """Return the text with these defaults of knobs in its `[values]`."""
    wanted = parse(text, "the preset")
    wanted["values"] = {**wanted.get("values", {}), **values}
    made = text
    for name, value in values.items():
        made = _with_value(made, name, literal(value))
    return _checked(made, wanted)


def literal(value: Value) -> str:
    """Return a value as TOML spells it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return repr(value)


def secret_in(document: object, place: str = "") -> str | None:
    """Return the place of a literal secret in a document, or None."""
    if isinstance(document, Mapping):
        for key, one in document.items():
            here = f"{place}.{key}" if place else str(key)
            is_text = isinstance(one, str | list) and bool(one)
            if is_text and _SECRET_NAME.search(str(key)):
                return here
            found = secret_in(one, here)
            if found is not None:
                return found
        return None
    if isinstance(document, list):
        found_in = (secret_in(one, f"{place}[{index}]") for index, one in enumerate(document))
        return next((one for one in found_in if one is not None), None)
    is_secret = isinstance(document, str) and (
        _SECRET_FLAG.search(document) or _SECRET_VALUE.search(document)
    )
    return place if is_secret else None


def require_no_secret(document: object, where: str) -> None:
    """Raise when a document holds a literal secret. Raises: BadInput (`preset-secret`)."""
    found = secret_in(document)
    if found is not None:
        raise BadInput(
            "preset-secret",
            f"{where}: `{found}` holds a key in plain text; presets are copied and passed on.",
            hint="Leave it out. The Studio makes the engine's key itself; `weir keys create` makes "
            "those of clients.",
        )


def require_no_secret_line(text: str, where: str) -> None:
    """Raise when a line looks like it holds a key, comments too: they are copied with the rest.

    Raises: BadInput (`preset-secret`).
    """
    for number, line in enumerate(text.splitlines(), 1):
        if _SECRET_VALUE.search(line):
            raise BadInput(
                "preset-secret",
                f"{where}, line {number}: this looks like a key in plain text; presets are copied "
                "and passed on.",
                hint="Take it out of the file, comments included.",
            )


def _checked(text: str, wanted: dict[str, Any]) -> str:
    try:
        is_meant = tomllib.loads(text) == wanted
    except tomllib.TOMLDecodeError:
        is_meant = False
    if not is_meant:
        raise BadInput(
            "preset-not-editable",
            "The file is written in a way that cannot be changed line by line.",
            hint="Change it in an editor: `weir presets edit ID`.",
        )
    return text


def _with_line(text: str, key: str, value: str) -> str:
    header = _HEADER.search(text)
    end = header.start() if header is not None else len(text)
    pattern = re.compile(rf"^{key}[ \t]*=.*$", re.MULTILINE)
    head = pattern.sub(lambda _: f"{key} = {literal(value)}", text[:end], count=1)
    return head + text[end:]


def _without_origin(text: str) -> str:
    """Return the text without its own `[origin]` table: a copy of a copy has one origin."""
    start = re.search(r"^\[origin\]", text, re.MULTILINE)
    if start is None:
        return text
    following = _HEADER.search(text, start.end())
    return text[: start.start()] + (text[following.start() :] if following is not None else "")


def _with_value(text: str, name: str, spelled: str) -> str:
    line = f"{name} = {spelled}"
    header = _VALUES.search(text)
    if header is None:
        return f"{text.rstrip()}\n\n[values]\n{line}\n"
    following = _HEADER.search(text, header.end())
    end = following.start() if following is not None else len(text)
    inside = text[header.end() : end]
    pattern = re.compile(rf"^[ \t]*{re.escape(name)}[ \t]*=.*$", re.MULTILINE)
    if pattern.search(inside):
        inside = pattern.sub(lambda _: line, inside, count=1)
    else:
        kept = inside.rstrip()
        inside = f"{kept}\n{line}{inside[len(kept) :] or chr(10)}"
    return text[: header.end()] + inside + text[end:]
