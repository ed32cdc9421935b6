"""Model families, held against the caches that vLLM itself specifies for them.

Every line is a small model of one family, built by vLLM 0.32 for the processor on the meta device;
the caches are what its own layers answered.
"""

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest

from studio.domain.geometry import LayerKind
from studio.planner.blocks import layout
from studio.planner.demand import demand
from studio.planner.engine import engine
from studio.planner.families import FAMILIES, KNOWN_PLAIN
from studio.planner.geometry import geometry
from tests.planner.model_samples import DATA


def families() -> list[Any]:
    """Return the families that vLLM was asked about."""
    lines = (DATA / "families.jsonl").read_text(encoding="utf-8").splitlines()
    return [pytest.param(case, id=case["name"]) for case in map(json.loads, lines)]


@pytest.mark.parametrize("case", families())
def test_a_family_has_the_caches_that_vllm_gives_it(case: Mapping[str, Any]) -> None:
    """Kinds, counts, windows, block and page sizes: everything that a pool is made of."""
    target = geometry(case["config"])
    judge = engine("cpu-vllm-0.32.0", cpu_flags=("avx512_bf16",))

    found = layout(target, None, demand(target, None, {"max_model_len": 4_096}, judge), judge)

    ours: Counter[tuple[object, ...]] = Counter()
    for cache in found.caches:
        key = (str(cache.kind), cache.block_size, cache.page_bytes, cache.window)
        ours[key] += cache.layers
    theirs: Counter[tuple[object, ...]] = Counter()
    for kind, count, block, page, window in case["layers"]:
        theirs[(kind, block, page, window)] += count
    assert ours == theirs
    assert found.block_size == case["block_size"]
    assert target.assumptions == ()


def test_kimi_linear_alternates_delta_attention_and_latent_layers() -> None:
    """Its layers are counted from one in the file, and its states are kept in float32."""
    found = geometry(
        {
            "model_type": "kimi_linear",
            "num_hidden_layers": 4,
            "num_attention_heads": 32,
            "hidden_size": 2_304,
            "kv_lora_rank": 512,
            "qk_rope_head_dim": 64,
            "linear_attn_config": {
                "kda_layers": [1, 2, 3],
                "full_attn_layers": [4],
                "num_heads": 32,
                "head_dim": 128,
                "short_conv_kernel_size": 4,
            },
        }
    )

    state, latent = found.layers
    assert (state.kind, state.count, state.conv_channels) == (LayerKind.LINEAR, 3, 12_288)
    assert (latent.kind, latent.count, latent.latent_size) == (LayerKind.MLA, 1, 576)
    assert found.state_dtype == "float32"


@pytest.mark.parametrize("model_type", ["deepseek_v4", "deepseek_v41", "qwen4_exp"])
def test_families_that_are_known_in_part_say_so(model_type: str) -> None:
    """An itemised forecast with an error bar, never an exact figure."""
    found = geometry(
        {
            "model_type": model_type,
            "num_hidden_layers": 4,
            "num_attention_heads": 8,
            "num_key_value_heads": 2,
            "hidden_size": 1_024,
        }
    )

    assert not found.is_complete
    assert found.assumptions != ()


def test_no_family_is_read_two_ways() -> None:
    """A type in both tables would be read by whichever comes first."""
    assert not KNOWN_PLAIN & FAMILIES.keys()
