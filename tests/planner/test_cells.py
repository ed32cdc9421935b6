"""Bytes of one token and of one state."""

import pytest

from studio.domain.errors import BadInput
from studio.domain.geometry import LayerKind, LayerSet
from studio.planner.cells import element_bytes, heads_on_card, known_types, state_bytes, token_bytes
from studio.planner.demand import Demand
from studio.planner.engine import engine
from tests.planner.model_samples import ATTENTION, DELTA_NET, WINDOWED

STOCK = engine("vllm-0.32.0")
LATENT = LayerSet(kind=LayerKind.MLA, count=27, kv_heads=1, latent_size=576)


def asked(**values: object) -> Demand:
    """Return what a request for a pool asks for."""
    return Demand(max_model_len=4_096, **values)


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [
        ("auto", 4_096),
        ("bfloat16", 4_096),
        ("fp8", 2_048),
        ("fp8_e5m2", 2_048),
        ("int8_per_token_head", 2_080),
        ("fp8_per_token_head", 2_080),
        ("int4_per_token_head", 1_056),
        ("kvarn_k4v2_g128", 840),
        ("kvarn_k4v4_g128", 1_096),
        ("nvfp4", 1_152),
        ("turboquant_k8v4", 1_552),
    ],
)
def test_a_token_of_the_27b_takes(dtype: str, expected: int) -> None:
    """4 heads of 256: published for bf16, fp8, int8 and KVarN; the rest by vLLM's own formulas."""
    assert token_bytes(ATTENTION, dtype, asked(), STOCK) == expected


def test_a_kvarn_tile_of_128_is_what_its_backend_documents() -> None:
    """17,920 B for one head of 128 in 4 bits: data, and six 2-byte values a channel and token."""
    layer = LayerSet(kind=LayerKind.FULL, count=1, kv_heads=1, head_size=128)

    assert token_bytes(layer, "kvarn_k4v4_g128", asked(), STOCK) * 128 == 17_920


def test_sliding_layers_were_counted_as_int8_before_scales_were_packed() -> None:
    """0.27 gave a windowed drafter 2,112 B a token in int4; from 0.28 it is 1,088 B."""
    old, new = engine("vllm-0.27.0"), engine("vllm-0.28.0")

    assert token_bytes(WINDOWED, "int4_per_token_head", asked(), old) == 2_112
    assert token_bytes(WINDOWED, "int4_per_token_head", asked(), new) == 1_088


def test_a_latent_vector_is_one_for_all_heads() -> None:
    """MLA is not split by tensor parallelism."""
    assert token_bytes(LATENT, "auto", asked(shards=4), STOCK) == 1_152
    assert token_bytes(LATENT, "fp8", asked(), STOCK) == 576
    assert token_bytes(LATENT, "fp8_ds_mla", asked(), STOCK) == 656


def test_bytes_that_the_model_fixes_stay() -> None:
    """An indexer's keys are fp8 whatever the KV cache type."""
    keys = LayerSet(kind=LayerKind.MLA, count=1, cell_bytes=132)

    assert token_bytes(keys, "bfloat16", asked(), STOCK) == 132


@pytest.mark.parametrize(("drafts", "expected"), [(0, 1_634_304), (7, 1_777_664), (15, 1_941_504)])
def test_a_state_grows_by_its_convolution_with_each_draft_token(drafts: int, expected: int) -> None:
    """1,634,304 B, and 20,480 a draft token (HyperQwen's memory model)."""
    assert state_bytes(DELTA_NET, asked(draft_tokens=drafts, state_dtype="float16")) == expected


def test_a_state_is_shared_by_the_cards() -> None:
    """Half the heads and half the channels on each of two."""
    assert state_bytes(DELTA_NET, asked(shards=2)) * 2 == state_bytes(DELTA_NET, asked())


def test_groups_of_mamba_that_do_not_divide_are_copied() -> None:
    """Two cards and one group: both need it whole."""
    layer = LayerSet(
        kind=LayerKind.LINEAR,
        count=1,
        conv_kernel=4,
        conv_channels=512 + 128,
        conv_groups=1,
        conv_group_width=128,
        state_heads=8,
        state_head_size=64,
        state_width=64,
    )

    assert state_bytes(layer, asked(shards=2)) == 3 * (256 + 128) * 2 + 4 * 64 * 64 * 2


@pytest.mark.parametrize(
    ("heads", "cards", "expected"), [(4, 2, 2), (4, 4, 1), (2, 4, 1), (1, 8, 1)]
)
def test_heads_are_split_or_copied(heads: int, cards: int, expected: int) -> None:
    """Fewer heads than cards are copied; a card never holds half a head."""
    assert heads_on_card(heads, cards) == expected


def test_heads_that_cannot_be_shared_are_refused_with_what_can() -> None:
    """Three cards and four heads: the engine would not start."""
    with pytest.raises(BadInput) as refused:
        heads_on_card(4, 3)

    assert refused.value.code == "heads-indivisible"
    assert "1 or 2 or 4" in (refused.value.hint or "")


def test_what_is_not_known_of_a_model_is_refused() -> None:
    """No heads, no cache: a figure would be invented."""
    for layer in (LayerSet(kind=LayerKind.FULL, count=1), LayerSet(kind=LayerKind.MLA, count=1)):
        with pytest.raises(BadInput) as refused:
            token_bytes(layer, "auto", asked(), STOCK)
        assert refused.value.code == "geometry-incomplete"


def test_every_known_type_has_a_size() -> None:
    """The list that an error shows must not promise more than the planner can do."""
    for name in known_types():
        assert token_bytes(ATTENTION, name, asked(), STOCK) > 0
    with pytest.raises(BadInput):
        element_bytes("int3")
