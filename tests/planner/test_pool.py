"""The pool: recorded ones to the token, vLLM as the judge, and the laws of arithmetic."""

import functools
import json
import re
import time
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from studio.domain.errors import BadInput
from studio.domain.geometry import LayerKind, LayerSet
from studio.planner.config import overridden
from studio.planner.engine import engine
from studio.planner.geometry import geometry
from studio.planner.pool import pool
from tests.planner.model_samples import (
    ATTENTION,
    DATA,
    DELTA_NET,
    WINDOWED,
    Row,
    engine_of,
    model,
    pool_of,
    rows,
    shape,
)

GROUPED_ENGINES = ("vllm-0.26.0", "vllm-0.30.0", "cu13-hyperqwen-0.32.0")
CONFIG_FLASH_NEXT = {
    "architectures": ["Qwen4ExpForConditionalGeneration"],
    "model_type": "qwen4_exp",
    "text_config": {
        "model_type": "qwen4_exp_text",
        "hidden_size": 2_560,
        "num_hidden_layers": 48,
        "num_attention_heads": 16,
        "num_key_value_heads": 2,
        "head_dim": 256,
        "linear_num_key_heads": 16,
        "linear_num_value_heads": 32,
        "linear_key_head_dim": 128,
        "linear_value_head_dim": 128,
        "linear_conv_kernel_dim": 4,
        "max_position_embeddings": 262_144,
    },
}


def named(found: tuple[Row, ...]) -> list[Any]:
    """Return `found` as cases with their names."""
    return [pytest.param(row, id=row["name"]) for row in found]


def judged() -> list[Any]:
    """Return what vLLM's own code made of configurations on the meta device."""
    lines = (DATA / "vllm.jsonl").read_text(encoding="utf-8").splitlines()
    cases = [json.loads(line) for line in lines]
    return [
        pytest.param(case, id=f"{case['version']}-{case['model']}-{index}")
        for index, case in enumerate(cases)
    ]


@pytest.mark.parametrize("row", named(rows("rows")))
def test_a_recorded_pool_comes_out_to_the_token(row: Row) -> None:
    """The figure that the engine printed, from nothing but config, arguments and bytes."""
    found = pool_of(row, row["kv_bytes"])

    assert found.block_size == row["block_size"]
    assert found.is_exact
    assert found.refusal is None
    off = row.get("blocks_off", 0)
    one_block = found.max_model_len / found.blocks_per_request
    assert abs(found.tokens - row["tokens"]) <= off * one_block + (1 if off else 0)


@pytest.mark.parametrize("row", named(rows("refusals")))
def test_a_recorded_refusal_names_the_length_that_the_engine_named(row: Row) -> None:
    """The estimate is what a person sets next; a wrong one costs another boot."""
    found = pool_of(row, row["kv_bytes"])

    assert found.longest_context == row["longest"]
    assert found.refusal is not None
    assert row["needs"] in found.refusal
    assert f"{row['longest']:,}" in found.refusal


@pytest.mark.parametrize("row", named(rows("attainable")))
def test_an_unpinned_pool_is_a_whole_number_of_blocks(row: Row) -> None:
    """Without the bytes, the blocks of one request still decide which figures can be printed."""
    one = pool_of(row, 1 << 33)

    assert one.block_size == row["block_size"]
    assert one.is_exact
    for figure in row["figures"]:
        blocks = -(-figure * one.blocks_per_request // one.max_model_len)
        assert pool_of(row, blocks * one.bytes_per_block).tokens == figure


@pytest.mark.parametrize("case", judged())
def test_vllm_itself_says_the_same(case: Mapping[str, Any]) -> None:
    """vLLM's code ran on the meta device; blocks, groups, pages and tokens are its own."""
    prefix = "cpu-" if case["device"] == "cpu" else ""
    settings = dict(case["settings"])
    if case["device"] == "cuda":
        settings["attention_backend"] = case["backend"]
    judge = engine(f"{prefix}vllm-{case['version']}", cpu_flags=("avx512_bf16",))

    for outcome in case["results"]:
        found = pool(model(case["model"]), None, settings, judge, outcome["bytes"])
        assert found.block_size == case["block_size"]
        assert found.max_model_len == case["max_model_len"]
        if "error" in outcome:
            estimate = re.search(r"maximum model length is (\d+)", outcome["error"])
            assert found.refusal is not None
            assert estimate is None or found.longest_context == int(estimate[1])
            continue
        assert (found.blocks, found.tokens) == (outcome["blocks"], outcome["tokens"])
        ours = sorted((group.layers, group.page_bytes) for group in found.groups)
        assert ours == sorted((layers, page) for _, layers, _, page in outcome["groups"])


def test_a_length_of_minus_one_is_the_longest_that_fits() -> None:
    """`--max-model-len -1` lets the engine choose, and the plan must say what it will choose."""
    row = rows("refusals")[0]
    asked = {**row, "settings": {"max_model_len": -1}}

    found = pool_of(asked, row["kv_bytes"])

    assert found.max_model_len == row["longest"]
    assert found.refusal is None


def test_blocks_that_are_set_by_hand_win_over_bytes() -> None:
    """`num_gpu_blocks_override` is what the engine allocates, whatever was profiled."""
    row = rows("rows")[0]
    settings = {**row["settings"], "num_gpu_blocks_override": 726}

    found = pool_of({**row, "settings": settings}, row["kv_bytes"])

    assert found.blocks == 726
    assert found.resident_requests == 2.0


def test_no_bytes_are_no_pool_and_no_crash() -> None:
    """A card that is full leaves nothing, or less than nothing."""
    for kv_bytes in (0, -1, 1):
        found = pool(model("q35"), None, {"max_model_len": 4096}, engine("vllm-0.32.0"), kv_bytes)
        assert found.tokens == 0
        assert found.refusal is not None
        assert found.longest_context == 0


def test_a_model_that_is_known_in_part_is_never_called_exact() -> None:
    """Flash-Next and V4.1: an itemised forecast, not a promise."""
    found = pool(geometry(CONFIG_FLASH_NEXT), None, {}, engine("vllm-0.32.0"), 1 << 33)

    assert not found.is_exact
    assert any("only known in part" in note for note in found.assumptions)


def test_an_engine_that_nobody_has_read_is_never_called_exact() -> None:
    """The nearest known version's rules are used, and said."""
    found = pool(model("llama8"), None, {"max_model_len": 8_192}, engine("vllm-0.33.0"), 1 << 33)

    assert not found.is_exact
    assert any("0.33" in note for note in found.assumptions)


def test_an_unknown_cache_type_is_named() -> None:
    """A misspelt type must not become a guess."""
    with pytest.raises(BadInput) as refused:
        pool(model("llama8"), None, {"kv_cache_dtype": "fp7"}, engine("vllm-0.32.0"), 1 << 33)

    assert refused.value.code == "kv-dtype-unknown"
    assert "fp8" in (refused.value.hint or "")


@settings(deadline=None)  # the clock of a busy machine says nothing of arithmetic
@given(
    small=st.integers(min_value=0, max_value=1 << 36),
    more=st.integers(min_value=0, max_value=1 << 36),
    name=st.sampled_from(GROUPED_ENGINES),
    caching=st.booleans(),
)
def test_more_bytes_never_hold_fewer_tokens(
    small: int, more: int, name: str, caching: bool
) -> None:
    """Whoever gives the pool more memory must never lose by it."""
    settings = {"max_model_len": 32_768, "enable_prefix_caching": caching}
    one, two = (
        pool(model("q35"), None, settings, engine(name), kv_bytes)
        for kv_bytes in (small, small + more)
    )

    assert 0 <= one.tokens <= two.tokens
    assert one.longest_context <= two.longest_context


@settings(deadline=None)  # the clock of a busy machine says nothing of arithmetic
@given(
    drafts=st.integers(min_value=1, max_value=15),
    kv_bytes=st.integers(min_value=1 << 30, max_value=1 << 35),
    length=st.integers(min_value=1_024, max_value=262_144),
)
def test_a_state_more_a_request_never_holds_more_tokens(
    drafts: int, kv_bytes: int, length: int
) -> None:
    """What every request takes whatever its length comes off the pool.

    The block is held by hand: with larger states it would grow, and a larger block may fit better.
    """
    settings = {
        "max_model_len": length,
        "block_size": 1_024,
        "enable_prefix_caching": True,
        "spec_method": "ngram",
    }
    target = shape(ATTENTION, DELTA_NET)
    few, many = (
        pool(target, None, {**settings, "draft_tokens": k}, engine("vllm-0.32.0"), kv_bytes)
        for k in (drafts, drafts + 1)
    )

    assert many.tokens <= few.tokens


@settings(deadline=None)  # the clock of a busy machine says nothing of arithmetic
@given(
    kv_bytes=st.integers(min_value=1, max_value=1 << 34),
    length=st.integers(min_value=1, max_value=262_144),
    name=st.sampled_from(GROUPED_ENGINES),
    drafts=st.integers(min_value=0, max_value=15),
)
def test_the_longest_context_is_accepted_and_one_token_more_is_not(
    kv_bytes: int, length: int, name: str, drafts: int
) -> None:
    """The figure is set by hand afterwards: it has to work, and to be the largest that does."""
    target, drafter = shape(ATTENTION, DELTA_NET), shape(WINDOWED)
    settings: dict[str, object] = {"max_model_len": length, "draft_tokens": drafts}
    longest = pool(target, drafter, settings, engine(name), kv_bytes).longest_context

    def refused(tokens: int) -> bool:
        again = {**settings, "max_model_len": tokens}
        return pool(target, drafter, again, engine(name), kv_bytes).refusal is not None

    assert longest == 0 or not refused(longest)
    assert longest == target.context_tokens or refused(longest + 1)


def test_all_recorded_pools_take_less_than_a_blink() -> None:
    """The window plans while a slider moves: every preset must come out in 50 ms together."""
    for row in rows("rows"):
        pool_of(row, row["kv_bytes"])
    began = time.process_time()

    for row in rows("rows"):
        pool(
            model(row["model"]),
            model(row["drafter"]) if "drafter" in row else None,
            row["settings"],
            engine_of(row),
            row["kv_bytes"],
        )

    assert time.process_time() - began < 0.05


def test_a_history_in_the_machines_memory_leaves_the_card_its_hot_pages() -> None:
    """Flash-Next with host KV: the card keeps 8,192 tokens a request, and seats bound the rest."""
    target = geometry(CONFIG_FLASH_NEXT)
    by = engine("sm70-1cat-1.5.2")
    settings: dict[str, object] = {"max_num_seqs": 2, "tensor_parallel_size": 2}
    hosted = {**settings, "kernel_config": '{"qsa_host_kv": true}'}

    on_card = pool(target, None, settings, by, 1 << 32)
    on_host = pool(target, None, hosted, by, 1 << 32)

    assert on_host.request_bytes < on_card.request_bytes
    assert on_host.resident_requests == 2.0
    assert on_host.tokens == 2 * 262_144
    assert not on_host.is_exact


LATENT = LayerSet(kind=LayerKind.MLA, count=61, kv_heads=1, latent_size=576)


@pytest.mark.parametrize("version", ["0.26.0", "0.30.0", "0.32.0"])
def test_a_context_dealt_out_among_cards_takes_its_share_of_blocks(version: str) -> None:
    """Latent vectors are copied to every card, unless the tokens are dealt out among them."""
    settings: dict[str, object] = {"max_model_len": 65_536, "tensor_parallel_size": 8}
    by = engine(f"vllm-{version}")

    copied = pool(shape(LATENT), None, settings, by, 1 << 33)
    dealt = pool(shape(LATENT), None, {**settings, "decode_context_parallel_size": 8}, by, 1 << 33)

    assert dealt.is_exact
    assert dealt.blocks == copied.blocks
    assert dealt.blocks_per_request == copied.blocks_per_request // 8
    assert dealt.tokens == pytest.approx(copied.tokens * 8, abs=8)


def test_the_fullest_stage_of_a_pipeline_decides() -> None:
    """61 layers over two stages are 31 and 30, not twice thirty and a half."""
    by = engine("vllm-0.31.0")

    one = pool(shape(LATENT), None, {"max_model_len": 4_096}, by, 1 << 33)
    two = pool(
        shape(LATENT), None, {"max_model_len": 4_096, "pipeline_parallel_size": 2}, by, 1 << 33
    )

    assert two.is_exact
    assert two.bytes_per_block * 61 == one.bytes_per_block * 31


@functools.cache
def odd() -> tuple[Row, ...]:
    """Return models of every make, and what vLLM itself made of them on the meta device."""
    text = (DATA / "odd.jsonl").read_text(encoding="utf-8")
    return tuple(json.loads(line) for line in text.splitlines())


@pytest.mark.parametrize(
    "row",
    [pytest.param(row, id=f"{n}-{row['name']}-{row['version']}") for n, row in enumerate(odd())],
)
def test_models_of_every_make_come_out_as_vllm_makes_them(row: Row) -> None:
    """Latent, windowed, chunked, recurrent, encoding: from `config.json` to blocks and tokens.

    Source: vLLM's own start, without weights and card; its tensor parallel world faked.
    """
    overrides = row["settings"].get("hf_overrides")
    target = geometry(overridden(row["config"], overrides))
    drafter = geometry(row["drafter"]) if row["drafter"] else None
    settings = {**row["settings"], "attention_backend": row["backend"]}
    judge = engine(f"vllm-{row['version']}")

    for outcome in row["results"]:
        found = pool(target, drafter, settings, judge, outcome["bytes"])
        assert found.block_size == row["block_size"]
        if "error" in outcome:
            assert found.refusal is not None
        else:
            assert (found.card_blocks, found.tokens) == (outcome["blocks"], outcome["tokens"])
