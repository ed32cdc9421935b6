"""From a place in a TOML document to the line where it stands. Pure.

The reader of the standard library keeps no positions, so the text is looked through again, table by
table. What is written in an odd way is not found, and then no line is named.
"""

import re
from collections.abc import Iterator

_HEADER = re.compile(r"^\s*(\[\[?)\s*([^\]]+?)\s*\]\]?\s*(?:#.*)?$")
_NAME = r"""(?:"[^"]*"|'[^']*'|[A-Za-z0-9_-]+)"""
_KEY = re.compile(rf"^\s*({_NAME}(?:\s*\.\s*{_NAME})*)\s*=")
_PART = re.compile(r""""([^"]*)"|'([^']*)'|([A-Za-z0-9_-]+)""")
_STEP = re.compile(r"\.(?P<name>[^.\[\]]+)|\[(?P<index>\d+|\.\.\.)\]")
_UNKNOWN = re.compile(r"unknown field `(?P<field>[^`]*)`")
_PLACE = re.compile(r"at `(?P<place>\$[^`]*)`")
ANY = "*"
"""A step of a place that may be any key."""


def line_of_error(text: str, message: str) -> int | None:
    """Return the line that a decoder's message is about, counted from 1."""
    found = _PLACE.search(message)
    steps = tuple(
        ANY if step["index"] == "..." else step["name"] or step["index"]
        for step in _STEP.finditer(found["place"] if found else "$")
    )
    unknown = _UNKNOWN.search(message)
    return line_of(text, (*steps, unknown["field"]) if unknown else steps)


def line_of(text: str, place: tuple[str, ...]) -> int | None:
    """Return the line of `place`, for example `("rules", "0", "when")`, counted from 1.

    Where only something around it is found (an inline table), its line is returned; where several
    lines could be meant, none: a wrong line is worse than no line.
    """
    found: dict[int, list[int]] = {}
    for number, path in _places(text):
        if 0 < len(path) <= len(place) and _fits(path, place):
            found.setdefault(len(path), []).append(number)
    lines = found[max(found)] if found else []
    is_clear = len(lines) == 1 or ANY not in place
    return lines[0] if lines and is_clear else None


def _fits(path: tuple[str, ...], place: tuple[str, ...]) -> bool:
    return all(ANY in (one, other) or one == other for one, other in zip(path, place, strict=False))


def _places(text: str) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield line and place of each header and each key."""
    counts: dict[tuple[str, ...], int] = {}
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.splitlines(), 1):
        header = _HEADER.match(line)
        if header is not None:
            names = _names(header[2])
            if header[1] == "[[":
                counts[names] = counts.get(names, -1) + 1
            table = _numbered(names, counts)
            yield number, table
            continue
        key = _KEY.match(line)
        if key is not None:
            yield number, table + _names(key[1])


def _names(dotted: str) -> tuple[str, ...]:
    return tuple(one[0] or one[1] or one[2] for one in _PART.findall(dotted))


def _numbered(names: tuple[str, ...], counts: dict[tuple[str, ...], int]) -> tuple[str, ...]:
    """Return a table's place with the positions of the lists on the way."""
    place: list[str] = []
    for end in range(1, len(names) + 1):
        place.append(names[end - 1])
        if names[:end] in counts:
            place.append(str(counts[names[:end]]))
    return tuple(place)
