"""A start, its boots and its engine, as tests of them need them."""

import dataclasses
from typing import Any

from studio.app.boot_about import About
from studio.domain.boots import BootRecord
from studio.domain.errors import ErrorInfo
from studio.domain.plans import LedgerItem, Plan, PlanVerdict
from studio.domain.server import BootPhase, EngineSnapshot, EngineState, PhaseTime
from studio.domain.units import GIB
from studio.serving.boots import Place
from tests.serving.boot_samples import record

PLACE = Place(preset="p", runtime_id="r1", cards="GPU-1", settings={"max_model_len": 65_536})
REFUSED = ErrorInfo(
    code="kv-cache-too-small",
    message="Too little.",
    data={"needed_gib": 4.0, "available_gib": 3.5},
)


def about(**changes: Any) -> About:
    """Return an unpinned start on one card, changed as told."""
    made = About(
        place=PLACE,
        runtime="engine",
        settings={"max_model_len": 65_536},
        can_pin=True,
        is_pinned=False,
        uses_cards=True,
        card_names=("GPU-1",),
        cache="/cache",
    )
    return dataclasses.replace(made, **changes)


def boot(**changes: Any) -> BootRecord:
    """Return a boot of that start that served."""
    fields = {"cards": "GPU-1", "settings": dict(PLACE.settings), **changes}
    return record(**fields)


def engine(
    state: EngineState, *spans: tuple[BootPhase, float, float | None], **more: Any
) -> EngineSnapshot:
    """Return the engine in a state, with phases as (phase, start, end)."""
    phases = tuple(PhaseTime(phase=p, started_s=s, ended_s=e) for p, s, e in spans)
    fields: dict[str, Any] = {
        "preset": "p",
        "pid": 1,
        "started_at": 1_764_000_000.0,
        "phase": phases[-1].phase if phases and state is EngineState.STARTING else None,
        "phases": phases,
        "elapsed_s": phases[-1].started_s if phases else None,
    }
    return EngineSnapshot(state=state, **{**fields, **more})


def plan(*, kv_gib: float | None, error_gib: float | None = 0.5, **more: Any) -> Plan:
    """Return a plan that leaves so much for the KV cache of a card."""
    return Plan(
        model="m",
        engine="vllm-0.32.0",
        host="a machine",
        verdict=PlanVerdict.FITS,
        kv_bytes=None if kv_gib is None else round(kv_gib * GIB),
        ledger=(
            LedgerItem(
                name="kv-pool",
                title="KV pool",
                error_bytes=None if error_gib is None else round(error_gib * GIB),
                source="test",
            ),
        ),
        **more,
    )
