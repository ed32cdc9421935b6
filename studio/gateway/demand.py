"""Which engine runs when: started, switched and stopped by who waits. Pure.

There is one engine at a time. The preset whose oldest request waits longest is next; what serves
stays for its residence first, which bounds the switches in any span of time. Presets that fail are
left alone for ever longer.
"""

import dataclasses
import enum
from collections.abc import Mapping, Sequence

from studio.domain.demand import Reason

SHORTEST_RESIDENCE_S = 5.0
LONGEST_RESIDENCE_S = 300.0
_UNKNOWN_BOOT_S = 30.0
ABANDONED_S = 10.0
"""A boot that nobody waits for is ended after so long: clients that time out ask again at once."""
BRAKES_S = (60.0, 120.0, 300.0, 900.0)
"""How long a preset that failed is left alone, by failures in a row; the last one holds on."""


class Stand(enum.StrEnum):
    """Where the one engine stands."""

    NONE = "none"
    COMING = "coming"
    READY = "ready"
    ENDING = "ending"
    FOREIGN = "foreign"
    """Adopted: neither started nor stopped from here."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Present:
    """The engine of now; moments are of any clock that never goes back."""

    stand: Stand = Stand.NONE
    preset: str | None = None
    is_by_hand: bool = False
    """Whether a person started it."""
    ready_s: float | None = None
    """When it became ready."""
    boot_s: float | None = None
    """How long its boot took."""
    is_measured: bool = False
    """Whether a bench is under way, which a switch would spoil; the person may end it."""
    idle_s: float | None = None
    """Since when it has no request; None: it has some."""
    alone_s: float | None = None
    """Since when nobody waits for its boot; None: somebody does."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """Those who wait for one preset."""

    preset: str
    since_s: float
    """When the oldest of them came."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What the person chose."""

    listed: frozenset[str] = frozenset()
    """Presets that requests may start."""
    residence_s: float | None = None
    ttl_s: float = 0.0
    """0: never."""
    ttls_s: Mapping[str, float] = dataclasses.field(default_factory=dict)
    """Of presets that have one of their own."""
    ttl_by_hand: bool = False
    ends_abandoned: bool = False
    is_held: bool = False
    """A person said stop."""


class Act(enum.StrEnum):
    """What to do now."""

    WAIT = "wait"
    START = "start"
    SWITCH = "switch"
    STOP = "stop"
    END_BOOT = "end-boot"
    TURN_AWAY = "turn-away"
    """Nobody who waits for `preset` can be served."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What to do now, or when to look again."""

    act: Act = Act.WAIT
    preset: str | None = None
    """What is started, stopped or waited for."""
    at_s: float | None = None
    """For WAIT: when something is due by itself."""
    reason: Reason = Reason.QUIET


def decide(now_s: float, present: Present, lines: Sequence[Line], rules: Rules) -> Decision:
    """Return what to do. Who waits for an engine that is ready is let through before, not here."""
    others = [line for line in lines if line.preset != present.preset]
    first = min(others, key=lambda line: (line.since_s, line.preset), default=None)
    if present.stand is Stand.FOREIGN or rules.is_held:
        return _turned_away(lines, Reason.HELD if rules.is_held else Reason.BY_HAND)
    match present.stand:
        case Stand.NONE:
            oldest = min(lines, key=lambda line: (line.since_s, line.preset), default=None)
            if oldest is None:
                return Decision()
            return Decision(act=Act.START, preset=oldest.preset, reason=Reason.WANTED)
        case Stand.COMING:
            return _while_coming(now_s, present, rules, first)
        case Stand.ENDING:
            return Decision(preset=first.preset if first else None, reason=Reason.ENDING)
        case Stand.READY:
            return _while_ready(now_s, present, rules, first)


def _turned_away(lines: Sequence[Line], reason: Reason) -> Decision:
    if not lines:
        return Decision(reason=reason if reason is Reason.HELD else Reason.QUIET)
    return Decision(act=Act.TURN_AWAY, preset=lines[0].preset, reason=reason)


def _while_coming(now_s: float, present: Present, rules: Rules, first: Line | None) -> Decision:
    is_abandoned = present.alone_s is not None and not present.is_by_hand
    if rules.ends_abandoned and is_abandoned and present.alone_s is not None:
        due_s = present.alone_s + ABANDONED_S
        act = Act.END_BOOT if now_s >= due_s else Act.WAIT
        return Decision(act=act, preset=present.preset, at_s=due_s, reason=Reason.ABANDONED)
    return Decision(preset=first.preset if first else None, reason=Reason.BOOTING)


def _while_ready(now_s: float, present: Present, rules: Rules, first: Line | None) -> Decision:
    ready_s = now_s if present.ready_s is None else present.ready_s
    if first is None:
        return _while_alone(now_s, ready_s, present, rules)
    if present.is_by_hand and present.preset not in rules.listed:
        return Decision(act=Act.TURN_AWAY, preset=first.preset, reason=Reason.BY_HAND)
    if present.is_measured:
        return Decision(preset=first.preset, reason=Reason.MEASURED)
    due_s = ready_s + residence_s(present.boot_s, rules)
    if now_s >= due_s:
        return Decision(act=Act.SWITCH, preset=first.preset, reason=Reason.WANTED)
    return Decision(preset=first.preset, at_s=due_s, reason=Reason.RESIDENCE)


def _while_alone(now_s: float, ready_s: float, present: Present, rules: Rules) -> Decision:
    span_s = ttl_s(present, rules)
    if span_s is None:
        return Decision()
    if present.idle_s is None:  # its end is so far away at least, and a later look will tell
        return Decision(at_s=now_s + span_s)
    end_s = max(ready_s, present.idle_s) + span_s
    act = Act.STOP if now_s >= end_s else Act.WAIT
    return Decision(act=act, preset=present.preset, at_s=end_s, reason=Reason.IDLE)


def ttl_s(present: Present, rules: Rules) -> float | None:
    """Return how long the engine of now may be idle; None: for ever."""
    if present.preset is None or (present.is_by_hand and not rules.ttl_by_hand):
        return None
    span_s = rules.ttls_s.get(present.preset, rules.ttl_s)
    return span_s if span_s > 0 else None


def residence_s(boot_s: float | None, rules: Rules) -> float:
    """Return how long an engine serves at least: as chosen, else as long as its boot took.

    So at most half of the time goes into boots.
    """
    if rules.residence_s is not None:
        return rules.residence_s
    length_s = _UNKNOWN_BOOT_S if boot_s is None else boot_s
    return min(LONGEST_RESIDENCE_S, max(SHORTEST_RESIDENCE_S, length_s))


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Brake:
    """How often a preset failed in a row, and until when it is left alone."""

    failures: int
    until_s: float

    def holds(self, now_s: float) -> bool:
        """Tell whether it is left alone still."""
        return now_s < self.until_s


def braked(before: Brake | None, now_s: float, *, heals: bool) -> Brake:
    """Return the brake after one more failure; the longest where time alone hardly heals it."""
    failures = 1 + (before.failures if before is not None else 0)
    step = min(failures, len(BRAKES_S)) - 1 if heals else -1
    return Brake(failures=failures, until_s=now_s + BRAKES_S[step])
