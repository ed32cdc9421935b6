"""A boot that is over → what is kept of it. Pure."""

from collections.abc import Mapping

from studio.app.boot_about import About
from studio.app.boot_under_way import BootUnderWay
from studio.domain.boots import BootOutcome, BootRecord
from studio.domain.server import EngineSnapshot
from studio.planner import calibration
from studio.serving import boots

Facts = Mapping[str, int | float | str]


def recorded(
    about: About,
    boot: BootUnderWay,
    engine: EngineSnapshot,
    outcome: BootOutcome,
    facts: Facts,
    *,
    at: str,
) -> BootRecord:
    """Return the record of a boot; `engine` is as it was when the boot was over."""
    is_served = outcome is BootOutcome.SERVED
    seen = calibration.observed(
        facts,
        runtime_id=about.place.runtime_id,
        preset=about.place.preset,
        cards=about.card_names,
        settings=about.settings,
        is_cold=boot.is_cold,
        boot_s=engine.boot_s,
        card_bytes=about.card_bytes,
        at=at,
    )
    took = boots.durations(engine.phases if is_served else boot.last.phases)
    return BootRecord(
        at=at,
        preset=about.place.preset,
        runtime=about.runtime,
        runtime_id=about.place.runtime_id,
        cards=about.place.cards,
        outcome=outcome,
        attempt=boot.attempt,
        is_cold=boot.is_cold,
        is_cold_certain=boot.is_certain,
        phases_s=took,
        boot_s=round(engine.boot_s, 3) if is_served and engine.boot_s is not None else None,
        forecast_s=boot.forecast_s,
        without_graph_estimate=about.without_graph_estimate,
        error=engine.error.code if engine.error is not None and not is_served else None,
        settings=dict(about.settings),
        pool_tokens=seen.pool_tokens,
        max_model_len=_whole(facts, "max_model_len"),
        weights_bytes=seen.weights_bytes,
        activation_peak_bytes=seen.activation_peak_bytes,
        non_torch_bytes=seen.non_torch_bytes,
        graph_pool_bytes=seen.graph_pool_bytes,
        kv_bytes=seen.kv_bytes,
        kv_error_bytes=seen.kv_error_bytes,
        card_bytes=about.card_bytes,
        held_bytes=about.held_bytes,
        driver=about.driver,
        compile_cache=_cache(about, facts),
    )


def _cache(about: About, facts: Facts) -> str | None:
    if facts.get("cache_off"):
        return None
    named = facts.get("compile_cache")
    return named if isinstance(named, str) else about.cache


def _whole(facts: Facts, name: str) -> int | None:
    value = facts.get(name)
    return value if isinstance(value, int) else None
