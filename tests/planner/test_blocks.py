"""Block sizes, and the caches of all layers before they are grouped."""

import pytest

from studio.domain.geometry import LayerKind, LayerSet, ModelGeometry
from studio.planner.blocks import Cache, Layout, layout
from studio.planner.demand import demand
from studio.planner.engine import Engine, engine
from tests.planner.model_samples import ATTENTION, DELTA_NET, WINDOWED, shape

STOCK = engine("vllm-0.32.0")
PATCHED = engine("cu13-hyperqwen-0.31.0")


def laid_out(
    target: ModelGeometry,
    settings: dict[str, object],
    by: Engine = STOCK,
    drafter: ModelGeometry | None = None,
) -> Layout:
    """Return the caches of a model."""
    return layout(target, drafter, demand(target, drafter, settings, by), by)


@pytest.mark.parametrize(
    ("settings", "block"),
    [
        ({}, 400),
        ({"kv_cache_dtype": "fp8"}, 800),
        ({"spec_method": "mtp", "draft_tokens": 4}, 432),
        ({"spec_method": "mtp", "draft_tokens": 7}, 448),
        ({"spec_method": "mtp", "draft_tokens": 15}, 480),
        ({"spec_method": "mtp", "draft_tokens": 3, "kv_cache_dtype": "fp8"}, 832),
        ({"spec_method": "ngram", "draft_tokens": 7, "kv_cache_dtype": "int8_per_token_head"}, 864),
        (
            {"spec_method": "ngram", "draft_tokens": 15, "kv_cache_dtype": "int8_per_token_head"},
            944,
        ),
        (
            {"spec_method": "ngram", "draft_tokens": 7, "kv_cache_dtype": "int4_per_token_head"},
            1_696,
        ),
        (
            {"spec_method": "ngram", "draft_tokens": 15, "kv_cache_dtype": "int4_per_token_head"},
            1_840,
        ),
        ({"block_size": 64}, 448),
        ({"block_size": 2_048}, 2_048),
    ],
)
def test_a_block_grows_until_its_page_covers_a_state(
    settings: dict[str, object], block: int
) -> None:
    """Every block size that the 27B's engines print (HyperQwen, table of block sizes)."""
    target = shape(ATTENTION, DELTA_NET, mtp=(ATTENTION,))

    found = laid_out(target, {"mamba_ssm_cache_dtype": "float16", **settings})

    assert found.block_size == block
    pages = {cache.page_bytes for cache in found.caches}
    assert len(pages) == 1


@pytest.mark.parametrize(("drafts", "block"), [(3, 2_048), (5, 2_176), (7, 2_176), (15, 2_432)])
def test_kvarn_blocks_are_whole_tiles(drafts: int, block: int) -> None:
    """128 tokens a tile; printed for k of 3, 5, 7 and 15."""
    target = shape(ATTENTION, DELTA_NET, mtp=(ATTENTION,))
    settings = {
        "kv_cache_dtype": "kvarn_k4v2_g128",
        "block_size": 128,
        "mamba_ssm_cache_dtype": "float16",
        "draft_tokens": drafts,
        "spec_method": "mtp",
    }

    assert laid_out(target, settings, PATCHED).block_size == block


def test_a_drafter_beside_kvarn_gets_a_tile_in_a_padded_page() -> None:
    """It stays in 16 bits; its block divides the primary one, so the scheduler's unit stays."""
    target = shape(ATTENTION, DELTA_NET)
    settings = {
        "kv_cache_dtype": "kvarn_k4v2_g128",
        "block_size": 128,
        "mamba_ssm_cache_dtype": "float16",
        "draft_tokens": 7,
    }

    drafter = laid_out(target, settings, PATCHED, shape(WINDOWED)).caches[-1]

    assert (drafter.block_size, drafter.token_bytes) == (128, 4_096)
    assert drafter.page_bytes == 1_827_840


def test_sliding_layers_are_born_small_before_0_30() -> None:
    """Where a page must be scaled afterwards, that is what it is scaled from."""
    target = shape(ATTENTION, DELTA_NET)
    settings: dict[str, object] = {"draft_tokens": 7, "mamba_ssm_cache_dtype": "float16"}

    old = laid_out(target, settings, engine("vllm-0.29.0"), shape(WINDOWED)).caches[-1]
    new = laid_out(target, settings, engine("vllm-0.30.0"), shape(WINDOWED)).caches[-1]

    assert (old.block_size, new.block_size) == (16, 448)


def test_a_backend_of_fixed_sizes_takes_the_largest_that_fits() -> None:
    """FlashInfer reads 16, 32 or 64 tokens."""
    target = shape(ATTENTION, DELTA_NET)
    settings: dict[str, object] = {"draft_tokens": 7, "attention_backend": "FLASHINFER"}

    assert laid_out(target, settings, STOCK, shape(WINDOWED)).caches[-1].block_size == 64


def test_blocks_of_latent_hybrids_are_multiples_of_128() -> None:
    """From 0.27: kernels split a block into whole pages of 128."""
    latent = LayerSet(kind=LayerKind.MLA, count=7, kv_heads=1, latent_size=576)
    target = shape(latent, DELTA_NET)

    old = laid_out(target, {}, engine("vllm-0.26.0")).block_size
    new = laid_out(target, {}, engine("vllm-0.27.0")).block_size

    assert old % 128 != 0
    assert new % 128 == 0


def test_a_model_on_the_processor_starts_at_128() -> None:
    """And one with latent attention is bound to 16."""
    cpu = engine("cpu-vllm-0.32.0", cpu_flags=())
    latent = LayerSet(kind=LayerKind.MLA, count=7, kv_heads=1, latent_size=576)

    assert laid_out(shape(ATTENTION), {}, cpu).block_size == 128
    assert laid_out(shape(ATTENTION), {"block_size": 64}, cpu).block_size == 64
    assert laid_out(shape(latent), {"block_size": 64}, cpu).block_size == 16


def test_a_draft_module_of_several_layers_keeps_more_of_a_window() -> None:
    """Its later layers read the last tokens again (0.28)."""
    module = LayerSet(kind=LayerKind.FULL, count=2, kv_heads=4, head_size=256)
    target = shape(ATTENTION, WINDOWED, mtp=(module,))
    settings: dict[str, object] = {"spec_method": "mtp", "draft_tokens": 3}

    windows = [cache.window for cache in laid_out(target, settings).caches if cache.window]

    assert windows == [2_050]


@pytest.mark.parametrize(
    ("cache", "blocks"),
    [
        (Cache(kind=LayerKind.FULL, layers=1, block_size=16), 63),
        (Cache(kind=LayerKind.SLIDING, layers=1, block_size=16, window=128), 25),
        (Cache(kind=LayerKind.SLIDING, layers=1, block_size=16, window=4_096), 64),
        (Cache(kind=LayerKind.CHUNKED, layers=1, block_size=16, window=128), 24),
        (Cache(kind=LayerKind.LINEAR, layers=1, block_size=0, states=9), 9),
        (Cache(kind=LayerKind.LINEAR, layers=1, block_size=400, states=1), 4),
    ],
)
def test_a_request_of_1_000_tokens_holds(cache: Cache, blocks: int) -> None:
    """256 tokens are in flight; a window may start inside a block, so it holds one more."""
    assert cache.blocks(1_000, 256) == blocks


def test_cached_states_and_checkpoints_take_a_block_each() -> None:
    """One state, one to hand on, one a draft token; Mamba 2 a checkpoint more from 0.32."""
    mamba = LayerSet(
        kind=LayerKind.LINEAR,
        count=4,
        conv_kernel=4,
        conv_channels=640,
        conv_groups=1,
        conv_group_width=128,
        state_heads=8,
        state_head_size=64,
        state_width=64,
        checkpoints_prefill=True,
    )
    target = shape(ATTENTION, mamba)
    settings: dict[str, object] = {"spec_method": "ngram", "draft_tokens": 3}

    def states(by: Engine, **more: object) -> int:
        return laid_out(target, {**settings, **more}, by).caches[-1].states

    assert states(STOCK) == 6
    assert states(engine("vllm-0.31.0")) == 5
    assert states(STOCK, enable_prefix_caching=False) == 4
