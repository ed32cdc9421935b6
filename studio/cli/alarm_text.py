"""Alarms to text, as pure functions."""

import datetime
import textwrap
from collections.abc import Iterator, Sequence

from studio.cli import alarm_words as words
from studio.cli.console import plain
from studio.domain.alarms import Alarm, AlarmList, Mute
from studio.domain.units import duration_text

_INDENT = "  "
_ENDED_SHOWN = 10


def list_text(found: AlarmList, width: int) -> str:
    """Return what holds with cause and remedies, what is over, and what is muted."""
    lines: list[str] = []
    for alarm in found.active:
        lines += [*alarm_lines(alarm, width), ""]
    if not found.active:
        lines += [words.NONE if found.is_watched else words.NOT_WATCHED, ""]
    elif any(one.can_apply for alarm in found.active for one in alarm.remedies):
        lines += [words.SEE_FIX, ""]
    if found.ended:
        lines.append(f"{words.HEADING_ENDED}:")
        lines += [_INDENT + over_line(one) for one in found.ended[-_ENDED_SHOWN:]]
        lines.append("")
    if found.mutes:
        lines.append(f"{words.HEADING_MUTED}:")
        lines += [_INDENT + _mute_line(one) for one in found.mutes]
    return "\n".join(lines).rstrip("\n")


def alarm_lines(alarm: Alarm, width: int) -> list[str]:
    """Return an alarm with all that is known of it."""
    lines = [plain(head(alarm))]
    lines += _wrapped(alarm.cause, width)
    lines += [f"{_INDENT}| {plain(line)}" for line in alarm.evidence]
    lines.append(_INDENT + words.SINCE.format(time=moment_text(alarm.since)))
    for remedy in alarm.remedies:
        form = words.DO if remedy.command is None else words.DO_COMMAND
        lines += _wrapped(form.format(text=remedy.text, command=remedy.command), width)
    return lines


def head(alarm: Alarm) -> str:
    """Return severity, title and code in one line."""
    form = words.HEAD_MUTED if alarm.is_muted else words.HEAD
    severity = words.SEVERITIES[alarm.severity]
    return form.format(severity=severity, title=alarm.title, code=alarm.code)


def over_line(alarm: Alarm) -> str:
    """Return an alarm that is over in one line."""
    ended = alarm.ended_at if alarm.ended_at is not None else alarm.raised_at
    return plain(
        words.OVER.format(
            time=moment_text(ended),
            title=alarm.title,
            code=alarm.code,
            span=duration_text(max(0.0, ended - alarm.since)),
        )
    )


def status_pairs(alarms: Sequence[Alarm]) -> list[tuple[str, str]]:
    """Return label and value of each alarm for `weir status`; muted ones are named, too."""
    pairs = [(words.LABEL, plain(head(one))) for one in alarms]
    return [*pairs, ("", words.MORE)] if pairs else []


def moment_text(at: float) -> str:
    """Return a moment in local time, to the second."""
    return f"{datetime.datetime.fromtimestamp(at).astimezone():%Y-%m-%d %H:%M:%S}"


def _mute_line(mute: Mute) -> str:
    if mute.until is not None:
        return words.MUTED_UNTIL.format(code=mute.code, time=moment_text(mute.until))
    form = words.MUTED_ONCE if mute.is_once else words.MUTED_FOR_GOOD
    return form.format(code=mute.code)


def _wrapped(text: str, width: int) -> Iterator[str]:
    yield from textwrap.wrap(
        plain(text),
        width,
        initial_indent=_INDENT,
        subsequent_indent=_INDENT,
        break_long_words=False,
        break_on_hyphens=False,
    )
