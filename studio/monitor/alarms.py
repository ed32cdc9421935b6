"""Seconds of the monitor → alarms: raised when evidence has lasted, ended when it is long gone.

Pure. One alarm for each code and place. While it holds, its limits are easier and its words follow
the figures; a second that says nothing neither raises nor ends it at once.
"""

import dataclasses
import re
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from studio.domain.alarms import Alarm, Severity
from studio.domain.remedies import Remedy, Way
from studio.monitor.alarm_rules import Evidence, Limits, Rule
from studio.monitor.scene import Recent, Scene
from studio.monitor.signs import SIGNS

GAP_S = 2.5
"""A pause in the evidence that does not begin it anew: one reading may fail."""
_GAP_TICKS = 2.5
"""The same where ticks are further apart than a second."""
_WORSE = 1.5
"""From this factor on a growing evil is told anew."""

_ORDER = {Severity.HARM: 0, Severity.WARNING: 1, Severity.NOTICE: 2}


@dataclasses.dataclass(slots=True, kw_only=True)
class _Case:
    """One code at one place, from the first second of evidence."""

    rule: Rule
    began_s: float
    began_at: float
    seen_s: float
    alarm: Alarm | None = None
    told_size: float = 0.0


class Judge:
    """One per service; `judge` once a second."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._rules = tuple(rules)
        self._cases: dict[tuple[str, str | None], _Case] = {}
        self._recent = Recent()
        self._last_s: float | None = None
        self._gap_s = GAP_S

    @property
    def active(self) -> tuple[Alarm, ...]:
        """Return what holds now, the worst first."""
        found = [case.alarm for case in self._cases.values() if case.alarm is not None]
        return tuple(sorted(found, key=lambda one: (_ORDER[one.severity], one.raised_at)))

    def judge(self, scene: Scene) -> tuple[Alarm, ...]:
        """Return the alarms that are new, worse or over with this second."""
        if self._last_s is not None and scene.monotonic_s <= self._last_s:
            return ()
        step_s = scene.monotonic_s - (self._last_s if self._last_s is not None else 0.0)
        self._gap_s = max(GAP_S, _GAP_TICKS * step_s) if self._last_s is not None else GAP_S
        self._last_s = scene.monotonic_s
        self._recent.take(scene)
        news: list[Alarm] = []
        for rule in self._rules:
            seen: set[str | None] = set()
            for evidence in self._evidence(rule, scene):
                seen.add(evidence.where)
                news += self._found(rule, evidence, scene)
            news += self._missed(rule, seen, scene)
        return tuple(news)

    def _evidence(self, rule: Rule, scene: Scene) -> Iterator[Evidence]:
        if not _counts(rule, scene):
            return
        sign = SIGNS[rule.code]
        held = {
            where
            for (code, where), case in self._cases.items()
            if code == rule.code and case.alarm is not None
        }
        for evidence in sign.look(scene, self._recent, Limits(rule, is_held=False)):
            yield evidence
            held.discard(evidence.where)
        if held:
            for evidence in sign.look(scene, self._recent, Limits(rule, is_held=True)):
                if evidence.where in held:
                    yield evidence

    def _found(self, rule: Rule, evidence: Evidence, scene: Scene) -> Iterator[Alarm]:
        key = (rule.code, evidence.where)
        case = self._cases.get(key)
        now_s = scene.monotonic_s
        if case is None or (case.alarm is None and now_s - case.seen_s > self._gap_s):
            case = _Case(rule=rule, began_s=now_s, began_at=scene.at, seen_s=now_s)
            self._cases[key] = case
        case.seen_s = now_s
        if case.alarm is not None:
            case.alarm = _alarm(rule, evidence, scene, case.began_at, case.alarm.raised_at)
            if evidence.size >= case.told_size * _WORSE:
                case.told_size = evidence.size
                yield case.alarm
        elif now_s - case.began_s >= rule.raise_after_s:
            case.alarm = _alarm(rule, evidence, scene, case.began_at, scene.at)
            case.told_size = evidence.size
            yield case.alarm

    def _missed(self, rule: Rule, seen: set[str | None], scene: Scene) -> Iterator[Alarm]:
        is_over = not _counts(rule, scene)
        for key, case in list(self._cases.items()):
            if key[0] != rule.code or key[1] in seen:
                continue
            quiet_s = scene.monotonic_s - case.seen_s
            if case.alarm is None:
                if quiet_s > self._gap_s or is_over:
                    del self._cases[key]
            elif is_over or quiet_s >= rule.clear_after_s:
                del self._cases[key]
                yield msgspec.structs.replace(case.alarm, ended_at=scene.at)


def _counts(rule: Rule, scene: Scene) -> bool:
    if not rule.is_of_engine:
        return True
    return scene.is_serving and scene.served_s >= rule.settle_s


def _alarm(rule: Rule, evidence: Evidence, scene: Scene, since: float, raised_at: float) -> Alarm:
    ways = (way for way in rule.ways if _holds(way, evidence.flags | scene.flags))
    return Alarm(
        code=rule.code,
        severity=rule.severity,
        title=_sentence(rule.title, evidence.values),
        cause=_sentence(rule.cause, evidence.values),
        evidence=evidence.lines,
        remedies=tuple(_remedy(way, evidence.values) for way in ways),
        since=since,
        raised_at=raised_at,
        where=evidence.where,
    )


def _holds(way: Way, flags: frozenset[str]) -> bool:
    return all((flag.removeprefix("!") in flags) != flag.startswith("!") for flag in way.when)


def _remedy(way: Way, values: Mapping[str, str]) -> Remedy:
    """Return a way with its figures; names of its own settings stay: the preset knows them."""
    return Remedy(
        kind=way.kind,
        text=_filled(way.text, values),
        settings={name: _filled(value, values) for name, value in way.settings.items()},
        command=None if way.command is None else _filled(way.command, values),
    )


class _Left(dict[str, str]):
    """Names that are not known stay as they are."""

    def __missing__(self, name: str) -> str:
        return f"{{{name}}}"


_BEGINS = re.compile(r"(?:^|(?<=[.] ))[a-z]")


def _sentence(text: str, values: Mapping[str, str]) -> str:
    """Return a text with its figures; what begins a sentence is a capital, whatever was put in."""
    return _BEGINS.sub(lambda match: match[0].upper(), _filled(text, values))


def _filled(text: str, values: Mapping[str, str]) -> str:
    return text.format_map(_Left(values))
