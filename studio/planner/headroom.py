"""Observed engines and what was left of their cards: the ladder that a plan is held against."""

from studio.domain.manifests import Document
from studio.domain.plans import HeadroomOutcome, HeadroomRung
from studio.domain.units import MIB, bytes_text


class Rung(Document, frozen=True, kw_only=True):
    """One entry of `presets/planner/headroom.toml`."""

    mib: float
    outcome: HeadroomOutcome
    profiles: tuple[str, ...]
    """Ids of presets that it speaks of."""
    wsl: bool | None = None
    """Holds under WSL2 only, outside it only, or on both."""
    case: str
    source: str


class Rungs(Document, frozen=True, kw_only=True):
    """`presets/planner/headroom.toml`."""

    schema_version: int
    rungs: tuple[Rung, ...]


def ladder(
    rungs: tuple[Rung, ...], profiles: tuple[str, ...], *, is_wsl: bool
) -> tuple[HeadroomRung, ...]:
    """Return what is known of engines like this one, most room first.

    `profiles`: the preset's id, and those that it was copied from.
    """
    found = [
        HeadroomRung(
            bytes=round(rung.mib * MIB), outcome=rung.outcome, case=rung.case, source=rung.source
        )
        for rung in rungs
        if rung.wsl in (None, is_wsl) and not set(profiles).isdisjoint(rung.profiles)
    ]
    return tuple(sorted(found, key=lambda rung: -rung.bytes))


def warning(rungs: tuple[HeadroomRung, ...], left_bytes: int | None) -> str | None:
    """Return what to be wary of when so much is left, None when the ladder says nothing."""
    if left_bytes is None:
        return None
    bad = [rung for rung in rungs if rung.outcome is not HeadroomOutcome.RUNS]
    worst = max(bad, key=lambda rung: rung.bytes, default=None)
    if worst is None or left_bytes > worst.bytes:
        return None
    verb = "died" if worst.outcome is HeadroomOutcome.DIES else "spilled"
    return (
        f"About {bytes_text(max(0, left_bytes))} of the card would be left; an engine with "
        f"{bytes_text(max(0, worst.bytes))} left {verb} ({worst.case})."
    )
