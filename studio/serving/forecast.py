"""How much of a boot is left, while it boots. Pure.

A phase that takes longer than it used to pushes what comes after it; one that says how far it is
(weights) is believed more, the further it is. Where the phases so far went slower or faster than
usual, half of that is expected of the rest: a busy machine stays busy, a cold disk does not.
"""

import dataclasses
from collections.abc import Sequence

from studio.domain.server import BootPhase, PhaseForecast, PhaseTime
from studio.serving.boots import Outlook

_RANK = {phase: rank for rank, phase in enumerate(BootPhase)}
_LATE_SHARE = 1.5
_LATE_S = 5.0
"""A phase is late when it took half as long again as it used to, and at least this much longer."""
_CARRIED_ON = 0.5
_LEAST_PACE, _MOST_PACE = 0.5, 4.0
_LEAST_USUAL_S = 3.0
"""Phases of less than this in all say nothing of a machine's pace."""
_LEAST_SHARE = 0.05
_LEAST_S = 1.0
"""Before that, a share says more of the first shard than of the rest."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """Where a boot stands."""

    phases: tuple[PhaseTime, ...]
    elapsed_s: float
    share: float | None = None
    """Of the phase under way, where it says how far it is and goes at an even pace."""

    @property
    def phase(self) -> BootPhase:
        """The phase under way."""
        return self.phases[-1].phase

    @property
    def spent_s(self) -> float:
        """How long the phase under way has lasted."""
        return max(0.0, self.elapsed_s - self.phases[-1].started_s)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """What is left, and whether the phase under way takes longer than usual."""

    remaining_s: float | None = None
    later_s: float | None = None
    """Of it, what comes after the phase under way."""
    usual_s: float | None = None
    """What the phase under way takes as a rule."""
    is_late: bool = False


def left(outlook: Outlook, progress: Progress) -> Left:
    """Return what is left of a boot."""
    usual = outlook.phases_s.get(progress.phase)
    spent = progress.spent_s
    if not outlook.phases_s:
        return _of_the_whole(outlook, progress)
    pace = _pace(outlook, progress)
    now = _rest_of_phase(usual and usual * pace, spent, progress.share)
    later = pace * sum(
        s for phase, s in outlook.phases_s.items() if _RANK[phase] > _RANK[progress.phase]
    )
    is_late = usual is not None and spent > max(usual * _LATE_SHARE, usual + _LATE_S)
    if now is None or (is_late and progress.share is None):
        # It may go on for as long as it likes: what is known is what comes after it.
        return Left(later_s=later, usual_s=usual, is_late=is_late)
    return Left(remaining_s=now + later, later_s=later, usual_s=usual, is_late=is_late)


def _of_the_whole(outlook: Outlook, progress: Progress) -> Left:
    if outlook.whole_s is None:
        return Left()
    rest = outlook.whole_s - progress.elapsed_s
    is_late = progress.elapsed_s > max(outlook.whole_s * _LATE_SHARE, outlook.whole_s + _LATE_S)
    return Left(remaining_s=rest if rest > 0 else None, is_late=is_late)


def _pace(outlook: Outlook, progress: Progress) -> float:
    """Return how much longer than usual the rest should take, by the phases that are over."""
    took = usual = 0.0
    for one in progress.phases:
        expected = outlook.phases_s.get(one.phase)
        if one.ended_s is not None and expected is not None:
            took += one.ended_s - one.started_s
            usual += expected
    if usual < _LEAST_USUAL_S:
        return 1.0
    return min(_MOST_PACE, max(_LEAST_PACE, 1 + (took / usual - 1) * _CARRIED_ON))


def _rest_of_phase(usual: float | None, spent: float, share: float | None) -> float | None:
    by_history = None if usual is None else max(0.0, usual - spent)
    if share is None or share < _LEAST_SHARE or spent < _LEAST_S:
        return by_history
    by_share = spent * (1 - share) / share
    if by_history is None:
        return by_share
    return share * by_share + (1 - share) * by_history


def per_phase(outlook: Outlook, phases: Sequence[PhaseTime]) -> tuple[PhaseForecast, ...]:
    """Return the phases in order: what is over as it was, the rest as it should be."""
    took = {p.phase: p.ended_s - p.started_s for p in phases if p.ended_s is not None}
    begun = max((_RANK[p.phase] for p in phases), default=-1)
    return tuple(
        PhaseForecast(phase=phase, expected_s=round(seconds, 3))
        for phase in BootPhase
        if (
            seconds := took.get(
                phase, outlook.phases_s.get(phase) if _RANK[phase] >= begun else None
            )
        )
        is not None
    )
