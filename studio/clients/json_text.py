"""JSON with comments and trailing commas, as editors keep it: read with places, changed in place.

Pure. Whatever is not the value that is set stays, to the byte.
"""

import dataclasses
import json
import re

from studio.clients.splices import (
    MOST_DEPTH,
    Json,
    Splice,
    Step,
    broken,
    line_at,
    odd,
    spliced,
    with_value,
)
from studio.domain.errors import BadInput

_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_WORD = re.compile(r"[-+.\w]+")
_LINE_REST = re.compile(r"[ \t]*(?://[^\r\n]*|/\*(?:(?!\*/)[^\r\n])*\*/[ \t]*)?(?=\r?\n|$)")


@dataclasses.dataclass(slots=True)
class Node:
    """A value and where it stands."""

    start: int
    end: int = 0
    value: object = None
    members: list[tuple[str, int, "Node"]] | None = None
    """Name, where the name begins, value; None: no table."""
    items: list["Node"] | None = None
    comma_end: int | None = None
    """Behind the comma that trails the last member."""

    def plain(self) -> Json:
        """Return the value alone; of a name that comes twice the last one counts."""
        if self.members is not None:
            return {name: node.plain() for name, _start, node in self.members}
        if self.items is not None:
            return [node.plain() for node in self.items]
        value = self.value
        assert value is None or isinstance(value, str | int | float)
        return value

    def member(self, name: str) -> "Node | None":
        """Return a member of a table."""
        found = [node for one, _start, node in self.members or () if one == name]
        return found[-1] if found else None


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def document(self) -> Node | None:
        self.skip()
        if self.at == len(self.text):
            return None
        node = self.node(0)
        self.skip()
        if self.at != len(self.text):
            raise self.fault("something follows after the end")
        return node

    def skip(self) -> None:
        """Pass over blanks and comments."""
        text = self.text
        while self.at < len(text):
            if text[self.at] in " \t\r\n":
                self.at += 1
            elif text.startswith("//", self.at):
                end = text.find("\n", self.at)
                self.at = len(text) if end < 0 else end
            elif text.startswith("/*", self.at):
                end = text.find("*/", self.at + 2)
                if end < 0:
                    raise self.fault("a comment does not end")
                self.at = end + 2
            else:
                return

    def node(self, depth: int) -> Node:
        if depth > MOST_DEPTH:
            raise odd(f"it is nested deeper than {MOST_DEPTH} levels")
        letter = self.text[self.at : self.at + 1]
        if letter in ("{", "["):
            return self.holder(depth, is_table=letter == "{")
        made = Node(self.at)
        if letter == '"':
            made.value = self.string()
        else:
            word = _WORD.match(self.text, self.at)
            made.value = self.word(word[0] if word else "")
        made.end = self.at
        return made

    def holder(self, depth: int, *, is_table: bool) -> Node:
        made = Node(self.at)
        if is_table:
            made.members = []
        else:
            made.items = []
        closing = "}" if is_table else "]"
        self.at += 1
        while True:
            self.skip()
            if self.text.startswith(closing, self.at):
                self.at += 1
                made.end = self.at
                return made
            if (made.members or made.items) and made.comma_end is None:
                raise self.fault("a comma is missing")
            self.entry(made, depth)
            self.skip()
            made.comma_end = None
            if self.text.startswith(",", self.at):
                self.at += 1
                made.comma_end = self.at

    def entry(self, made: Node, depth: int) -> None:
        if made.members is None:
            assert made.items is not None
            made.items.append(self.node(depth + 1))
            return
        start = self.at
        if not self.text.startswith('"', self.at):
            raise self.fault("a name in quotes was expected")
        name = self.string()
        self.skip()
        if not self.text.startswith(":", self.at):
            raise self.fault("a colon is missing")
        self.at += 1
        self.skip()
        made.members.append((name, start, self.node(depth + 1)))

    def string(self) -> str:
        found = _STRING.match(self.text, self.at)
        if found is None:
            raise self.fault("a text in quotes does not end")
        try:
            value = json.loads(found[0])
        except ValueError as error:
            raise self.fault("a text in quotes has a sign that is not allowed") from error
        self.at = found.end()
        return str(value)

    def word(self, word: str) -> object:
        try:
            value: object = json.loads(word, parse_constant=_no_constant)
        except (ValueError, RecursionError) as error:
            shown = word[:40] or self.text[self.at : self.at + 1]
            why = f"`{shown}` is no value" if shown else "it ends where a value was expected"
            raise self.fault(why) from error
        self.at += len(word)
        return value

    def fault(self, why: str) -> BadInput:
        return broken(line_at(self.text, min(self.at, len(self.text))), why)


def _no_constant(word: str) -> object:
    """Refuse `NaN` and its like, which Python alone takes for JSON."""
    raise ValueError(word)


def read(text: str) -> Json:
    """Return what a text says; nothing at all is an empty table. Raises: BadInput."""
    node = _Reader(text).document()
    return {} if node is None else node.plain()


def changed(text: str, at: tuple[Step, ...], value: Json) -> str:
    """Return `text` with one value set.

    Raises: BadInput (`client-file-broken`, `client-file-odd`).
    """
    root = _Reader(text).document()
    if root is None:
        lead = text if not text or text.endswith("\n") else text + "\n"
        return lead + json.dumps(with_value({}, at, value), indent=2, ensure_ascii=False) + "\n"
    wanted = with_value(root.plain(), at, value)
    if wanted == root.plain():
        return text
    return spliced(text, _splices(text, root, wanted, _unit(text, root)))


def _splices(text: str, node: Node, wanted: Json, unit: str) -> list[Splice]:
    """Return what makes `node` say `wanted`; both are the same but for what was set."""
    if node.members is not None and isinstance(wanted, dict):
        found: list[Splice] = []
        missing: dict[str, Json] = {}
        for name, item in wanted.items():
            member = node.member(name)
            if member is None:
                missing[name] = item
            elif member.plain() != item:
                found += _splices(text, member, item, unit)
        return found + (_added(text, node, missing, unit) if missing else [])
    if node.items is not None and isinstance(wanted, list) and len(wanted) >= len(node.items):
        found = []
        for old, item in zip(node.items, wanted, strict=False):
            if old.plain() != item:
                found += _splices(text, old, item, unit)
        fresh = wanted[len(node.items) :]
        return found + (_added(text, node, fresh, unit) if fresh else [])
    return [Splice(node.start, node.end, _dumped(wanted, _indent(text, node.start), unit))]


def _added(text: str, node: Node, fresh: dict[str, Json] | list[Json], unit: str) -> list[Splice]:
    """Return what puts new members at the end of a table, or new items at the end of a list."""
    starts = [start for _name, start, _node in node.members or ()]
    starts += [one.start for one in node.items or ()]
    ends = [one.end for _name, _start, one in node.members or ()]
    ends += [one.end for one in node.items or ()]
    outer = _indent(text, node.start)
    is_inline = bool(starts) and "\n" not in text[node.start : node.end]
    inner = _indent(text, starts[-1]) if starts and not is_inline else outer + unit
    written = _entries(fresh, inner, unit)
    if not starts:
        head = text[node.start + 1 : node.end - 1].rstrip()
        end = node.start + 1 + len(head)
        body = f"\n{inner}" + f",\n{inner}".join(written) + f"\n{outer}"
        return [Splice(end, node.end - 1, body)]
    last = ends[-1]
    if is_inline:
        comma = " " if node.comma_end is not None else ", "
        place = node.comma_end if node.comma_end is not None else last
        return [Splice(place, place, comma + ", ".join(written))]
    behind = node.comma_end if node.comma_end is not None else last
    rest = _LINE_REST.match(text, behind)
    place = rest.end() if rest is not None else behind
    body = f"\n{inner}" + f",\n{inner}".join(written)
    if node.comma_end is not None:
        return [Splice(place, place, body + ",")]
    if place == last:
        return [Splice(last, last, "," + body)]
    return [Splice(last, last, ","), Splice(place, place, body)]


def _entries(fresh: dict[str, Json] | list[Json], indent: str, unit: str) -> list[str]:
    if isinstance(fresh, list):
        return [_dumped(item, indent, unit) for item in fresh]
    return [
        f"{json.dumps(name, ensure_ascii=False)}: {_dumped(item, indent, unit)}"
        for name, item in fresh.items()
    ]


def _dumped(value: Json, indent: str, unit: str) -> str:
    lines = json.dumps(value, indent=unit, ensure_ascii=False).split("\n")
    return ("\n" + indent).join(lines)


def _indent(text: str, place: int) -> str:
    """Return the blanks that the line of a place begins with."""
    start = text.rfind("\n", 0, place) + 1
    return text[start : start + len(text[start:]) - len(text[start:].lstrip(" \t"))]


def _unit(text: str, root: Node) -> str:
    """Return one step of indentation, as the file has it."""
    starts = [start for _name, start, _node in root.members or ()]
    starts += [one.start for one in root.items or ()]
    found = _indent(text, starts[0]) if starts and "\n" in text[root.start : starts[0]] else ""
    return found or "  "
