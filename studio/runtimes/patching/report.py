"""What a rejected hunk expected and what stands there instead, in words. Pure."""

import difflib
from collections import Counter
from collections.abc import Sequence

from studio.domain.errors import Damaged
from studio.runtimes.patching.locate import Placement, Text, locate
from studio.runtimes.patching.model import Hunk, Rejection
from studio.runtimes.patching.reverse import reversed_hunk

MOST_CHARACTERS = 160
MOST_DIFFERENCES = 6
MOST_EVIDENCE = 40
MOST_EXPLAINED = 20
MOST_COMPARED = 400
_COMMON = 200
"""A line that stands in more places than this says nothing about where a hunk belongs."""


def shown(line: bytes) -> str:
    """Return a line for a terminal: no control characters, line ends that matter named."""
    text = line.decode("utf-8", "backslashreplace")
    ending = "" if text.endswith("\n") else " (no line feed at its end)"
    text = text.removesuffix("\n")
    if text.endswith("\r"):
        text, ending = text[:-1], " (CRLF)" + ending
    text = "".join(
        one if one.isprintable() or one == "\t" else one.encode("unicode_escape").decode()
        for one in text
    )
    if len(text) > MOST_CHARACTERS:
        text = text[: MOST_CHARACTERS - 1] + "…"
    return f"`{text}`{ending}"


def rejections_of(
    patch: str, file: str, before: bytes, placements: Sequence[Placement]
) -> tuple[Rejection, ...]:
    """Return the rejections of the hunks that did not fit into `before`."""
    text = Text(before)
    rejected = [place for place in placements if place.line is None]
    rejections = []
    for number, place in enumerate(rejected):
        hunk = place.hunk
        reason = "its lines are not in the file"
        evidence: tuple[str, ...] = ()
        if number < MOST_EXPLAINED:
            reason, evidence = _differences(text, hunk, place)
        rejections.append(
            Rejection(
                patch=patch,
                file=file,
                hunk=hunk.number,
                hunks=len(placements),
                header=hunk.header,
                reason=reason,
                evidence=evidence,
            )
        )
    return tuple(rejections)


def _differences(text: Text, hunk: Hunk, place: Placement) -> tuple[str, tuple[str, ...]]:
    """Return why and how the file differs from what the hunk expects, where it is most like it."""
    shift = hunk.old_first - hunk.new_first
    done = locate(text, reversed_hunk(hunk), place.offset + shift, 0) if hunk.new else None
    if done is not None:
        return f"its change seems to be in the file already, at line {done}", ()
    guess = hunk.old_first - 1 + place.offset
    start = max(0, _likeliest(text, hunk.old, guess))
    old = list(hunk.old[:MOST_COMPARED])
    found = text.lines[start : start + len(old)]
    if not text.lines:
        return "the file is empty", ()
    if text.has(hunk.old, start):
        return _misplaced(text, hunk, place, start), ()
    evidence: list[str] = []
    matcher = difflib.SequenceMatcher(None, old, found, autojunk=False)
    for tag, old_from, old_to, new_from, new_to in matcher.get_opcodes():
        if tag != "equal":
            line = start + new_from + 1
            evidence += [f"line {line}: expected {shown(one)}" for one in old[old_from:old_to]]
            evidence += [
                f"line {start + at + 1}: found {shown(found[at])}" for at in range(new_from, new_to)
            ]
    if len(evidence) > 2 * MOST_DIFFERENCES:
        left = len(evidence) - 2 * MOST_DIFFERENCES
        evidence = [*evidence[: 2 * MOST_DIFFERENCES], f"and {left} more lines"]
    reason = f"the lines at {start + 1} are not what the patch expects"
    if [_bare(one) for one in old] == [_bare(one) for one in found]:
        reason = "the file has other line ends than the patch"
    return reason, tuple(evidence)


def _bare(line: bytes) -> bytes:
    return line.rstrip(b"\r\n")


def _misplaced(text: Text, hunk: Hunk, place: Placement, start: int) -> str:
    """Return why a hunk whose lines are all there does not count."""
    if start + hunk.prefix < place.frozen or start < place.frozen:
        return f"its lines stand at {start + 1}, above or inside an earlier hunk"
    if hunk.suffix < hunk.prefix and start + len(hunk.old) < len(text.lines):
        return f"its lines stand at {start + 1}, but the patch expects the file's end there"
    return f"its lines stand at {start + 1}, but the patch expects the file's beginning there"


def _likeliest(text: Text, old: Sequence[bytes], guess: int) -> int:
    """Return the index where most lines of `old` stand, the nearest to `guess` among equals."""
    votes: Counter[int] = Counter()
    for at, line in enumerate(old):
        places = text.places.get(line, ())
        if len(places) <= _COMMON:
            votes.update(place - at for place in places)
    if not votes:
        return min(guess, len(text.lines) - 1)
    return min(votes, key=lambda start: (-votes[start], abs(start - guess)))


def rejection_error(rejections: Sequence[Rejection]) -> Damaged:
    """Return the error for hunks that were rejected: which, where, and the lines that differ."""
    first = rejections[0]
    where = f"hunk {first.hunk} of {first.hunks} ({first.header})" if first.hunks else first.header
    more = f" {len(rejections) - 1} more hunks are rejected too." if len(rejections) > 1 else ""
    evidence: list[str] = []
    for one in rejections:
        name = f"hunk {one.hunk} {one.header}" if one.hunks else one.header
        evidence.append(f"{one.patch}: {one.file}: {name}: {one.reason}")
        evidence += [f"  {line}" for line in one.evidence]
    if len(evidence) > MOST_EVIDENCE:
        evidence = [*evidence[:MOST_EVIDENCE], f"and {len(evidence) - MOST_EVIDENCE} more lines"]
    return Damaged(
        "patch-rejected",
        f"The patch {first.patch} does not fit {first.file}: {where}: {first.reason}.{more}",
        hint="Nothing was changed. Check that the installed package is exactly the version that"
        " the patch was cut against; reinstall it if somebody has edited it.",
        evidence=tuple(evidence),
        data={
            "patch": first.patch,
            "file": first.file,
            "hunk": first.hunk,
            "header": first.header,
        },
    )
