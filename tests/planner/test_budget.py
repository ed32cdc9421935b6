"""What an engine has for its KV cache, and what lies beside it."""

import dataclasses

import msgspec
import pytest

from studio.domain.geometry import ModelGeometry
from studio.domain.units import GIB
from studio.planner import budget, calibration
from studio.planner.budget import Surroundings, Tables
from studio.planner.calibration import Calibration
from studio.planner.engine import Engine, engine
from studio.planner.memory import MemoryTable
from tests.planner.plan_samples import LLAMA, PROCESSOR, card

TABLES = Tables(processor=PROCESSOR, memory=MemoryTable(schema_version=1, terms=()))


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


GPU = _Models(engine=engine("vllm-0.32.0"))
CARD = card(total=24 * GIB, free=24 * GIB)


def test_a_card_s_pool_is_its_share_less_what_lies_beside_it() -> None:
    """Without any other item, only the weights do."""
    settings = {"gpu_memory_utilization": 0.5}

    found = budget.forecast(GPU, settings, (CARD,), Surroundings(tables=TABLES))

    assert found.kv_bytes == 12 * GIB - 269_000_000
    assert found.kv_error_bytes
    assert found.error_bytes == 0


def test_the_smallest_card_decides() -> None:
    """Every rank makes the same pool."""
    small = card(1, total=12 * GIB, free=12 * GIB)
    settings = {"gpu_memory_utilization": 0.5}

    found = budget.forecast(GPU, settings, (CARD, small), Surroundings(tables=TABLES))

    assert found.kv_bytes == 6 * GIB - 269_000_000


def test_weights_that_are_more_than_the_share_leave_less_than_nothing() -> None:
    """So that one sees how much has to be given up."""
    settings = {"gpu_memory_utilization": 0.01}

    found = budget.forecast(GPU, settings, (CARD,), Surroundings(tables=TABLES))

    assert found.kv_bytes is not None
    assert found.kv_bytes < 0


def seen_on_card(settings: dict[str, object], **facts: int) -> Surroundings:
    """Return what is known after one boot with these settings."""
    boot = calibration.observed(
        facts,
        runtime_id="r1",
        preset="p",
        cards=["GPU-0"],
        settings=settings,
        is_cold=False,
        boot_s=30.0,
        card_bytes=24 * GIB,
        at="2026-11-29T10:00:00",
    )
    return Surroundings(
        tables=TABLES,
        runtime_id="r1",
        preset="p",
        calibration=calibration.with_boot(Calibration(), boot),
    )


def test_a_boot_of_other_settings_moves_the_forecast() -> None:
    """Half a GiB less than forecast at 0.5 is half a GiB less at 0.6, too."""
    was = {"gpu_memory_utilization": 0.5}
    plain = budget.forecast(GPU, was, (CARD,), Surroundings(tables=TABLES))
    assert plain.kv_bytes is not None
    around = seen_on_card(was, kv_bytes=plain.kv_bytes - GIB // 2)
    settings = {"gpu_memory_utilization": 0.6}

    moved = budget.forecast(GPU, settings, (CARD,), around)
    unmoved = budget.forecast(GPU, settings, (CARD,), Surroundings(tables=TABLES))

    assert unmoved.kv_bytes is not None
    assert moved.kv_bytes == unmoved.kv_bytes - GIB // 2
    assert "moved by what was seen here" in moved.kv_source


def test_items_that_were_seen_replace_those_that_were_forecast() -> None:
    """A pinned engine's rest is then known to one per cent."""
    settings = {"kv_cache_memory_bytes": GIB}
    around = seen_on_card(settings, weights_bytes=15 * GIB, kv_bytes=GIB)

    found = budget.forecast(GPU, settings, (CARD,), around)

    weights = [item for item in found.items if item.name == "weights"]
    assert [item.bytes for item in weights] == [15 * GIB]
    assert weights[0].source == "as seen here on 2026-11-29"


def test_a_model_known_in_part_is_never_exact() -> None:
    """Its pool has an error bar although its bytes are pinned."""
    partly = dataclasses.replace(GPU, target=msgspec.structs.replace(LLAMA, is_complete=False))

    found = budget.forecast(
        partly, {"kv_cache_memory_bytes": GIB}, (CARD,), Surroundings(tables=TABLES)
    )

    assert found.geometry_error > 0


BARE = dataclasses.replace(GPU, target=ModelGeometry(architecture="x", layers=LLAMA.layers))
"""A model whose files say nothing of their weights."""


def test_weights_that_were_seen_stay_known_when_another_setting_changes() -> None:
    """Graphs weigh the same model: what a boot measured of it is no less true without them."""
    eager: dict[str, object] = {"gpu_memory_utilization": 0.5, "enforce_eager": True}
    around = seen_on_card(
        eager,
        weights_bytes=3 * GIB,
        non_torch_bytes=GIB // 4,
        activation_peak_bytes=GIB,
        kv_bytes=8 * GIB,
    )

    found = budget.forecast(BARE, {**eager, "enforce_eager": False}, (CARD,), around)

    sizes = {item.name: item.bytes for item in found.items}
    assert sizes["weights"] == 3 * GIB
    assert "activation-peak" not in sizes  # the table of this test forecasts none
    assert found.unknown == ()
    assert found.kv_bytes == 8 * GIB  # nothing that was changed weighs anything here
    source = next(item.source for item in found.items if item.name == "weights")
    assert source == "as seen here on 2026-11-29, with other settings"


@pytest.mark.parametrize(
    ("changed", "known"),
    [
        ({"enforce_eager": True}, {"weights", "non-torch"}),
        ({"max_num_seqs": 4}, {"weights", "non-torch"}),
        ({"kv_cache_dtype": "fp8"}, {"weights", "non-torch"}),
        ({"tensor_parallel_size": 2}, set()),
        ({"dtype": "float32"}, {"non-torch"}),
        ({"vision": False}, {"non-torch"}),
        (
            {"gpu_memory_utilization": 0.6},
            {"weights", "non-torch", "activation-peak", "graphs"},
        ),
    ],
)
def test_only_what_no_changed_setting_bears_on_is_kept(
    changed: dict[str, object], known: set[str]
) -> None:
    """Weights of another number format, or of half a card, would be believed."""
    settings: dict[str, object] = {"gpu_memory_utilization": 0.5}
    around = seen_on_card(
        settings,
        weights_bytes=3,
        non_torch_bytes=4,
        activation_peak_bytes=5,
        graph_pool_bytes=6,
    )

    found = calibration.match(
        around.calibration,
        runtime_id="r1",
        preset="p",
        cards=["GPU-0"],
        settings={**settings, **changed},
    )

    assert found is not None
    assert set(found.known()) == known


def test_weights_in_memory_are_those_that_were_seen() -> None:
    """On the processor, too: GGUF files have no headers that are read."""
    boot = calibration.observed(
        {"weights_bytes": GIB}, runtime_id="r1", preset="p", cards=[], settings={},
        is_cold=False, boot_s=None, card_bytes=None, at="2026-11-29T10:00:00",
    )  # fmt: skip
    around = Surroundings(
        tables=TABLES,
        memory_bytes=16 * GIB,
        runtime_id="r1",
        preset="p",
        calibration=calibration.with_boot(Calibration(), boot),
    )
    bare = dataclasses.replace(BARE, engine=CPU.engine)

    found = budget.forecast(
        bare, {"gpu_memory_utilization": 0.5, "enforce_eager": True}, (), around
    )

    assert found.kv_bytes == 7 * GIB - 600_000_000
    assert found.unknown == ()
