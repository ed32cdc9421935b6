"""Groups of layers: what vLLM's own grouping makes of random mixtures, for seven versions."""

import itertools
import json
from collections.abc import Mapping
from typing import Any

import pytest

from studio.domain.errors import BadInput
from studio.domain.geometry import LayerKind
from studio.planner.blocks import Cache
from studio.planner.engine import HYPERQWEN, Engine, engine, stock
from studio.planner.groups import groups
from tests.planner.model_samples import DATA


def attention(layers: int, token_bytes: int, block: int = 16) -> Cache:
    """Return ordinary layers."""
    return Cache(
        kind=LayerKind.FULL, layers=layers, block_size=block, token_bytes=token_bytes, shape=(1,)
    )


def sliding(layers: int, token_bytes: int, block: int = 16, window: int = 2_048) -> Cache:
    """Return layers with a window."""
    return Cache(
        kind=LayerKind.SLIDING,
        layers=layers,
        block_size=block,
        token_bytes=token_bytes,
        window=window,
        shape=(2,),
    )


def state(layers: int, state_bytes: int) -> Cache:
    """Return layers that keep one state a request."""
    return Cache(
        kind=LayerKind.LINEAR, layers=layers, block_size=0, state_bytes=state_bytes, states=1
    )


PATCHED = Engine(name="patched", version=(0, 31), rules=stock((0, 31)) | HYPERQWEN)


def judged() -> list[Any]:
    """Return mixtures of caches with what vLLM's own functions made of them."""
    cases = [json.loads(line) for line in (DATA / "groups.jsonl").read_text("utf-8").splitlines()]
    by_version = itertools.groupby(cases, key=lambda case: case["version"])
    return [pytest.param(list(found), id=version) for version, found in by_version]


def cache_of(entry: list[Any]) -> Cache:
    """Return one entry of the file as a cache."""
    kind, layers, block, token_bytes, state_bytes, states, window, padded, shape_ = entry
    return Cache(
        kind=LayerKind(kind),
        layers=layers,
        block_size=block,
        token_bytes=token_bytes,
        state_bytes=state_bytes,
        states=states,
        window=window,
        padded_bytes=padded,
        shape=tuple(shape_),
    )


@pytest.mark.parametrize("cases", judged())
def test_groups_blocks_and_tokens_are_those_of_vllm(cases: list[Mapping[str, Any]]) -> None:
    """40 random mixtures a version: uniform, hybrid, windowed, chunked, MLA, with drafters.

    The outcomes are those of get_kv_cache_configs, called with the same caches.
    """
    for case in cases:
        judge = engine(f"vllm-{case['version']}")
        caches = [cache_of(entry) for entry in case["caches"]]
        outcome = case["outcome"]
        if outcome.get("error") == "pages-differ":
            with pytest.raises(BadInput):
                groups(caches, judge, is_hybrid_manager=True)
            continue

        made = groups(caches, judge, is_hybrid_manager=True)

        blocks = case["kv_bytes"] // max(group.block_bytes for group in made)
        length = case["max_model_len"]
        needed = sum(group.blocks(length, case["in_flight"]) for group in made)
        reserved = 1 if judge.version >= (0, 29) else 0
        assert outcome["refused"] == (needed > blocks - reserved)
        if not outcome["refused"]:
            assert outcome["blocks"] == blocks
            assert outcome["tokens"] == int(blocks / needed * length)


def test_a_small_drafter_does_not_cut_the_model_to_its_size() -> None:
    """16/48/5 layers: stock vLLM pads the model to 20 and 50, HyperQwen the drafter to 8."""
    caches = (attention(16, 4_096), state(48, 65_536), sliding(5, 4_096))

    unpatched = groups(caches, engine("vllm-0.31.0"), is_hybrid_manager=True)
    patched = groups(caches, PATCHED, is_hybrid_manager=True)

    assert sorted(group.layers for group in unpatched) == [4] * 4 + [4] * 2 + [5] * 9
    assert sorted(group.layers for group in patched) == [5] + [8] * 8


def test_a_page_that_does_not_divide_gets_more_tokens_where_the_series_is_applied() -> None:
    """2,112 B a token never divide a page of 2,080 B: padding costs a page for 16 tokens."""
    caches = (attention(16, 2_080, block=864), state(48, 1_777_664), sliding(5, 2_112))

    unpatched = groups(caches, engine("vllm-0.29.0"), is_hybrid_manager=True)
    patched = groups(caches, PATCHED, is_hybrid_manager=True)

    assert {group.caches[0].block_size for group in unpatched} == {864, 0, 16}
    assert {group.caches[0].block_size for group in patched} == {864, 0}
    assert {group.caches[0].page_bytes for group in patched} == {864 * 2_112}


def test_a_promoted_block_divides_the_primary_one() -> None:
    """928 would cover the page of 1,840 tokens, and no scheduler could use it."""
    caches = (attention(16, 1_056, block=1_840), state(48, 1_941_504), sliding(5, 2_112))

    made = groups(caches, PATCHED, is_hybrid_manager=True)

    assert {group.caches[0].block_size for group in made} == {3_680, 0, 1_840}


def test_without_the_hybrid_manager_windows_are_kept_whole() -> None:
    """Some options switch it off, and then a window saves no memory."""
    caches = (attention(8, 4_096), sliding(40, 4_096))

    (only,) = groups(caches, engine("vllm-0.32.0"), is_hybrid_manager=False)

    assert only.layers == 48
    assert only.blocks(131_072, 4_096) == 8_192


def test_sliding_layers_beside_latent_ones_are_kept_whole_where_pages_cannot_be_equal() -> None:
    """From 0.27 a windowed drafter of an MLA model boots at a price; before, it did not."""
    latent = Cache(kind=LayerKind.MLA, layers=27, block_size=16, token_bytes=1_152)
    caches = (latent, sliding(2, 4_096))

    with pytest.raises(BadInput) as refused:
        groups(caches, engine("vllm-0.26.0"), is_hybrid_manager=True)
    (only,) = groups(caches, engine("vllm-0.27.0"), is_hybrid_manager=True)

    assert refused.value.code == "pages-differ"
    assert only.block_bytes == 16 * (27 * 1_152 + 2 * 4_096)


def test_no_layers_are_no_groups() -> None:
    """A model without a KV cache is nobody's crash."""
    assert groups((), engine("vllm-0.32.0"), is_hybrid_manager=True) == ()
