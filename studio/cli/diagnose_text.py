"""Diagnoses and remedies to text, as pure functions."""

import textwrap
from collections.abc import Iterator, Sequence

from studio.cli import remedy_words as words
from studio.cli.console import plain
from studio.domain.diagnosis import Diagnosis, Match, Offered, RemedyList
from studio.domain.remedies import Remedy

_EVIDENCE_LINES = 3


def diagnosis_text(found: Diagnosis, width: int) -> str:
    """Return the most likely cause with evidence and remedies, the others in a line each."""
    first, *others = found.matches
    lines = [*_wrapped(first.cause, width), *_evidence(first), ""]
    lines += _remedies(first, width)
    lines.append(words.CODE.format(code=first.code))
    if found.inside is not None:
        lines.append(words.INSIDE.format(name=plain(found.inside)))
    if others:
        lines += ["", f"{words.THEN}:"]
        for one in others:
            lines += _wrapped(f"{one.cause} ({one.code})", width, "  - ")
    return "\n".join(lines)


def remedies_text(found: RemedyList, width: int) -> str:
    """Return what failed, and every remedy with its number."""
    lines: list[str] = []
    if found.failure is not None:
        sentence = words.FAILED if found.preset else words.FAILED_UNNAMED
        told = sentence.format(preset=found.preset, cause=found.failure.cause)
        lines += [*_wrapped(told, width), *_evidence(found.failure)]
        lines.append(words.CODE.format(code=found.failure.code))
        if not any(one.about == found.failure.code for one in found.offered):
            lines.append(words.NO_REMEDY)
    about = found.failure.code if found.failure is not None else None
    for one in found.offered:
        if one.about != about:
            about = one.about
            lines += ["", f"{words.ABOUT_SLOW.format(code=about)}:"]
        elif one is found.offered[0]:
            lines += ["", f"{words.DO}:"]
        lines += _offered(one, width)
    return "\n".join(lines)


def _offered(one: Offered, width: int) -> Iterator[str]:
    if one.number is None:
        yield from _wrapped(one.remedy.text, width, "  - ")
        return
    yield from _wrapped(one.remedy.text, width, f"  {one.number}. ")
    how = words.BY_THE_STUDIO.format(number=one.number) if one.remedy.can_apply else words.BY_HAND
    yield f"     {how}{f': {plain(one.command)}' if one.command else ''}"


def _remedies(match: Match, width: int) -> Iterator[str]:
    if not match.remedies:
        return
    yield f"{words.DO}:"
    for number, one in enumerate(match.remedies, 1):
        yield from _wrapped(one.text, width, f"  {number}. ")
        command = _typed(one)
        if command is not None:
            yield f"     {words.AS_COMMAND.format(command=plain(command))}"


def _typed(remedy: Remedy) -> str | None:
    if remedy.settings:
        return " ".join(f"--set {name}={value}" for name, value in remedy.settings.items())
    return remedy.command


def _evidence(match: Match) -> list[str]:
    return [f"  | {plain(line)}" for line in match.evidence[:_EVIDENCE_LINES]]


def _wrapped(text: str, width: int, lead: str = "") -> Sequence[str]:
    return textwrap.wrap(
        plain(text),
        width,
        initial_indent=lead,
        subsequent_indent=" " * len(lead),
        break_long_words=False,
        break_on_hyphens=False,
    )
