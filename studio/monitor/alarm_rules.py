"""The parts of an alarm's rule, ready for use, and the evidence that a second gives. Pure."""

import dataclasses
from collections.abc import Mapping

from studio.domain.alarms import Severity
from studio.domain.remedies import Way


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One alarm: how long evidence has to last, and what is said then."""

    code: str
    severity: Severity
    is_of_engine: bool
    """Only while an engine serves; else it is over."""
    settle_s: float
    """How long an engine has to serve before it counts: the load phase has an aftermath."""
    raise_after_s: float
    clear_after_s: float
    ease: float
    """What a limit is multiplied with while the alarm holds, so that it does not flap."""
    limits: Mapping[str, float]
    title: str
    cause: str
    ways: tuple[Way, ...]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What one second shows of one alarm."""

    where: str | None = None
    values: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """What the names in braces stand for."""
    lines: tuple[str, ...] = ()
    """What was measured, one thing a line."""
    flags: frozenset[str] = frozenset()
    """What remedies may depend on."""
    size: float = 1.0
    """How bad it is: half as much again is told anew."""


class Limits:
    """The limits of one rule; easier ones while its alarm holds."""

    def __init__(self, rule: Rule, *, is_held: bool) -> None:
        self._limits = rule.limits
        self._ease = rule.ease if is_held else 1.0

    def over(self, name: str, value: float | None) -> bool:
        """Tell whether `value` is at its limit or above."""
        return value is not None and value >= self._limits[name] * self._ease

    def under(self, name: str, value: float | None) -> bool:
        """Tell whether `value` is at its limit or below."""
        return value is not None and value <= self._limits[name] / self._ease

    def plain(self, name: str) -> float:
        """Return a figure that does not ease."""
        return self._limits[name]
