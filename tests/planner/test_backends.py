"""Which attention backend a card gets, and what blocks it reads."""

import pytest

from studio.domain.geometry import LayerKind, LayerSet
from studio.planner.backends import Backend, backend_of, drafter_backend
from studio.planner.demand import demand
from studio.planner.engine import engine
from tests.planner.model_samples import ATTENTION, shape

LATENT = shape(LayerSet(kind=LayerKind.MLA, count=27, kv_heads=1, latent_size=576))
INDEXED = shape(
    LayerSet(kind=LayerKind.MLA, count=27, kv_heads=1, latent_size=576),
    LayerSet(kind=LayerKind.MLA, count=27, kv_heads=1, cell_bytes=132),
)
PLAIN = shape(ATTENTION)


@pytest.mark.parametrize(
    ("settings", "capability", "expected"),
    [
        ({}, (8, 6), "FLASH_ATTN"),
        ({}, (10, 0), "FLASHINFER"),
        ({"kv_cache_dtype": "fp8"}, (8, 6), "FLASHINFER"),
        ({"kv_cache_dtype": "fp8"}, (9, 0), "FLASH_ATTN"),
        ({"kv_cache_dtype": "int8_per_token_head"}, (8, 6), "TRITON_ATTN"),
        ({"kv_cache_dtype": "kvarn_k4v2_g128"}, (8, 6), "KVARN"),
        ({"kv_cache_dtype": "nvfp4"}, (12, 0), "FLASHINFER"),
        ({"kv_cache_dtype": "turboquant_k8v4"}, (8, 9), "TURBOQUANT"),
        ({"attention_backend": "triton_attn"}, (9, 0), "TRITON_ATTN"),
        ({"attention_backend": "SOMETHING_NEW"}, (9, 0), "FLASH_ATTN"),
    ],
)
def test_attention_gets(
    settings: dict[str, object], capability: tuple[int, int], expected: str
) -> None:
    """vLLM's own order of preference."""
    by = engine("vllm-0.32.0", capability=capability)

    assert backend_of(PLAIN, demand(PLAIN, None, settings, by), by).name == expected


@pytest.mark.parametrize(
    ("settings", "capability", "expected", "block"),
    [
        ({}, (8, 0), "TRITON_MLA", 16),
        ({}, (9, 0), "FLASH_ATTN_MLA", 16),
        ({"kv_cache_dtype": "fp8"}, (9, 0), "FLASHMLA", 64),
        ({}, (10, 0), "FLASHINFER_MLA", 32),
    ],
)
def test_latent_attention_gets(
    settings: dict[str, object], capability: tuple[int, int], expected: str, block: int
) -> None:
    """The card decides the block of an MLA model, and so what its pool rounds to."""
    by = engine("vllm-0.32.0", capability=capability)

    found = backend_of(LATENT, demand(LATENT, None, settings, by), by)

    assert found.name == expected
    assert found.preferred() == block


def test_indexed_attention_has_blocks_of_64() -> None:
    """DeepSeek V3.2."""
    by = engine("vllm-0.32.0", capability=(9, 0))

    assert backend_of(INDEXED, demand(INDEXED, None, {}, by), by).preferred() == 64


@pytest.mark.parametrize(
    ("backend", "tokens", "expected"),
    [
        (Backend(name="x", sizes=(16,)), 430, 416),
        (Backend(name="x", sizes=(16,)), 7, 16),
        (Backend(name="x", sizes=(16, 32, 64), takes_multiples=False), 48, 32),
        (Backend(name="x", sizes=(32, 64), takes_multiples=False), 16, 32),
    ],
)
def test_the_largest_block_that_fits(backend: Backend, tokens: int, expected: int) -> None:
    """Never more than asked for, unless nothing is small enough."""
    assert backend.largest_within(tokens) == expected


def test_a_drafter_beside_latent_attention_gets_an_ordinary_backend() -> None:
    """FlashMLA's 64 tokens are no rule for a drafter's own attention."""
    by = engine("vllm-0.32.0", capability=(9, 0))
    own = backend_of(LATENT, demand(LATENT, None, {"kv_cache_dtype": "fp8"}, by), by)

    assert own.name == "FLASHMLA"
    assert drafter_backend("auto", own, by).name == "FLASH_ATTN"
    plain = backend_of(PLAIN, demand(PLAIN, None, {}, by), by)
    assert drafter_backend("auto", plain, by) is plain


@pytest.mark.parametrize(
    ("name", "flags", "expected", "block"),
    [
        ("cpu-vllm-0.26.0", (), "CPU_ATTN", 128),
        ("cpu-vllm-0.28.0", ("amx_tile",), "CPU_MLA", 16),
        ("cpu-vllm-0.32.0", (), "CPU_MLA", 16),
        ("cpu-vllm-0.32.0", ("amx_tile",), "AMX_MLA", 128),
    ],
)
def test_latent_attention_on_the_processor_gets(
    name: str, flags: tuple[str, ...], expected: str, block: int
) -> None:
    """Tiles of AMX read large blocks; without them a block is 16 tokens."""
    by = engine(name, cpu_flags=flags)

    found = backend_of(LATENT, demand(LATENT, None, {}, by), by)

    assert (found.name, found.preferred()) == (expected, block)
