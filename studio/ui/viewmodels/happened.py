"""What happened, as marks on the time axis, as a table, and as alarms that are over."""

from collections.abc import Sequence

import msgspec

from studio.domain.alarms import Alarm, AlarmList, Mute, Severity
from studio.domain.history import HistoryEvent, HistoryEventKind
from studio.domain.units import UNKNOWN, duration_text
from studio.ui.language import marked, nt, t, told
from studio.ui.viewmodels.moments import second_words
from studio.ui.viewmodels.words import Role, listed, named

_Kind = HistoryEventKind

KIND_WORDS: dict[HistoryEventKind, str] = {
    _Kind.SERVICE_STARTED: marked("Service started"),
    _Kind.SERVICE_STOPPED: marked("Service stopped"),
    _Kind.BOOT: marked("Ready"),
    _Kind.STOPPED: marked("Engine stopped"),
    _Kind.DEATH: marked("Engine died"),
    _Kind.FAILED: marked("Start failed"),
    _Kind.SWITCH: marked("Switched"),
    _Kind.SETTINGS: marked("Other settings"),
    _Kind.BADGE: marked("Slow path"),
    _Kind.ALARM: marked("Alarm"),
    _Kind.ALARM_ENDED: marked("Alarm over"),
    _Kind.CLOCK_STEPPED: marked("Clock set"),
    _Kind.SET_ASIDE: marked("History begun anew"),
}
_ROLES: dict[HistoryEventKind, Role] = {
    _Kind.BOOT: Role.OK,
    _Kind.DEATH: Role.HARM,
    _Kind.FAILED: Role.HARM,
    _Kind.BADGE: Role.WARN,
    _Kind.ALARM: Role.WARN,
    _Kind.SET_ASIDE: Role.WARN,
}
_SEVERITIES: dict[Severity, str] = {
    Severity.NOTICE: marked("Notice"),
    Severity.WARNING: marked("Warning"),
    Severity.HARM: marked("Harm"),
}


class EventMark(msgspec.Struct, frozen=True):
    """One event on the time axis, and its words."""

    at: float
    role: Role
    words: str


class EventLine(msgspec.Struct, frozen=True, kw_only=True):
    """One event as a row of a table."""

    id: str
    at: float
    when: str
    kind: str
    name: str
    detail: str
    role: Role


class EndedLine(msgspec.Struct, frozen=True, kw_only=True):
    """One alarm that is over."""

    id: str
    raised_at: float
    when: str
    lasted: str
    lasted_s: float
    severity: str
    title: str
    cause: str


def event_words(event: HistoryEvent) -> str:
    """Return `Ready: cpu-demo. Ready after 49.8 s, warm.`"""
    kind = t(KIND_WORDS[event.kind])
    head = kind if event.name == "service" else named(kind, event.name)
    return f"{head}. {event.detail}" if event.detail else head


def marks_of(events: Sequence[HistoryEvent]) -> tuple[EventMark, ...]:
    """Return the events as marks, oldest first."""
    return tuple(
        EventMark(one.at, _ROLES.get(one.kind, Role.QUIET), event_words(one)) for one in events
    )


def mark_near(marks: Sequence[EventMark], at: float, reach_s: float) -> EventMark | None:
    """Return the mark nearest to a moment, not farther away than `reach_s`."""
    near = min(marks, key=lambda one: abs(one.at - at), default=None)
    return near if near is not None and abs(near.at - at) <= reach_s else None


def event_lines(events: Sequence[HistoryEvent]) -> tuple[EventLine, ...]:
    """Return the rows of the table, the newest first."""
    numbered = list(enumerate(events))
    return tuple(
        EventLine(
            id=f"{one.at:.3f}-{number}",
            at=one.at,
            when=second_words(one.at),
            kind=t(KIND_WORDS[one.kind]),
            name="" if one.name == "service" else one.name,
            detail=one.detail,
            role=_ROLES.get(one.kind, Role.QUIET),
        )
        for number, one in reversed(numbered)
    )


def ended_lines(alarms: AlarmList | None) -> tuple[EndedLine, ...]:
    """Return the alarms that are over, the newest first."""
    if alarms is None:
        return ()
    return tuple(_ended(number, one) for number, one in reversed(list(enumerate(alarms.ended))))


def _ended(number: int, alarm: Alarm) -> EndedLine:
    lasted_s = (alarm.ended_at or alarm.raised_at) - alarm.since
    title = told(alarm.title)
    return EndedLine(
        id=f"{alarm.code}-{alarm.raised_at:.3f}-{number}",
        raised_at=alarm.raised_at,
        when=second_words(alarm.raised_at),
        lasted=UNKNOWN if alarm.ended_at is None else duration_text(max(0.0, lasted_s)),
        lasted_s=lasted_s,
        severity=t(_SEVERITIES[alarm.severity]),
        title=title if alarm.where is None else f"{title} ({alarm.where})",
        cause=told(alarm.cause),
    )


def alarms_words(alarms: AlarmList | None) -> str:
    """Return in one line how it stands with alarms."""
    if alarms is None:
        return t("The service tells what it warns of when it answers.")
    if not alarms.is_watched:
        return t("Nothing is watched while no service runs.")
    if not alarms.active:
        return t("All is well: nothing to warn of.")
    count = len(alarms.active)
    return nt("{n} alarm holds.", "{n} alarms hold.", count).format(n=count)


def mutes_words(mutes: Sequence[Mute]) -> str:
    """Return what is muted, in one line; empty: nothing."""
    if not mutes:
        return ""
    return t("Muted: {codes}").format(codes=listed(one.code for one in mutes))
