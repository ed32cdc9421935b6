"""What a card holds beside the pool: forecasts of boots that were never pinned."""

import re
import tomllib
from pathlib import Path

import msgspec
import pytest

from studio.domain.geometry import ModelGeometry
from studio.domain.hardware import Gpu
from studio.planner.engine import Engine, engine
from studio.planner.memory import Memory, MemoryTable, Term, forecast
from studio.planner.pool import pool
from tests.planner.model_samples import (
    ROOT,
    Row,
    card,
    engine_of,
    memory_table,
    rows,
    shipped,
)

GIB = 1 << 30
BASE = shipped("qwen3.8-27b-w4a16")
FAST = shipped("qwen3.8-27b-w4a16-fast")
DRAFTER = shipped("qwen3.8-27b-dflash2-w4a16")
PATCHED = engine("cu13-hyperqwen-0.31.0")
BATCH: dict[str, object] = {
    "max_model_len": 150_000,
    "kv_cache_dtype": "fp8",
    "max_num_seqs": 64,
    "gpu_memory_utilization": 0.94,
    "max_num_batched_tokens": 2_048,
    "mamba_ssm_cache_dtype": "float16",
    "vision": False,
}


def of(
    settings: dict[str, object],
    target: ModelGeometry = BASE,
    by: Engine = PATCHED,
    *,
    drafter: ModelGeometry | None = None,
    on: Gpu | None = None,
    is_wsl: bool = False,
    is_cold: bool = False,
) -> Memory:
    """Return the forecast for a 3090 unless told otherwise."""
    return forecast(
        target,
        drafter,
        {**BATCH, **settings},
        by,
        card=on or card("rtx3090-linux"),
        table=memory_table(),
        is_wsl=is_wsl,
        is_cold=is_cold,
    )


def held(found: Memory, name: str) -> int:
    """Return the bytes of one line."""
    return sum(item.bytes or 0 for item in found.items if item.name == name)


def tokens_of(row: Row) -> tuple[int, Memory]:
    """Return the forecast pool of a row, in tokens."""
    target = shipped(row["model"])
    drafter = shipped(row["drafter"]) if "drafter" in row else None
    by, on = engine_of(row), card(row["host"])
    found = forecast(
        target,
        drafter,
        row["settings"],
        by,
        card=on,
        table=memory_table(),
        is_wsl="wsl" in row["host"],
    )
    return pool(target, drafter, row["settings"], by, found.kv_bytes or 0).tokens, found


@pytest.mark.parametrize("row", [pytest.param(row, id=row["name"]) for row in rows("forecasts")])
def test_an_unpinned_pool_is_forecast_within_3_percent(row: Row) -> None:
    """One set of items for all of them; nothing about a single boot is in the data."""
    tokens, found = tokens_of(row)

    assert abs(tokens / row["tokens"] - 1) < 0.03
    assert found.unknown == ()
    assert (found.kv_error_bytes or 0) > 0


def test_no_published_pool_is_in_the_data_that_forecasts_are_made_from() -> None:
    """Zeroing every published figure must leave every forecast as it is, so none may be read."""
    paths = [ROOT / "presets" / "planner" / "memory.toml"]
    paths += sorted((ROOT / "presets" / "models").glob("*.toml"))
    texts = [path.read_text(encoding="utf-8").replace("_", "").replace(",", "") for path in paths]
    figures = {row["tokens"] for kind in ("rows", "forecasts") for row in rows(kind)}
    figures |= {figure for row in rows("attainable") for figure in row["figures"]}
    # Powers of two are windows and contexts of many models as well.
    figures = {figure for figure in figures if figure & (figure - 1)}

    found = [figure for figure in figures for text in texts if re.search(rf"\b{figure}\b", text)]

    assert found == []


def test_the_planner_never_opens_a_preset() -> None:
    """What it is given is all that it knows; published figures stand in files it never sees."""
    for path in sorted((ROOT / "studio" / "planner").glob("*.py")):
        source = path.read_text(encoding="utf-8")
        assert not re.search(r"\bopen\(|read_text|read_bytes|import tomllib|Expected", source), path


def test_the_items_and_the_pool_are_the_share_of_the_card() -> None:
    """Nothing is lost between the lines: utilisation times total, to the byte."""
    found = of({})

    total = card("rtx3090-linux").usable_bytes or 0
    inside = [item for item in found.items if item.name not in memory_table().outside]
    spent = sum(item.bytes or 0 for item in inside) + (found.kv_bytes or 0)
    assert abs(spent - total * 0.94) <= 1
    assert all(item.source for item in found.items)


def test_the_embedding_in_the_machines_memory_leaves_the_card() -> None:
    """`embed_uva`: 1.2 GiB of the 27B."""
    assert held(of({}), "weights") - held(of({"embed_uva": True}), "weights") == 1_291_264_000


def test_a_draft_module_is_loaded_only_where_it_drafts() -> None:
    """0.6 GiB in 8 bits, with a head of its own."""
    drafts = of({"spec_method": "mtp", "draft_tokens": 3})

    assert held(drafts, "weights") - held(of({}), "weights") == BASE.weight_bytes["mtp"]


def test_vision_is_on_the_card_off_it_or_not_there() -> None:
    """The tower, its room in the profile, and a model that has none."""
    on = of({"vision": True})
    offloaded = of({"vision": True, "vision_offload": True})

    assert held(on, "vision") == BASE.weight_bytes["vision"]
    assert held(offloaded, "vision") == 0
    assert held(offloaded, "activation-peak") == held(on, "activation-peak")
    assert held(of({}), "activation-peak") < held(on, "activation-peak")
    assert held(of({"vision": True, "language_model_only": True}), "vision") == 0


def test_two_cards_share_the_weights_and_pay_for_talking() -> None:
    """Half each, and what NCCL takes before the engine looks at the card."""
    one = of({"draft_tokens": 7}, FAST, drafter=DRAFTER)
    two = of({"draft_tokens": 7, "tensor_parallel_size": 2}, FAST, drafter=DRAFTER)

    assert held(two, "weights") == held(one, "weights") // 2
    assert held(two, "drafter") == held(one, "drafter") // 2
    assert held(two, "non-torch") - held(one, "non-torch") > GIB


def test_a_larger_batch_budget_costs_pool() -> None:
    """4,096 for 2,048 tokens: 2.4 % of the pool of a 24 GB card (HyperQwen)."""
    small, large = of({}), of({"max_num_batched_tokens": 4_096})

    lost = (small.kv_bytes or 0) - (large.kv_bytes or 0)
    assert 0.015 < lost / (small.kv_bytes or 1) < 0.035


def test_only_engines_that_profile_before_they_compile_leave_less_when_cold() -> None:
    """To 0.29 a first boot left up to 0.9 GiB less, and the plan says which boot it speaks of."""
    old = engine("hyperqwen-0.29.0")

    assert (of({}, by=old).kv_bytes or 0) > (of({}, by=old, is_cold=True).kv_bytes or 0)
    assert of({}, by=old).assumptions != ()
    assert of({}).assumptions == ()
    assert of({}).kv_bytes == of({}, is_cold=True).kv_bytes


def test_kvarn_keeps_tiles_for_every_seat() -> None:
    """Two a seat, one for each 128 tokens of a chunk, 32 to spare: 0.5 MiB each and layer."""
    found = of({"kv_cache_dtype": "kvarn_k4v2_g128", "block_size": 128})

    assert held(found, "kvarn-tail") == (2 * 64 + 16 + 32) * 16 * (1 << 19)
    assert held(of({}), "kvarn-tail") == 0


def test_a_card_without_a_size_or_a_model_without_weights_is_not_guessed() -> None:
    """Unknown stays unknown, and is said."""
    nameless = Gpu(index=0, name="card")
    weightless = msgspec.structs.replace(BASE, weight_bytes={})

    for found in (of({}, on=nameless), of({}, weightless)):
        assert found.kv_bytes is None
        assert found.kv_error_bytes is None
        assert found.unknown != ()


def test_a_card_that_is_too_small_leaves_nothing_and_never_less() -> None:
    """12 GB for 14 GiB of weights."""
    found = of({}, on=Gpu(index=0, name="card", total_bytes=12_884_901_888))

    assert found.kv_bytes == 0


def test_a_utilisation_without_meaning_is_the_engines_default() -> None:
    """Whoever takes it from a person refuses it; here it must not break the sum."""
    default = of({"gpu_memory_utilization": 0.92}).kv_bytes

    for share in (None, "much", 0, 1.5, True):
        assert of({"gpu_memory_utilization": share}).kv_bytes == default


@pytest.mark.parametrize("path", [ROOT / "presets" / "planner" / "memory.toml"])
def test_every_term_names_its_source_and_only_known_conditions(path: Path) -> None:
    """A misspelt condition would never hold, and the item would silently be missing."""
    table = msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), MemoryTable)
    known = set(re.findall(r"`(\w+)`", _condition_words()))

    for term in table.terms:
        assert term.source
        assert term.error_bytes > 0
        assert set(term.when) <= known


def _condition_words() -> str:
    source = (ROOT / "studio" / "planner" / "memory.py").read_text(encoding="utf-8")
    return source[source.index("Conditions that must") : source.index("base_bytes")]


def test_terms_of_one_name_are_one_line_with_all_sources() -> None:
    """The ledger is for people: one line for graphs, not four."""
    made = Term(name="a", title="A", base_bytes=3, error_bytes=3, source="one")
    also = Term(name="a", title="A", base_bytes=4, error_bytes=4, source="two")
    table = MemoryTable(schema_version=1, terms=(made, also))

    found = forecast(BASE, None, BATCH, PATCHED, card=card("rtx3090-linux"), table=table)

    line = found.items[-1]
    assert (line.bytes, line.error_bytes, line.source) == (7, 5, "one; two")


def test_experts_take_what_the_rest_leaves_of_the_card() -> None:
    """DeepSeek-V4.1: 130 GiB of experts for four cards of 32 GB; the others stay in memory."""
    target = shipped("deepseek-v4.1-flash-iq2xxs")
    settings: dict[str, object] = {
        "max_model_len": 16_384,
        "max_num_seqs": 1,
        "max_num_batched_tokens": 16_384,
        "tensor_parallel_size": 4,
    }
    by, on = engine("sm70-1cat-1.5.2"), card("v100-32x4-linux")

    found = forecast(target, None, settings, by, card=on, table=memory_table())

    experts = held(found, "experts")
    assert 10 * GIB < experts < target.weight_bytes["experts"] // 4
    assert "lie in the machine's memory" in found.items[-1].source
    assert pool(target, None, settings, by, found.kv_bytes or 0).refusal is None


def test_what_lies_on_the_card_before_the_engine_looks_is_no_part_of_its_share() -> None:
    """The V100 engine puts 0.95 GiB beside its share, and says so in a line of its own."""
    target = shipped("qwen3.8-27b-quasar-nvfp4")
    settings: dict[str, object] = {"max_model_len": 4_096, "tensor_parallel_size": 4}
    by, on = engine("sm70-1cat-1.5.2"), card("v100-16x4-linux")

    found = forecast(target, None, settings, by, card=on, table=memory_table())

    inside = sum(i.bytes or 0 for i in found.items if i.name != "driver-context")
    assert held(found, "driver-context") > 0
    assert abs(inside + (found.kv_bytes or 0) - (on.usable_bytes or 0) * 0.92) <= 1
