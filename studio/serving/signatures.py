"""What is known about failures, as data: runtimes/failures.toml, read and checked.

A new failure is a new entry in the file. Mistakes in its form are named when it is read, those in
expressions and sentences when a cause is first looked for.
"""

import dataclasses
import enum
import functools
import math
import re
import string
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from studio.domain.errors import BadInput
from studio.domain.manifests import Document
from studio.domain.remedies import RemedyKind
from studio.host.documents import read_toml
from studio.serving.needles import needle_of

ALWAYS_KNOWN = ("exit_code", "exit_name", "root")
"""Values that every sentence may name: the exit status, its name, the first exception."""
_ID = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)+")

Value = str | int | float


class Rank(enum.StrEnum):
    """How near a failure stands to its root; the nearer ones are shown first."""

    CAUSE = "cause"
    """It says why."""
    LEAD = "lead"
    """It says why where nothing better does: also met in logs that go well, or in passing."""
    CONSEQUENCE = "consequence"
    """Something else failed first."""
    ENDING = "ending"
    """How the process ended, not why."""
    WAITING = "waiting"
    """The log ends in the middle of something that may take long, or for ever."""
    REQUEST = "request"
    """One request failed; the engine lives on."""


class Phase(enum.StrEnum):
    """When a failure has to have been said, where that tells two failures apart."""

    BOOT = "boot"
    SERVING = "serving"
    """After the server said that it is up."""


class Computed(Document, frozen=True, kw_only=True):
    """A value made of found ones: `of / over * times`, rounded down to `digits`."""

    of: str
    over: str | None = None
    times: float = 1.0
    digits: int = 0

    def value(self, known: Mapping[str, Value]) -> Value | None:
        """Return the value, or None where one of its parts is not known or not a number."""
        of, over = known.get(self.of), known.get(self.over) if self.over else 1
        if not isinstance(of, int | float) or not isinstance(over, int | float) or over == 0:
            return None
        shift = float(f"1e{self.digits}")
        scaled = math.floor(of / over * self.times * shift)
        return scaled / shift if self.digits else scaled


class RemedyEntry(Document, frozen=True, kw_only=True):
    """One remedy of a failure; shown where all of its {placeholders} are known."""

    text: str
    kind: RemedyKind = RemedyKind.ADVICE
    settings: dict[str, str] = msgspec.field(default_factory=dict)
    """Knobs; a value may name what was found, or change the present one: `*0.5`, `-0.03`."""
    command: str | None = None
    part: Literal["runtime", "model"] | None = None
    """What a `repair` mends."""


class _Entry(Document, frozen=True, kw_only=True):
    """One `[[signature]]` of the file."""

    id: str
    """Becomes the error's code."""
    patterns: tuple[str, ...] = ()
    """Any of these, searched in the messages; `^` and `$` are a message's ends. Named groups may
    stand in `cause` and `remedies`, and travel as the error's `data`."""
    levels: tuple[str, ...] = ("error", "none")
    """Only in messages of these levels."""
    exit_codes: tuple[int, ...] = ()
    """Any of these. Negative: a signal; from 0xC0000000 on: a status of Windows."""
    rank: Rank = Rank.CAUSE
    phase: Phase | None = None
    failed_only: bool = False
    """Only when the process ended with a status other than 0."""
    at_end: bool = False
    """Only among the last lines: what it says is usual as long as something follows."""
    computed: dict[str, Computed] = msgspec.field(default_factory=dict)
    cause: tuple[str, ...]
    """Sentences; the first whose placeholders are all known is shown."""
    remedies: tuple[str | RemedyEntry, ...] = ()
    """The best first; a plain sentence is advice."""


class _File(Document, frozen=True, kw_only=True):
    schema_version: int
    signature: tuple[_Entry, ...]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """A compiled pattern, and a text without which it cannot match."""

    regex: re.Pattern[str]
    needle: str


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """One known failure, ready for use."""

    id: str
    patterns: tuple[Pattern, ...]
    levels: frozenset[str]
    exit_codes: tuple[int, ...]
    rank: Rank
    phase: Phase | None
    failed_only: bool
    at_end: bool
    computed: Mapping[str, Computed]
    cause: tuple[str, ...]
    remedies: tuple[RemedyEntry, ...]


def load(path: Path) -> tuple[Signature, ...]:
    """Return the signatures in `path`, in its order.

    Raises: NotFound (`file-missing`), BadInput (`document-invalid`).
    """
    return later(path)()


def later(path: Path) -> Callable[[], tuple[Signature, ...]]:
    """Return what gives the signatures in `path`, compiled when they are first wanted.

    Half a thousand expressions take a tenth of a second, and most commands ask for no cause.
    The file's form is checked now; a mistake in an expression or a sentence is named when asked.

    Raises: NotFound (`file-missing`), BadInput (`document-invalid`).
    """
    file = read_toml(path, _File)
    if file.schema_version != 2:
        raise _invalid(path, f"schema_version should be 2, found {file.schema_version}")
    names = [entry.id for entry in file.signature]
    for name in names:
        if names.count(name) > 1:
            raise _invalid(path, f"`{name}` stands there twice")

    @functools.cache
    def compiled() -> tuple[Signature, ...]:
        return tuple(_compiled(path, entry) for entry in file.signature)

    return compiled


def placeholders(template: str) -> set[str]:
    """Return the names in braces. Raises: ValueError for a lone brace."""
    return {name for _, name, _, _ in string.Formatter().parse(template) if name is not None}


def first_known(templates: Sequence[str], values: Mapping[str, Value]) -> str | None:
    """Return the first template whose placeholders are all known, filled in."""
    for template in templates:
        if placeholders(template) <= values.keys():
            return template.format_map(values)
    return None


def _compiled(path: Path, entry: _Entry) -> Signature:
    place = f"signature `{entry.id}`"
    if _ID.fullmatch(entry.id) is None:
        raise _invalid(path, f"{place}: an id is two or more lower-case words with hyphens")
    if not entry.patterns and not entry.exit_codes:
        raise _invalid(path, f"{place} should have patterns or exit_codes")
    try:
        regexes = [re.compile(pattern, re.MULTILINE) for pattern in entry.patterns]
    except re.error as error:
        raise _invalid(path, f"{place}: {error} in a pattern") from error
    remedies = tuple(
        RemedyEntry(text=one) if isinstance(one, str) else one for one in entry.remedies
    )
    found = {name for regex in regexes for name in regex.groupindex}
    _check_names(path, place, entry, found, remedies)
    return Signature(
        id=entry.id,
        patterns=tuple(
            Pattern(regex=regex, needle=needle_of(text))
            for regex, text in zip(regexes, entry.patterns, strict=True)
        ),
        levels=frozenset(entry.levels),
        exit_codes=entry.exit_codes,
        rank=entry.rank,
        phase=entry.phase,
        failed_only=entry.failed_only,
        at_end=entry.at_end,
        computed=entry.computed,
        cause=entry.cause,
        remedies=remedies,
    )


def _check_names(
    path: Path, place: str, entry: _Entry, found: set[str], remedies: tuple[RemedyEntry, ...]
) -> None:
    """Refuse an entry that names what is never known, or a remedy that cannot be what it says."""
    for name, computed in entry.computed.items():
        unknown = {computed.of, *([computed.over] if computed.over else [])} - found
        if unknown:
            raise _invalid(path, f"{place} computes {name} of {{{unknown.pop()}}}, which no "
                           "pattern finds")  # fmt: skip
    known = {*ALWAYS_KNOWN, *found, *entry.computed}
    for template in (*entry.cause, *(text for one in remedies for text in _texts(one))):
        try:
            unknown = placeholders(template) - known
        except ValueError as error:
            raise _invalid(path, f"{place}: {error} in `{template}`") from error
        if unknown:
            raise _invalid(path, f"{place} names {{{unknown.pop()}}}, which no pattern finds")
    _check_remedies(path, place, remedies)


def _check_remedies(path: Path, place: str, remedies: tuple[RemedyEntry, ...]) -> None:
    for one in remedies:
        if bool(one.settings) != (one.kind is RemedyKind.RESTART_WITH):
            raise _invalid(path, f"{place}: `settings` and the kind `restart-with` go together")
        if (one.part is not None) != (one.kind is RemedyKind.REPAIR):
            raise _invalid(path, f"{place}: `part` and the kind `repair` go together")
        if one.kind is RemedyKind.COMMAND and not one.command:
            raise _invalid(path, f"{place}: a remedy of the kind `command` needs a `command`")


def _texts(remedy: RemedyEntry) -> list[str]:
    return [remedy.text, remedy.command or "", *remedy.settings.values()]


def _invalid(path: Path, why: str) -> BadInput:
    return BadInput("document-invalid", f"{path}: {why}.")
