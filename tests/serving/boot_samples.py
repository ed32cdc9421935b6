"""Boots and phases as tests need them."""

from typing import Any

from studio.domain.boots import BootOutcome, BootRecord
from studio.domain.server import BootPhase, PhaseTime
from studio.serving.boots import Place

PLACE = Place(preset="p", runtime_id="r1", cards="cpu", settings={"dtype": "float32"})


def record(**changes: Any) -> BootRecord:
    """Return a boot that served, of `PLACE`, changed as told."""
    fields: dict[str, Any] = {
        "at": "2026-11-29T12:00:00+00:00",
        "preset": "p",
        "runtime": "engine",
        "runtime_id": "r1",
        "cards": "cpu",
        "outcome": BootOutcome.SERVED,
        "is_cold": False,
        "boot_s": 30.0,
        "phases_s": {"interpreter": 10.0, "weights": 15.0, "first-token": 5.0},
        "settings": {"dtype": "float32"},
        "pool_tokens": 1000,
        "compile_cache": "/cache",
    }
    return BootRecord(**{**fields, **changes})


def phases(*spans: tuple[BootPhase, float, float | None]) -> tuple[PhaseTime, ...]:
    """Return phases from (phase, start, end)."""
    return tuple(PhaseTime(phase=one, started_s=begun, ended_s=end) for one, begun, end in spans)
