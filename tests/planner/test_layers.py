"""Ordinary attention layers: windows, chunks, shared caches, latent vectors."""

import pytest

from studio.domain.geometry import LayerKind, LayerSet
from studio.planner.config import Config
from studio.planner.layers import counted, heads, kinds_of, plain_layers

BASE = {
    "num_hidden_layers": 6,
    "num_attention_heads": 8,
    "num_key_value_heads": 2,
    "hidden_size": 512,
}


def kinds(model_type: str, architecture: str = "", **values: object) -> str:
    """Return the kinds of the layers as a word of first letters."""
    found = kinds_of(Config({**BASE, **values}), model_type, architecture)
    return "".join(str(kind)[0] for kind in found)


@pytest.mark.parametrize(
    ("model_type", "values", "expected"),
    [
        ("llama", {}, "ffffff"),
        ("mistral", {"sliding_window": 4_096}, "ssssss"),
        ("mistral", {"sliding_window": None}, "ffffff"),
        ("mimo", {"sliding_window": 4_096, "use_sliding_window": False}, "ffffff"),
        ("exaone4", {"sliding_window": 4_096, "sliding_window_pattern": "LLG"}, "ssfssf"),
        ("qwen2", {"sliding_window": 4_096}, "ffffff"),
        ("qwen2", {"sliding_window": 4_096, "use_sliding_window": True}, "ffffff"),
        (
            "qwen3",
            {"sliding_window": 4_096, "use_sliding_window": True, "max_window_layers": 4},
            "ffffss",
        ),
        ("gemma2", {"sliding_window": 4_096}, "sfsfsf"),
        ("gemma3_text", {"sliding_window": 512}, "sssssf"),
        ("gemma3_text", {"sliding_window": 512, "sliding_window_pattern": 3}, "ssfssf"),
        ("gemma4_text", {"sliding_window": 512, "sliding_window_pattern": 4}, "sssfsf"),
        ("gpt_oss", {"sliding_window": 128}, "sfsfsf"),
        ("cohere2", {"sliding_window": 512}, "sssfss"),
        ("llama4_text", {"attention_chunk_size": 8_192}, "cccfcc"),
        ("any", {"sliding_window": 9, "layer_types": ["full_attention"] * 6}, "ffffff"),
        ("any", {"layer_types": ["sliding_attention", "chunked_attention", "x"] * 2}, "scfscf"),
    ],
)
def test_layers_are(model_type: str, values: dict[str, object], expected: str) -> None:
    """A file may leave the list out; then the family's own pattern holds."""
    assert kinds(model_type, **values) == expected


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({}, "ffffff"),
        ({"sliding_window": 2_048}, "ssssss"),
        ({"sliding_window": 2_048, "layer_types": ["full_attention"] * 6}, "ffffff"),
        (
            {
                "sliding_window": 2_048,
                "layer_types": ["full_attention"] * 6,
                "dflash_config": {"use_swa": True},
            },
            "ssssss",
        ),
    ],
)
def test_a_dflash_drafter_says_its_windows_in_its_own_way(
    values: dict[str, object], expected: str
) -> None:
    """vLLM reads its configuration apart from all others."""
    assert kinds("qwen3", "DFlash2DraftModel", **values) == expected


def test_layers_that_share_a_cache_have_none_of_their_own() -> None:
    """Gemma 3n's last layers read the caches of earlier ones."""
    found, _ = plain_layers(Config({**BASE, "num_kv_shared_layers": 2}), "gemma3n_text", "")

    assert len(found) == 4


def test_a_window_of_zero_is_none() -> None:
    """Some checkpoints say 0 for no window."""
    found, _ = plain_layers(Config({**BASE, "sliding_window": 0}), "mistral", "")

    assert {layer.kind for layer in found} == {LayerKind.FULL}


def test_latent_layers_keep_one_vector_and_an_indexer_its_keys() -> None:
    """DeepSeek V3.2: 128 bytes of fp8 and one scale beside the vector."""
    latent = {**BASE, "kv_lora_rank": 512, "qk_rope_head_dim": 64}

    plain, _ = plain_layers(Config(latent), "deepseek_v3", "")
    indexed, _ = plain_layers(
        Config({**latent, "index_topk": 2_048, "index_head_dim": 128}), "deepseek_v32", ""
    )

    assert counted(plain) == (LayerSet(kind=LayerKind.MLA, count=6, kv_heads=1, latent_size=576),)
    assert [layer.cell_bytes for layer in counted(indexed)] == [None, 132]


@pytest.mark.parametrize(
    ("values", "kv_heads", "size"),
    [
        ({}, 2, 64),
        ({"head_dim": 128}, 2, 128),
        ({"num_key_value_heads": None}, 8, 64),
        ({"multi_query": True}, 1, 64),
        ({"multi_query": True, "new_decoder_architecture": True, "n_head_kv": 4}, 4, 64),
        ({"head_dim": 0}, 2, 64),
    ],
)
def test_heads_have_many_names(values: dict[str, object], kv_heads: int, size: int) -> None:
    """One thing, spelt by ten families."""
    found = heads(Config({**BASE, **values}))

    assert (found.kv_heads, found.size) == (kv_heads, size)


def test_like_layers_are_counted_together_wherever_they_stand() -> None:
    """A block table does not ask for the order."""
    one = LayerSet(kind=LayerKind.FULL, count=1, kv_heads=2, head_size=64)
    other = LayerSet(kind=LayerKind.SLIDING, count=1, kv_heads=2, head_size=64, window=9)

    assert [layer.count for layer in counted([one, other, one])] == [2, 1]


def test_windows_that_the_engine_refuses_are_a_doubt() -> None:
    """A pool of an engine that does not start is no exact figure."""
    values = {**BASE, "sliding_window": 64, "use_sliding_window": True, "max_window_layers": 3}

    layers, notes = plain_layers(Config(values), "qwen2", "")

    assert [layer.kind for layer in layers] == [LayerKind.FULL] * 3 + [LayerKind.SLIDING] * 3
    assert "max_window_layers" in notes[0]


def test_sliding_layers_may_have_heads_of_their_own() -> None:
    """Step 3.5 states them beside those of its whole layers."""
    other = {"attention_type": "sliding_attention", "num_attention_groups": 4, "head_dim": 32}
    values = {
        **BASE,
        "sliding_window": 64,
        "layer_types": ["full_attention", "sliding_attention"],
        "attention_other_setting": other,
    }

    (whole, local), _ = plain_layers(Config({**values, "num_hidden_layers": 2}), "step3p5", "")

    assert (whole.kv_heads, whole.head_size) == (2, 64)
    assert (local.kv_heads, local.head_size) == (4, 32)
