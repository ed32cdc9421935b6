"""What is known to change at the head of prompts: dates, times, ids, one agent's attribution line.

The patterns are data (`runtimes/cache_marks.toml`). They are tried on the few lines around a change
while its request is at hand; what is kept is the name of the mark.
"""

import re
from pathlib import Path

import msgspec

from studio.domain.errors import BadInput
from studio.host.documents import read_toml

AROUND_CHARS = 200


class Mark(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One thing that programs write into prompts."""

    id: str
    pattern: str
    adjustment: str | None = None
    """Which change of requests takes it out (`runtimes/client_traps.toml`)."""
    source: str


class _File(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    schema_version: int
    mark: tuple[Mark, ...]


class Marks:
    """The marks, the more telling first."""

    def __init__(self, marks: tuple[Mark, ...] = ()) -> None:
        self._marks = tuple((one, re.compile(one.pattern, re.IGNORECASE)) for one in marks)

    def at(self, text: str, characters: int, within: int) -> Mark | None:
        """Return what covers a place of a text, else what stands in its line."""
        start = max(0, characters - AROUND_CHARS)
        around = text[start : characters + within + AROUND_CHARS]
        first, last = characters - start, characters - start + within
        line_start = around.rfind("\n", 0, first) + 1
        line_end = around.find("\n", max(first, last - 1))
        line = around[line_start : len(around) if line_end < 0 else line_end]
        for mark, pattern in self._marks:
            for match in pattern.finditer(around):
                if match.start() < last and match.end() > first:
                    return mark
        return next((mark for mark, pattern in self._marks if pattern.search(line)), None)

    def adjustment(self, mark_id: str | None) -> str | None:
        """Return which change of requests takes a mark out."""
        return next((one.adjustment for one, _ in self._marks if one.id == mark_id), None)


def load(path: Path) -> Marks:
    """Read the marks. Raises: NotFound (`file-missing`), BadInput (`document-invalid`)."""
    read = read_toml(path, _File)
    for mark in read.mark:
        try:
            re.compile(mark.pattern)
        except re.error as error:
            raise BadInput(
                "document-invalid", f"{path}: the pattern of `{mark.id}` is none: {error}."
            ) from error
    return Marks(read.mark)
