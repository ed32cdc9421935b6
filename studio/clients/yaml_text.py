"""YAML changed in place, by the places that PyYAML gives of each value. Pure.

What comes out is read again and compared with what was meant: an unusual way of writing is refused
and never damaged.
"""

import json

import yaml

from studio.clients.splices import Json, Splice, Step, broken, odd, spliced, with_value
from studio.domain.errors import BadInput

_UNIT = "  "


def read(text: str) -> Json:
    """Return what a text says; nothing at all is an empty table.

    Raises: BadInput (`client-file-broken`, `client-file-odd`).
    """
    return _plain(_document(text))


def changed(text: str, at: tuple[Step, ...], value: Json) -> str:
    """Return `text` with one value set.

    Raises: BadInput (`client-file-broken`, `client-file-odd`).
    """
    before = read(text)
    wanted = with_value(before, at, value)
    if wanted == before:
        return text
    root = _composed(text)
    if root is None:
        gap = "" if not text or text.endswith("\n") else "\n"
        made = f"{text}{gap}{_dumped(wanted)}\n"
    else:
        made = spliced(text, _splices(text, root, before, wanted))
    try:
        is_right = _plain(_document(made)) == wanted
    except BadInput:
        is_right = False
    if not is_right:
        raise odd("aliases, inline lists or odd indentation stand where something would be put")
    return made


def _document(text: str) -> object:
    try:
        return yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark is not None else 1
        why = str(getattr(error, "problem", None) or "it cannot be read as YAML")
        raise broken(line, why) from error


def _composed(text: str) -> yaml.Node | None:
    node: yaml.Node | None = yaml.compose(text, Loader=yaml.SafeLoader)
    return None if node is None or node.tag == "tag:yaml.org,2002:null" else node


def _plain(document: object) -> Json:
    """Return a document as JSON would say it; dates and the like as text."""
    if isinstance(document, dict):
        return {str(key): _plain(item) for key, item in document.items()}
    if isinstance(document, list | tuple):
        return [_plain(item) for item in document]
    if document is None or isinstance(document, str | int | float):
        return document
    return repr(document)


def _splices(text: str, node: yaml.Node, before: Json, wanted: Json) -> list[Splice]:
    if isinstance(node, yaml.MappingNode) and isinstance(wanted, dict) and node.value:
        assert isinstance(before, dict)
        return _of_table(text, node, before, wanted)
    if isinstance(node, yaml.SequenceNode) and isinstance(wanted, list) and node.value:
        assert isinstance(before, list)
        return _of_list(text, node, before, wanted)
    if isinstance(node, yaml.CollectionNode) and not node.flow_style:
        raise odd("a table or list stands where a single value would be put")
    start, end = node.start_mark.index, node.end_mark.index
    column = _indent(text, start)
    if isinstance(wanted, dict | list) and wanted:
        inner = column + (_UNIT if isinstance(wanted, dict) else "")
        lead = text[:start].rstrip(" ")
        return [Splice(len(lead), end, "\n" + _indented(_dumped(wanted), inner))]
    return [Splice(start, end, _dumped(wanted))]


def _of_table(
    text: str, node: yaml.MappingNode, before: dict[str, Json], wanted: dict[str, Json]
) -> list[Splice]:
    if node.flow_style:
        raise odd("a table is written in braces where something would be put")
    found: list[Splice] = []
    for key, value in node.value:
        name = str(key.value)
        if name in wanted and wanted[name] != before.get(name):
            found += _splices(text, value, before.get(name), wanted[name])
    fresh = {name: item for name, item in wanted.items() if name not in before}
    if fresh:
        column = " " * int(node.start_mark.column)
        found.append(_behind(text, node, _indented(_dumped(fresh), column)))
    return found


def _of_list(
    text: str, node: yaml.SequenceNode, before: list[Json], wanted: list[Json]
) -> list[Splice]:
    if node.flow_style:
        raise odd("a list is written in brackets where something would be put")
    found: list[Splice] = []
    for one, old, item in zip(node.value, before, wanted, strict=False):
        if old != item:
            found += _splices(text, one, old, item)
    fresh = wanted[len(before) :]
    if fresh:
        column = " " * int(node.start_mark.column)
        found.append(_behind(text, node, _indented(_dumped(fresh), column)))
    return found


def _behind(text: str, node: yaml.Node, lines: str) -> Splice:
    """Return what puts lines behind the last value in a node, its comment included."""
    last = node
    while isinstance(last, yaml.CollectionNode) and last.value and not last.flow_style:
        last = last.value[-1][1] if isinstance(last, yaml.MappingNode) else last.value[-1]
    place = int(last.end_mark.index)
    if place and text[place - 1 : place] == "\n":
        return Splice(place, place, f"{lines}\n")
    end = text.find("\n", place)
    if end < 0:
        return Splice(len(text), len(text), f"\n{lines}\n")
    return Splice(end + 1, end + 1, f"{lines}\n")


def _indent(text: str, place: int) -> str:
    line = text[text.rfind("\n", 0, place) + 1 : place]
    return " " * (len(line) - len(line.lstrip(" -")))


def _indented(lines: str, column: str) -> str:
    return "\n".join(column + line for line in lines.split("\n"))


def _dumped(value: Json) -> str:
    """Return a value as block YAML; texts stand in quotes, as JSON has them."""
    if isinstance(value, dict) and value:
        return "\n".join(_entry(f"{_name(key)}:", item) for key, item in value.items())
    if isinstance(value, list) and value:
        return "\n".join(_item(item) for item in value)
    return json.dumps(value, ensure_ascii=False)


def _entry(head: str, value: Json) -> str:
    if isinstance(value, dict | list) and value:
        inner = _indented(_dumped(value), _UNIT)
        return f"{head}\n{inner}"
    return f"{head} {_dumped(value)}"


def _item(value: Json) -> str:
    lines = _indented(_dumped(value), _UNIT)
    return f"- {lines.removeprefix(_UNIT)}"


def _name(key: str) -> str:
    is_plain = key.isascii() and key.isidentifier() and yaml.safe_load(key) == key
    return key if is_plain else json.dumps(key, ensure_ascii=False)
