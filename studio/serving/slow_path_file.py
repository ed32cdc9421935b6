"""`runtimes/slow_paths.toml` as records, checked: what silent slowness looks like, and what to do.

Looks at no log; slow_paths.py does.
"""

import dataclasses
import re
import string
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from studio.domain.errors import BadInput
from studio.domain.manifests import Document
from studio.domain.remedies import Way
from studio.host.documents import read_toml

TOLD_VALUES = (
    "runtime", "preset", "variable", "value", "swapped", "size", "count", "card", "index", "width",
    "most", "times", "limit_w", "reference_w",
    "default_w",
)  # fmt: skip
"""Names that texts may use beside the groups of their own patterns."""
_SCHEMA = 1
_SHORTEST_NEEDLE = 6
_ID = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)+")
_PLAIN = frozenset(string.ascii_letters + string.digits + " ,'\"_/%:=;<>~@&!`-")


class _Environment(Document, frozen=True, kw_only=True):
    """Variables, by expressions that name and value match whole."""

    names: str
    values: str


class _Context(Document, frozen=True, kw_only=True):
    patterns: tuple[str, ...] = ()
    environment: _Environment | None = None
    cards: bool | None = None


class _Cost(Document, frozen=True, kw_only=True):
    text: str
    when: tuple[str, ...] = ()
    is_small: bool = False


class _Entry(Document, frozen=True, kw_only=True):
    """One `[[sign]]` of the file."""

    id: str
    title: str
    costs: tuple[_Cost, ...]
    source: str
    remedies: tuple[Way, ...]
    patterns: tuple[str, ...] = ()
    levels: tuple[str, ...] = ("info", "warning")
    environment: _Environment | None = None
    arguments: str | None = None
    told: bool = False
    when: tuple[str, ...] = ()


class _File(Document, frozen=True, kw_only=True):
    schema_version: int
    contexts: dict[str, _Context]
    reference_power_w: dict[str, float] = msgspec.field(default_factory=dict)
    sign: tuple[_Entry, ...]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """What a message begins with; `needle` is plain text that stands in every such message."""

    pattern: re.Pattern[str]
    needle: str


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Variables:
    """Which variables count, and with which values."""

    names: re.Pattern[str]
    values: re.Pattern[str]

    def find(self, environment: Mapping[str, str]) -> tuple[str, str] | None:
        """Return the first such variable and its value."""
        for name, value in sorted(environment.items()):
            if self.names.fullmatch(name) and self.values.fullmatch(value):
                return name, value
        return None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """A fact about an engine on which texts may depend."""

    name: str
    openings: tuple[Opening, ...]
    variables: Variables | None
    cards: bool | None
    """Holds on a machine with cards (True), or without any (False), where that is known."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What a slow path costs, where `when` holds."""

    text: str
    when: tuple[str, ...]
    is_small: bool
    """Stands behind all that are not."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Sign:
    """One slow path, ready for use."""

    id: str
    title: str
    rank: int
    """The dearest is 0."""
    costs: tuple[Cost, ...]
    source: str
    ways: tuple[Way, ...]
    openings: tuple[Opening, ...]
    levels: tuple[str, ...]
    variables: Variables | None
    arguments: re.Pattern[str] | None
    is_told: bool
    when: tuple[str, ...]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Signs:
    """All of a file."""

    signs: tuple[Sign, ...]
    contexts: tuple[Context, ...]
    reference_power_w: Mapping[str, float]
    """Part of a card's name → the power that published figures were taken at."""


def load(path: Path) -> Signs:
    """Return the signs in `path`, the dearest first.

    Raises: NotFound (`file-missing`), BadInput (`document-invalid`).
    """
    file = read_toml(path, _File)
    if file.schema_version != _SCHEMA:
        raise _invalid(path, f"schema_version should be {_SCHEMA}, found {file.schema_version}")
    contexts = tuple(
        _context(path, name, context) for name, context in sorted(file.contexts.items())
    )
    signs = tuple(_sign(path, entry, rank, file.contexts) for rank, entry in enumerate(file.sign))
    names = [sign.id for sign in signs]
    for name in names:
        if names.count(name) > 1:
            raise _invalid(path, f"`{name}` stands there twice")
    return Signs(signs=signs, contexts=contexts, reference_power_w=file.reference_power_w)


def needle_of(pattern: str) -> str:
    """Return the longest plain text that every match of `pattern` contains; empty: none is sure.

    Only text outside of groups and classes counts, and no character that may be absent.
    """
    longest, run, depth, position = "", "", 0, 0
    while position < len(pattern):
        letter = pattern[position]
        width = 1
        if letter == "\\":
            escaped = pattern[position + 1 : position + 2]
            width, letter = 2, escaped if not escaped.isalnum() else ""
        elif letter == "[":
            width, letter = _class_width(pattern, position), ""
        elif letter == "|" and depth == 0:
            return ""
        elif letter not in _PLAIN:
            depth += {"(": 1, ")": -1}.get(letter, 0)
            letter = ""
        following = pattern[position + width : position + width + 1]
        is_sure = bool(letter) and depth == 0 and following not in ("?", "*", "+", "{")
        run = run + letter if is_sure else ""
        longest = max(longest, run, key=len)
        position += width
    return longest


def _class_width(pattern: str, position: int) -> int:
    """Return the length of the character class that begins at `position`."""
    end = position + 2 if pattern[position + 1 : position + 2] == "^" else position + 1
    end += 1  # a bracket that stands first is a member
    while end < len(pattern) and pattern[end] != "]":
        end += 2 if pattern[end] == "\\" else 1
    return end + 1 - position


def _context(path: Path, name: str, context: _Context) -> Context:
    place = f"context `{name}`"
    return Context(
        name=name,
        openings=tuple(_opening(path, place, pattern) for pattern in context.patterns),
        variables=_variables(path, place, context.environment),
        cards=context.cards,
    )


def _sign(path: Path, entry: _Entry, rank: int, contexts: Mapping[str, _Context]) -> Sign:
    place = f"sign `{entry.id}`"
    if _ID.fullmatch(entry.id) is None:
        raise _invalid(path, f"{place}: an id is two or more lower-case words with hyphens")
    if not (entry.patterns or entry.environment or entry.arguments or entry.told):
        raise _invalid(path, f"{place} has nothing by which it is seen")
    if not entry.costs or not entry.remedies:
        raise _invalid(path, f"{place} should have costs and remedies")
    for fault in (way.fault for way in entry.remedies if way.fault is not None):
        raise _invalid(path, f"{place}: {fault}")
    openings = tuple(_opening(path, place, pattern) for pattern in entry.patterns)
    _check_texts(path, place, entry, openings)
    conditions = [entry.when, *(cost.when for cost in entry.costs)]
    for name in (one for when in [*conditions, *(r.when for r in entry.remedies)] for one in when):
        if name.removeprefix("!") not in contexts:
            raise _invalid(path, f"{place} names the context `{name}`, which does not exist")
    return Sign(
        id=entry.id,
        title=entry.title,
        rank=rank,
        costs=tuple(
            Cost(text=cost.text, when=cost.when, is_small=cost.is_small) for cost in entry.costs
        ),
        source=entry.source,
        ways=entry.remedies,
        openings=openings,
        levels=entry.levels,
        variables=_variables(path, place, entry.environment),
        arguments=_expression(path, place, entry.arguments) if entry.arguments else None,
        is_told=entry.told,
        when=entry.when,
    )


def _check_texts(path: Path, place: str, entry: _Entry, openings: Iterable[Opening]) -> None:
    known = {*TOLD_VALUES, *(name for one in openings for name in one.pattern.groupindex)}
    for text in (
        entry.title,
        *(cost.text for cost in entry.costs),
        *(text for one in entry.remedies for text in (one.text, one.command or "")),
    ):
        try:
            unknown = set(placeholders(text)) - known
        except ValueError as error:
            raise _invalid(path, f"{place}: {error} in `{text}`") from error
        if unknown:
            raise _invalid(path, f"{place} names {{{unknown.pop()}}}, which nothing finds")


def placeholders(text: str) -> list[str]:
    """Return the names in braces.

    Raises: ValueError, if a brace stands alone.
    """
    return [name for _, name, _, _ in string.Formatter().parse(text) if name is not None]


def _opening(path: Path, place: str, pattern: str) -> Opening:
    compiled = _expression(path, place, pattern)
    if compiled.flags & re.IGNORECASE:
        raise _invalid(path, f"{place}: case should count in `{pattern}`")
    needle = needle_of(pattern)
    if len(needle) < _SHORTEST_NEEDLE:
        raise _invalid(
            path,
            f"{place}: `{pattern}` should have {_SHORTEST_NEEDLE} plain characters in a row",
        )
    return Opening(pattern=compiled, needle=needle)


def _variables(path: Path, place: str, given: _Environment | None) -> Variables | None:
    if given is None:
        return None
    return Variables(
        names=_expression(path, place, given.names), values=_expression(path, place, given.values)
    )


def _expression(path: Path, place: str, pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as error:
        raise _invalid(path, f"{place}: {error} in `{pattern}`") from error


def _invalid(path: Path, why: str) -> BadInput:
    return BadInput("document-invalid", f"{path}: {why}.")
