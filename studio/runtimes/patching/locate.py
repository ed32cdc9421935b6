"""Where a hunk fits into a file, and the file that comes out. Pure.

Follows GNU patch 2.7.6 at fuzz 0 (its `locate_hunk` and `apply_hunk` as behaviour, tests compare
the two): nearest place first, below before above, the last offset carried on; a hunk with less
context before than after that was cut at the first line fits there only, one with less after than
before fits at the end only; a hunk without old lines goes where it says. Hunks never overlap.
"""

import bisect
import functools
import itertools
from collections.abc import Iterator, Sequence

from studio.runtimes.patching.model import ADD, DROP, KEEP, Hunk, Record


def split_lines(data: bytes) -> list[bytes]:
    """Return the lines of `data` with their line feeds."""
    parts = data.split(b"\n")
    lines = [part + b"\n" for part in parts[:-1]]
    if parts[-1]:
        lines.append(parts[-1])
    return lines


class Text:
    """The lines of a file, with an index of where each one stands."""

    def __init__(self, data: bytes) -> None:
        self.lines = split_lines(data)

    @functools.cached_property
    def places(self) -> dict[bytes, list[int]]:
        """Indexes, from 0, of every line."""
        found: dict[bytes, list[int]] = {}
        for index, line in enumerate(self.lines):
            found.setdefault(line, []).append(index)
        return found

    def has(self, wanted: Sequence[bytes], index: int) -> bool:
        """Return whether all of `wanted` stands at `index`."""
        return index >= 0 and self.lines[index : index + len(wanted)] == list(wanted)

    def rarest(self, wanted: Sequence[bytes]) -> tuple[list[int], int]:
        """Return where the rarest line of `wanted` stands, and which of `wanted` it is."""
        at = min(range(len(wanted)), key=lambda one: len(self.places.get(wanted[one], ())))
        return self.places.get(wanted[at], []), at


def locate(text: Text, hunk: Hunk, offset: int, frozen: int) -> int | None:
    """Return the line, from 1, where `hunk` fits, or None.

    `offset` is that of the hunk before, `frozen` the number of lines that are already decided.
    A hunk without old lines may get a place that is no line of the file.
    """
    guess = hunk.old_first + offset
    count = len(hunk.old)
    if not count:
        return guess
    last = len(text.lines) - count + 1
    if hunk.prefix < hunk.suffix and hunk.old_first <= 1:
        return 1 if frozen <= hunk.prefix and text.has(hunk.old, 0) else None
    if hunk.suffix < hunk.prefix:
        return last if last > frozen and text.has(hunk.old, last - 1) else None
    for place in _candidates(text, hunk.old, guess=guess, last=last, first=frozen + 1):
        if text.has(hunk.old, place - 1):
            return place
    return None


def _candidates(
    text: Text, wanted: Sequence[bytes], *, guess: int, last: int, first: int
) -> Iterator[int]:
    """Yield the places where `wanted` may stand, in the order in which GNU patch looks.

    Its search counts a distance up and looks at that distance below and then above. Where `guess`
    lies above `first` the count starts below zero: it passes the lines between from as far above
    `guess` as `first` lies below, with `first` itself looked at second. What it finds there may
    overlap the hunk before, which is then a reject.
    """
    indexes, at = text.rarest(wanted)
    if guess < first:
        lowest = 2 * guess - first
        yield from (lowest, first)
        start = bisect.bisect_left(indexes, lowest - 1 + at)
        yield from (index - at + 1 for index in itertools.islice(indexes, start, None))
        return
    down = bisect.bisect_left(indexes, guess - 1 + at)
    up = down - 1
    while True:
        below = indexes[down] - at + 1 if down < len(indexes) else last + 1
        above = indexes[up] - at + 1 if up >= 0 else first - 1
        if below <= last and (above < first or below - guess <= guess - above):
            yield below
            down += 1
        elif above >= first:
            yield above
            up -= 1
        else:
            return


class Placement(Record, frozen=True, kw_only=True):
    """Where a hunk went: `line` None means that it does not fit."""

    hunk: Hunk
    line: int | None
    offset: int
    """The carried offset after this hunk."""
    frozen: int
    """Lines that were decided before this hunk."""


class Fit(Record, frozen=True, kw_only=True):
    """All hunks of one file; `content` counts only when every one has its place."""

    placements: tuple[Placement, ...]
    content: bytes

    @property
    def fits(self) -> bool:
        """Return whether every hunk has its place."""
        return all(one.line is not None for one in self.placements)


class _Output:
    """The new file in the making."""

    def __init__(self, lines: list[bytes]) -> None:
        self.lines = lines
        self.frozen = 0
        self.pieces: list[bytes] = []

    def copy_to(self, index: int) -> None:
        self.put(self.lines[self.frozen : index])
        self.frozen = index

    def put(self, lines: list[bytes]) -> None:
        # A last line without a line feed gets one when something comes to stand after it.
        if lines and self.pieces and not self.pieces[-1].endswith(b"\n"):
            self.pieces.append(b"\n")
        self.pieces.extend(lines)

    def change(self, hunk: Hunk, line: int) -> None:
        index = line - 1
        for tag, content in hunk.lines:
            if tag == KEEP:
                index += 1
            elif tag == DROP:
                self.copy_to(index)
                index += 1
                self.frozen = index
            else:
                assert tag == ADD
                self.copy_to(index)
                self.put([content])


def fit(data: bytes, hunks: Sequence[Hunk]) -> Fit:
    """Return where the hunks of one file go and the file that comes out."""
    text = Text(data)
    output = _Output(text.lines)
    offset = 0
    placements = []
    for hunk in hunks:
        before = output.frozen
        line = locate(text, hunk, offset, before)
        if line is not None:
            offset = line - hunk.old_first
            if line - 1 + hunk.prefix < before:
                line = None  # it would have to change lines that an earlier hunk has settled
        if line is not None:
            output.change(hunk, line)
        placements.append(Placement(hunk=hunk, line=line, offset=offset, frozen=before))
    if output.frozen < len(text.lines):
        output.copy_to(len(text.lines))
    return Fit(placements=tuple(placements), content=b"".join(output.pieces))
