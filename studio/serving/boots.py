"""What boots on this machine took, and what that says of the next one. Pure.

A boot belongs to a place: runtime id, preset and cards. Of a place the last boots are kept; the
forecast is the median of the last few of the same temperature, those with the same settings first.
Cold means that the boot makes what later ones find ready.
"""

import dataclasses
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from studio.domain.boots import BootHistory, BootOutcome, BootRecord
from studio.domain.server import BootPhase, PhaseTime

MOST = 256
"""Some 200 KB; the oldest go."""
MOST_OF_A_PLACE = 16
"""So that one preset that is started all day does not push out what is started monthly."""
_USED = 5
"""Boots of a median: enough that one slow disk does not count, few enough to follow a change."""


TIMING = ("enforce_eager", "compilation_config", "tensor_parallel_size", "quantization", "dtype")
"""Settings on which it depends what a boot has to do: with others than these it takes as long."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Which boots are of a kind."""

    preset: str
    runtime_id: str
    cards: str
    settings: Mapping[str, object] = dataclasses.field(default_factory=dict)

    def holds(self, record: BootRecord) -> bool:
        """Tell whether a boot was of this preset, runtime and cards."""
        mine = (self.preset, self.runtime_id, self.cards)
        return (record.preset, record.runtime_id, record.cards) == mine

    def takes_as_long(self, record: BootRecord) -> bool:
        """Tell whether a boot of this place had to do the same things."""
        mine, its = self.settings, record.settings
        return self.holds(record) and all(mine.get(name) == its.get(name) for name in TIMING)

    def is_same(self, record: BootRecord) -> bool:
        """Tell whether its settings were the same too."""
        return self.holds(record) and record.settings == self.settings


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """How long a boot should take; None where nobody knows."""

    is_cold: bool | None = None
    phases_s: Mapping[BootPhase, float] = dataclasses.field(default_factory=dict)
    whole_s: float | None = None


def with_boot(known: BootHistory, record: BootRecord) -> BootHistory:
    """Return the history with one boot more, within its bounds."""
    place = Place(preset=record.preset, runtime_id=record.runtime_id, cards=record.cards)
    alike = [one for one in known.boots if place.holds(one)]
    too_many = max(0, len(alike) - MOST_OF_A_PLACE + 1)
    dropped = set(map(id, alike[:too_many]))
    kept = [one for one in known.boots if id(one) not in dropped]
    return msgspec.structs.replace(known, boots=(*kept, record)[-MOST:])


def durations(phases: Iterable[PhaseTime]) -> dict[str, float]:
    """Return the seconds of each phase that came to its end."""
    return {
        one.phase.value: round(one.ended_s - one.started_s, 3)
        for one in phases
        if one.ended_s is not None
    }


def guess_is_cold(known: BootHistory, place: Place, exists: Callable[[str], bool]) -> bool:
    """Return whether the next boot will have to compile, as far as earlier ones tell.

    Warm: the newest boot of these settings came past its compilation, and what it made is still
    there (a boot without a `compile_cache` kept nothing). `exists` looks whether a path does.
    """
    for record in reversed(known.boots):
        if not place.is_same(record) or not _has_compiled(record):
            continue
        return record.compile_cache is None or not exists(record.compile_cache)
    return True


def _has_compiled(record: BootRecord) -> bool:
    """Tell whether a boot came as far as the pool, for which all has to be compiled."""
    past = (BootPhase.COMPILE, BootPhase.PROFILE, BootPhase.KV_CACHE)
    is_refused = any(phase.value in record.phases_s for phase in past)
    return record.outcome is BootOutcome.SERVED or is_refused


def outlook(
    known: BootHistory,
    place: Place,
    *,
    is_cold: bool,
    published_s: float | None = None,
    rough_s: float | None = None,
) -> Outlook:
    """Return what the boots of `place` say of one like it.

    In this order: boots here of this temperature; `published_s`, which is of this temperature too;
    boots here of the other one, which is too long or too short but of this machine; `rough_s`.
    What refused boots took counts for the phases that they finished.
    """
    here = [one for one in known.boots if place.takes_as_long(one)]
    for temperature in (is_cold, not is_cold):
        alike = [one for one in here if one.is_cold is temperature]
        chosen = ([one for one in alike if place.is_same(one)] or alike)[-_USED:]
        wholes = [one.boot_s for one in chosen if one.boot_s is not None]
        if wholes:
            whole_s = statistics.median(wholes)
            return Outlook(is_cold=is_cold, phases_s=_medians(chosen), whole_s=whole_s)
        if published_s is not None:
            return Outlook(is_cold=is_cold, whole_s=published_s)
    return Outlook(is_cold=is_cold, whole_s=rough_s)


def _medians(records: Sequence[BootRecord]) -> dict[BootPhase, float]:
    found: dict[BootPhase, float] = {}
    for phase in BootPhase:
        times = [one.phases_s[phase] for one in records if phase in one.phases_s]
        # A phase that most boots do not have will not come.
        if len(times) * 2 >= len(records):
            found[phase] = statistics.median(times)
    return found


def needs_no_estimate(known: BootHistory, place: Place) -> bool:
    """Tell whether the last boot of these settings served only without the graphs' estimate.

    A start with it would be refused again, and by a warm boot, which is no reason for another try.
    """
    last = last_served(known, place)
    return last is not None and place.is_same(last) and last.without_graph_estimate


def last_served(known: BootHistory, place: Place) -> BootRecord | None:
    """Return the newest boot of the place that served, that of the same settings first."""
    served = [one for one in known.boots if place.holds(one) and one.outcome is BootOutcome.SERVED]
    same = [one for one in served if place.is_same(one)]
    found = same or served
    return found[-1] if found else None
