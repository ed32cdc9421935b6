"""TOML changed in place: statements are found by their places, all else stays to the byte. Pure.

What comes out is read again by the standard library and compared with what was meant, so that an
unusual way of writing is refused and never damaged.
"""

import json
import re
import tomllib
from collections.abc import Iterator
from typing import NamedTuple

from studio.clients.splices import Json, Splice, Step, broken, odd, spliced, with_value

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_PART = re.compile(r"""\s*(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([A-Za-z0-9_-]+))\s*(\.?)""")
_LINE = re.compile(r"at line (\d+)")
_SKIPPED = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'|#[^\n]*', re.DOTALL
)


class _Statement(NamedTuple):
    """A header, or a key with its value."""

    start: int
    end: int
    table: tuple[str, ...]
    key: tuple[str, ...]
    """Empty: a header."""
    value_start: int


def read(text: str) -> Json:
    """Return what a text says. Raises: BadInput (`client-file-broken`)."""
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        found = _LINE.search(str(error))
        why = str(error).split(" (at ")[0]
        line = int(found[1]) if found else text.count("\n") + 1
        raise broken(line, why[:1].lower() + why[1:]) from error


def changed(text: str, at: tuple[Step, ...], value: Json) -> str:
    """Return `text` with one value set; a table is set key by key.

    Raises: BadInput (`client-file-broken`, `client-file-odd`).
    """
    before = read(text)
    wanted = with_value(before, at, value)
    if wanted == before:
        return text
    path = tuple(step for step in at if isinstance(step, str))
    if len(path) != len(at):
        raise odd("lists of tables in TOML are not changed here")
    made = text
    for place, leaf in _leaves(path, value):
        made = _set(made, place, leaf)
    if _says(made) != wanted:
        raise odd(f"`{'.'.join(path)}` stands in an inline table, or under dotted names")
    return made


def _says(text: str) -> Json:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None


def _leaves(path: tuple[str, ...], value: Json) -> Iterator[tuple[tuple[str, ...], Json]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _leaves((*path, key), item)
    else:
        yield path, value


def _set(text: str, path: tuple[str, ...], value: Json) -> str:
    statements = list(_statements(text))
    table, key = path[:-1], path[-1]
    mine = [one for one in statements if one.table == table]
    for one in mine:
        if one.key == (key,):
            return spliced(text, [Splice(one.value_start, one.end, _dumped(value))])
    line = f"{_name(key)} = {_dumped(value)}"
    if mine:
        return spliced(text, [_behind(text, mine[-1].end, line)])
    headers = [one for one in statements if not one.key]
    if table:
        gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
        head = f"[{'.'.join(_name(part) for part in table)}]"
        return spliced(text, [Splice(len(text), len(text), f"{gap}{head}\n{line}\n")])
    if headers:
        start = headers[0].start
        return spliced(text, [Splice(start, start, f"{line}\n\n")])
    gap = "" if not text or text.endswith("\n") else "\n"
    return spliced(text, [Splice(len(text), len(text), f"{gap}{line}\n")])


def _behind(text: str, place: int, line: str) -> Splice:
    """Return what puts a line behind the one that ends a statement, its comment included."""
    end = text.find("\n", place)
    if end < 0:
        return Splice(len(text), len(text), f"\n{line}\n")
    return Splice(end + 1, end + 1, f"{line}\n")


def _statements(text: str) -> Iterator[_Statement]:
    """Yield the statements of a text that is valid."""
    table: tuple[str, ...] = ()
    at = 0
    while at < len(text):
        if text[at] in " \t\r\n":
            at += 1
        elif text[at] == "#":
            at = _line_end(text, at)
        elif text[at] == "[":
            is_list = text.startswith("[[", at)
            names, inside = _names(text, at + (2 if is_list else 1))
            end = text.index("]", inside) + (2 if is_list else 1)
            # The tables of a list have places that no setting of ours names.
            table = (*names, "[]") if is_list else names
            yield _Statement(at, end, table, (), end)
            at = end
        else:
            key, behind = _names(text, at)
            value_start = behind + 1
            while text[value_start] in " \t":
                value_start += 1
            end = _value_end(text, value_start)
            yield _Statement(at, end, table, key, value_start)
            at = end


def _names(text: str, at: int) -> tuple[tuple[str, ...], int]:
    """Return the dotted name that begins at a place, and where it ends."""
    names = []
    while (found := _PART.match(text, at)) is not None:
        quoted, literal, bare, dot = found.groups()
        names.append(json.loads(f'"{quoted}"') if quoted is not None else literal or bare or "")
        at = found.end()
        if not dot:
            break
    return tuple(names), at


def _value_end(text: str, at: int) -> int:
    """Return where a value ends, blanks and comment behind it left out."""
    depth, end = 0, at
    while at < len(text):
        found = _SKIPPED.match(text, at)
        if found is not None:
            is_comment = text[at] == "#"
            if is_comment and depth == 0:
                return end
            at = found.end()
            end = end if is_comment else at
            continue
        letter = text[at]
        if letter == "\n" and depth == 0:
            return end
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(letter, 0)
        at += 1
        if not letter.isspace():
            end = at
    return end


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def _name(key: str) -> str:
    return key if _BARE.fullmatch(key) else json.dumps(key, ensure_ascii=False)


def _dumped(value: Json) -> str:
    if isinstance(value, list):
        return f"[{', '.join(_dumped(item) for item in value)}]"
    if isinstance(value, dict):
        inner = ", ".join(f"{_name(key)} = {_dumped(item)}" for key, item in value.items())
        return "{" + f" {inner} " + "}" if inner else "{}"
    return json.dumps(value, ensure_ascii=False)
