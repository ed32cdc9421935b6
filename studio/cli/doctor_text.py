"""A doctor's report to text, as pure functions: what stops, what to look at, what is good."""

import textwrap
from collections.abc import Iterable, Sequence

import msgspec

from studio.cli import host_words as words
from studio.cli.render import READABLE_WIDTH, cells_of, padded
from studio.domain.doctor import (
    EVERYTHING,
    Check,
    DoctorReport,
    Level,
    PresetVerdict,
    RuntimeVerdict,
)

_GAP = "  "
_LEAST_WIDTH = 30
_MOST_TITLE = 30
_ORDER = (Level.STOPS, Level.LOOK, Level.UNKNOWN, Level.GOOD)


def report_text(found: DoctorReport, width: int = READABLE_WIDTH) -> str:
    """Return the report for people: the worst first, then what fits, then the verdict."""
    parts = ["\n".join(_wrapped(found.title, width))]
    for level in _ORDER:
        of_level = _joined([check for check in found.checks if check.level is level])
        parts.append(_group(words.LEVELS[level], (_check(one, width) for one in of_level)))
    parts.append(_group(words.RUNTIMES, (_runtime(one, width) for one in found.runtimes)))
    fits = [one for one in found.presets if one.usable]
    others = [one for one in found.presets if not one.usable]
    parts.append(_group(words.PRESETS_FIT, _fitting(fits, width)))
    parts.append(_group(words.PRESETS_FIT_NOT, _unfitting(others, width)))
    parts.append("\n".join(_wrapped(verdict_text(found), width)))
    return "\n\n".join(part for part in parts if part)


def verdict_text(found: DoctorReport) -> str:
    """Return what it all comes to, in a sentence."""
    if found.level is Level.STOPS:
        return words.VERDICT_STOPS
    usable = sum(one.usable for one in found.presets)
    waiting = sum(one.usable and one.is_ready is False for one in found.presets)
    sentence = words.VERDICT_GOOD if found.level is Level.GOOD else words.VERDICT_LOOK
    if usable and waiting == usable:
        sentence = words.VERDICT_WAITS
    said = sentence.format(count=usable, total=len(found.presets))
    if 0 < waiting < usable:
        said += " " + words.SOME_WAIT.format(ready=usable - waiting, waiting=waiting)
    return said


def _joined(checks: Sequence[Check]) -> list[Check]:
    """Return the checks with those told once that say the same of several cards."""
    alike: dict[tuple[str | None, ...], list[Check]] = {}
    for place, check in enumerate(checks):
        own = check.code if check.gpu is not None else str(place)
        key = (own, check.found, check.advice, _without_index(check))
        alike.setdefault(key, []).append(check)
    return [_of_several(group) for group in alike.values()]


def _without_index(check: Check) -> str:
    """Return a check's title without the card's number in front."""
    own = words.CARD.format(index=check.gpu)
    return check.title.removeprefix(own)


def _of_several(group: Sequence[Check]) -> Check:
    first = group[0]
    if len(group) == 1:
        return first
    indices = ", ".join(str(check.gpu) for check in group)
    return msgspec.structs.replace(
        first, title=words.CARDS.format(indices=indices) + _without_index(first)
    )


def _group(title: str, blocks: Iterable[str]) -> str:
    body = list(blocks)
    return "\n".join([title, *body]) if body else ""


def _check(check: Check, width: int) -> str:
    said = check.found
    if check.stops and check.level is Level.STOPS:
        said = f"{said} {_stopped(check.stops)}"
    lines = _block(check.title, said, width)
    if check.advice and check.level is not Level.GOOD:
        inner = _GAP * 3
        advice = _wrapped(check.advice, width - len(inner) - 2)
        mark = f"{words.ADVICE_MARK} "
        lines += [inner + (mark if place == 0 else "  ") + one for place, one in enumerate(advice)]
    return "\n".join(lines)


def _stopped(names: Sequence[str]) -> str:
    if EVERYTHING in names:
        return words.STOPPED_ALL
    return words.STOPPED.format(names=", ".join(names))


def _runtime(one: RuntimeVerdict, width: int) -> str:
    said = [words.WORKS if one.usable else words.WORKS_NOT]
    state = words.STATES.get(one.state) if one.state is not None else None
    if state is not None and one.usable:
        said.append(state.format(name=one.name))
    said += one.reasons
    return "\n".join(_block(one.name, " ".join(said), width))


def _fitting(found: Sequence[PresetVerdict], width: int) -> list[str]:
    """Return each preset: its id and, in a column beside it, what it is for."""
    column = max((cells_of(one.id) for one in found), default=0)
    start = len(_GAP) + column + len(_GAP)
    made: list[str] = []
    for one in found:
        first, *rest = _wrapped(one.title, width - start) or [""]
        made.append(f"{_GAP}{padded(one.id, column)}{_GAP}{first}".rstrip())
        made += [" " * start + line for line in rest]
    return made


def _unfitting(found: Sequence[PresetVerdict], width: int) -> list[str]:
    """Return each first reason once, with the presets that it keeps from running."""
    by_reason: dict[str, list[str]] = {}
    for one in found:
        by_reason.setdefault((*one.reasons, one.title)[0], []).append(one.id)
    inner = _GAP * 2
    return [
        "\n".join(
            (
                *(_GAP + line for line in _wrapped(reason, width - len(_GAP))),
                *(inner + line for line in _wrapped(", ".join(ids), width - len(inner))),
            )
        )
        for reason, ids in by_reason.items()
    ]


def _block(title: str, said: str, width: int) -> list[str]:
    """Return a title in a column of its own, or above where it is long."""
    column = len(_GAP) + _MOST_TITLE + len(_GAP)
    if cells_of(title) > _MOST_TITLE or width - column < _LEAST_WIDTH:
        inner = _GAP * 2
        return [_GAP + title, *(inner + line for line in _wrapped(said, width - len(inner)))]
    lines = _wrapped(said, width - column)
    first = _GAP + padded(title, _MOST_TITLE) + _GAP + lines[0]
    return [first, *(" " * column + line for line in lines[1:])]


def _wrapped(text: str, width: int) -> list[str]:
    lines = textwrap.wrap(
        text, max(_LEAST_WIDTH, width), break_long_words=False, break_on_hyphens=False
    )
    return lines or [""]
