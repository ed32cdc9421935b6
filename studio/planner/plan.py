"""From what settings come to, to what a person is told: verdict, reasons, reductions. Pure."""

import dataclasses
from collections.abc import Mapping, Sequence

from studio.domain.plans import HeadroomRung, Plan, PlannedCard, PlanVerdict, Reduction
from studio.planner import headroom, reductions
from studio.planner.outcome import Lack, Outcome
from studio.planner.reductions import Evaluate, Step


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What the plan is of, in words, and what is known beside its arithmetic."""

    model: str
    engine: str
    host: str
    preset: str | None = None
    title: str | None = None
    drafter: str | None = None
    runtime: str | None = None
    is_replay: bool = False
    cards: tuple[PlannedCard, ...] = ()
    download_bytes: int | None = None
    download_bytes_per_s: float | None = None
    disk_bytes: int | None = None
    boot_cold_s: float | None = None
    boot_warm_s: float | None = None
    boot_source: str | None = None
    rungs: tuple[HeadroomRung, ...] = ()


def verdict(outcome: Outcome, given_up: Sequence[Reduction]) -> PlanVerdict:
    """Return the verdict: what is sure to be in the way counts, then what is not known.

    A pool that holds no whole request by the forecast is never called fit, though it may be one
    within the error bar.
    """
    is_enough = bool(given_up) and given_up[-1].is_enough is True
    if outcome.starts and not outcome.unknown:
        return PlanVerdict.FITS
    if is_enough:
        return PlanVerdict.FITS_IF
    return PlanVerdict.UNKNOWN if outcome.fits else PlanVerdict.DOES_NOT_FIT


def must_give(
    outcome: Outcome, evaluate: Evaluate, overrides: Mapping[str, str], steps: Sequence[Step]
) -> tuple[Reduction, ...]:
    """Return what must give, nothing when it fits or when no giving would help."""
    if outcome.starts or any(one.lack is Lack.RULE for one in outcome.certain):
        return ()
    return reductions.find(outcome, evaluate, overrides, steps)


def plan(about: About, outcome: Outcome, given_up: tuple[Reduction, ...] = ()) -> Plan:
    """Return the plan of `outcome`; `given_up` are the reductions that were found."""
    found = verdict(outcome, given_up)
    wary = headroom.warning(about.rungs, outcome.headroom_bytes)
    may_start = not outcome.starts and outcome.fits
    unsure = [one.sentence for one in outcome.unsure if not may_start or one.lack is not Lack.POOL]
    return Plan(
        preset=about.preset,
        title=about.title,
        model=about.model,
        drafter=about.drafter,
        runtime=about.runtime,
        engine=about.engine,
        host=about.host,
        is_replay=about.is_replay,
        gpus=tuple(card.index for card in about.cards),
        cards=about.cards,
        verdict=found,
        may_start=may_start,
        pool_tokens=outcome.pool_tokens,
        pool_tokens_error=outcome.pool_tokens_error,
        kv_bytes=outcome.kv_bytes,
        blocks=outcome.blocks,
        block_size=outcome.block_size,
        blocks_per_request=outcome.blocks_per_request,
        page_bytes=outcome.page_bytes,
        parts=outcome.parts,
        max_model_len=outcome.max_model_len,
        longest_context=outcome.longest_context,
        seats=outcome.seats,
        resident_requests=outcome.resident_requests,
        headroom_bytes=outcome.headroom_bytes,
        headroom_error_bytes=outcome.headroom_error_bytes,
        spills=outcome.spills,
        headroom=about.rungs,
        boot_cold_s=about.boot_cold_s,
        boot_warm_s=about.boot_warm_s,
        boot_source=about.boot_source,
        download_bytes=about.download_bytes,
        download_s=_download_s(about),
        disk_bytes=about.disk_bytes,
        ledger=outcome.ledger,
        reductions=given_up,
        reasons=_reasons(found, outcome),
        warnings=(*outcome.warnings, *unsure, *([wary] if wary else ())),
        assumptions=outcome.assumptions,
    )


def _reasons(found: PlanVerdict, outcome: Outcome) -> tuple[str, ...]:
    certain = [one.sentence for one in outcome.certain]
    if outcome.fits:
        certain = [one.sentence for one in outcome.unsure if one.lack is Lack.POOL]
    unknown = list(outcome.unknown) if found is not PlanVerdict.FITS else []
    return tuple(dict.fromkeys([*certain, *unknown]))


def _download_s(about: About) -> float | None:
    """Return how long the download takes at the line's speed; 0 when nothing is to be fetched."""
    if about.download_bytes is None:
        return None
    if about.download_bytes == 0:
        return 0.0
    if not about.download_bytes_per_s:
        return None
    return about.download_bytes / about.download_bytes_per_s
