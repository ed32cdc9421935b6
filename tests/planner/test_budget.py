"""What an engine has for its KV cache, and what lies beside it."""

import dataclasses

from studio.domain.geometry import ModelGeometry
from studio.domain.units import GIB
from studio.planner import budget, calibration
from studio.planner.budget import Surroundings, Tables
from studio.planner.calibration import Calibration
from studio.planner.engine import Engine, engine
from tests.planner.plan_samples import LLAMA, PROCESSOR

TABLES = Tables(processor=PROCESSOR)


@dataclasses.dataclass(frozen=True)
class _Models:
    engine: Engine
    target: ModelGeometry | None = LLAMA
    drafter: ModelGeometry | None = None


CPU = _Models(engine=engine("cpu-vllm-0.32.0"))


def test_pinned_bytes_are_what_they_are() -> None:
    """No forecast stands between the person and their figure."""
    found = budget.forecast(CPU, {"kv_cache_memory_bytes": 5}, (), Surroundings(tables=TABLES))

    assert (found.kv_bytes, found.kv_error_bytes) == (5, 0)


def test_a_processor_s_pool_is_a_share_of_the_memory_less_what_is_held() -> None:
    """`gpu_memory_utilization` counts there too, despite its name."""
    around = Surroundings(tables=TABLES, memory_bytes=16 * GIB)

    found = budget.forecast(CPU, {"gpu_memory_utilization": 0.5}, (), around)

    assert found.kv_bytes == 8 * GIB - 600_000_000 - 269_000_000
    assert found.kv_error_bytes == 100_000_000


def test_weights_are_counted_in_the_number_format_of_the_engine() -> None:
    """float32 weights served in bfloat16 take half."""
    around = Surroundings(tables=TABLES)

    wide = budget.forecast(CPU, {"dtype": "float32"}, (), around)

    assert [item.bytes for item in wide.items if item.name == "weights"] == [2 * 269_000_000]


def test_unknown_memory_leaves_the_pool_unknown() -> None:
    """An invented pool would be believed."""
    found = budget.forecast(CPU, {}, (), Surroundings(tables=TABLES))

    assert found.kv_bytes is None
    assert "kv_cache_memory_bytes" in found.unknown[0]


def test_what_was_seen_here_with_the_same_settings_replaces_the_forecast() -> None:
    """After one boot the next forecast is within one per cent."""
    settings = {"gpu_memory_utilization": 0.5}
    boot = calibration.observed(
        {"kv_bytes": 7 * GIB},
        runtime_id="r1",
        preset="p",
        cards=[],
        settings=settings,
        is_cold=False,
        boot_s=30.0,
        card_bytes=None,
        at="2026-11-29T10:00:00",
    )
    around = Surroundings(
        tables=TABLES,
        memory_bytes=16 * GIB,
        runtime_id="r1",
        preset="p",
        calibration=calibration.with_boot(Calibration(), boot),
    )

    found = budget.forecast(CPU, settings, (), around)

    assert found.kv_bytes == 7 * GIB
    assert found.kv_error_bytes is not None
    assert found.kv_error_bytes <= 7 * GIB * calibration.ERROR_SHARE + 1
    assert found.kv_source == "as seen here on 2026-11-29"


def test_a_model_without_weights_has_no_sum() -> None:
    """config.json alone is enough for the pool, and not for the memory."""
    bare = dataclasses.replace(CPU, target=ModelGeometry(architecture="x", layers=LLAMA.layers))

    found = budget.forecast(bare, {}, (), Surroundings(tables=TABLES, memory_bytes=16 * GIB))

    assert found.kv_bytes is None
    assert [item.bytes for item in found.items if item.name == "weights"] == [None]
