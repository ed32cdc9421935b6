"""Small changes of a text, and what every format refuses. Pure."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from studio.domain.errors import BadInput

Json = str | int | float | bool | None | list["Json"] | dict[str, "Json"]
Step = str | dict[str, str]
"""A key, or which item of a list: the one that has these values."""
MOST_DEPTH = 100


class Splice(NamedTuple):
    """Characters from `start` to `end` become `text`."""

    start: int
    end: int
    text: str


def spliced(text: str, splices: Iterable[Splice]) -> str:
    """Return `text` with changes that do not overlap; line ends are as the text has them."""
    line_end = "\r\n" if "\r\n" in text else "\n"
    for start, end, new in sorted(splices, reverse=True):
        text = text[:start] + new.replace("\n", line_end) + text[end:]
    return text


def line_at(text: str, place: int) -> int:
    """Return the line of a place, counted from 1."""
    return text.count("\n", 0, place) + 1


def broken(line: int, why: str) -> BadInput:
    """Return the error for a file that its own client could not read either."""
    return BadInput(
        "client-file-broken",
        f"Line {line} is not as its format wants it: {why}.",
        hint="Mend that line, or let the client write the file anew; nothing was changed.",
        data={"line": line},
    )


def odd(why: str) -> BadInput:
    """Return the error for a file that is right, but written so that it is left alone."""
    return BadInput(
        "client-file-odd",
        f"The file is written in a way that is not changed here: {why}.",
        hint="Put the values in by hand; nothing was changed.",
    )


def with_value(document: Json, at: tuple[Step, ...], value: Json) -> Json:
    """Return what a document says after the value at one place was set.

    Raises: BadInput (`client-file-odd`) where something else than a table or list is in the way.
    """
    if not at:
        return merged(document, value)
    step, rest = at[0], at[1:]
    if isinstance(step, str):
        table = {} if document is None else document
        if not isinstance(table, dict):
            raise odd(f"`{step}` would have to go into a value that is no table")
        old = table.get(step)
        return {**table, step: with_value(old, rest, value) if rest else merged(old, value)}
    items = [] if document is None else document
    if not isinstance(items, list):
        raise odd("a list was expected where something else stands")
    place = item_place(items, step)
    if place is None:
        return [*items, with_value(dict(step), rest, value)]
    return [
        with_value(item, rest, value) if number == place else item
        for number, item in enumerate(items)
    ]


def merged(old: Json, new: Json) -> Json:
    """Return a table with the values of another laid over it; anything else is replaced."""
    if isinstance(old, dict) and isinstance(new, dict):
        return {**old, **{key: merged(old.get(key), item) for key, item in new.items()}}
    return new


def item_place(items: list[Json], which: Mapping[str, str]) -> int | None:
    """Return which item of a list has these values."""
    for number, item in enumerate(items):
        if isinstance(item, dict) and all(item.get(key) == word for key, word in which.items()):
            return number
    return None
