"""Bytes that one token, or one state, takes in one layer's cache on one card."""

import math
import re

from studio.domain.errors import BadInput
from studio.domain.geometry import LayerKind, LayerSet
from studio.planner.demand import Demand
from studio.planner.engine import Engine, Rule

_ELEMENT_BYTES = {
    "float32": 4,
    "float": 4,
    "bfloat16": 2,
    "float16": 2,
    "half": 2,
    "fp8": 1,
    "fp8_e4m3": 1,
    "fp8_e5m2": 1,
    "fp8_inc": 1,
    "fp8_ds_mla": 1,
    "int8_per_token_head": 1,
    "fp8_per_token_head": 1,
}
"""Source: vLLM 0.26 to 0.32, `utils/torch_utils.py`, STR_DTYPE_TO_TORCH_DTYPE."""
_SCALE_BYTES = 4
"""One float32 for each token, head and side of a per-token-head type."""
_DS_MLA_CELL_BYTES = 656
"""DeepSeek V3.2's own fp8 layout. Source: vLLM 0.26, MLAAttentionSpec.real_page_size_bytes."""
_TURBOQUANT_BITS = {
    "turboquant_k8v4": (8, 4),
    "turboquant_4bit_nc": (4, 4),
    "turboquant_k3v4_nc": (3, 4),
    "turboquant_3bit_nc": (3, 3),
}
_KVARN = re.compile(r"kvarn_k(\d)v(\d)_g(\d+)")
_KVARN_TYPES = frozenset(f"kvarn_k4v{bits}_g{group}" for bits in (2, 4) for group in (64, 128))
"""Source: HyperQwen K1, `config/cache.py`."""


def element_bytes(dtype: str) -> int:
    """Return the bytes of one element of a plain type.

    Raises: BadInput, if nobody knows it.
    """
    size = _ELEMENT_BYTES.get(dtype.removeprefix("torch."))
    if size is None:
        raise BadInput(
            "kv-dtype-unknown",
            f"`{dtype}` is no KV cache type that the planner knows.",
            hint=f"Known types: {', '.join(sorted(known_types()))}.",
        )
    return size


def known_types() -> frozenset[str]:
    """Return the KV cache types that a pool can be computed for."""
    return frozenset(
        {"auto", "int4_per_token_head", "nvfp4", "nvfp4_4over6"}
        | _ELEMENT_BYTES.keys()
        | _TURBOQUANT_BITS.keys()
        | _KVARN_TYPES
    )


def heads_on_card(heads: int, shards: int) -> int:
    """Return the KV heads of one card; fewer heads than cards are copied to several.

    Raises: BadInput, if they cannot be shared evenly.
    """
    if (heads >= shards and heads % shards) or (heads < shards and shards % heads):
        raise BadInput(
            "heads-indivisible",
            f"{heads} KV heads cannot be shared evenly by {shards} cards.",
            hint=f"Use {_divisors_text(heads)} cards.",
        )
    return max(1, heads // shards)


def _divisors_text(heads: int) -> str:
    return " or ".join(str(n) for n in range(1, heads + 1) if heads % n == 0)


def token_bytes(layers: LayerSet, dtype: str, demand: Demand, engine: Engine) -> int:
    """Return the bytes of one token in one layer; `dtype` is the KV cache type, `auto` included.

    Source: vLLM, AttentionSpec.real_page_size_bytes (0.26, 0.27), customize_spec of the Triton and
    FlashInfer backends (0.28 on), TurboQuantConfig.slot_size_aligned.
    """
    if layers.cell_bytes is not None:
        return layers.cell_bytes
    name = demand.model_dtype if dtype == "auto" else dtype
    if layers.kind is LayerKind.MLA:
        return _latent_bytes(layers, name)
    if layers.kv_heads is None or layers.head_size is None:
        raise BadInput(
            "geometry-incomplete",
            "The model's attention heads are not known, so its KV cache cannot be computed.",
            hint="A `config.json` names them: `num_key_value_heads` and `head_dim`.",
        )
    heads = heads_on_card(layers.kv_heads, demand.shards)
    keys, values = layers.head_size, layers.value_size or layers.head_size
    return heads * _head_bytes(name, keys, values, layers.kind, engine)


def _latent_bytes(layers: LayerSet, name: str) -> int:
    if layers.latent_size is None:
        raise BadInput(
            "geometry-incomplete",
            "The size of the compressed vectors is not known, so the KV cache cannot be computed.",
            hint="A `config.json` names it: `kv_lora_rank` and `qk_rope_head_dim`.",
        )
    if name == "fp8_ds_mla":
        return _DS_MLA_CELL_BYTES
    if name == "int4_per_token_head":
        return layers.latent_size // 2
    return layers.latent_size * element_bytes(name)


def _head_bytes(name: str, keys: int, values: int, kind: LayerKind, engine: Engine) -> int:
    if name == "int4_per_token_head":
        # Before scales were packed by the backend, sliding layers were counted as if int8.
        is_halved = kind is LayerKind.FULL or Rule.PACKS_SCALES in engine.rules
        data = keys // 2 + values // 2 if is_halved else keys + values
        return data + 2 * _SCALE_BYTES
    if name.endswith("_per_token_head"):
        return (keys + values) * element_bytes(name) + 2 * _SCALE_BYTES
    if name.startswith("nvfp4"):
        # Half a byte of data and one byte of scale for each 16 elements.
        return sum(size // 2 + size // 16 for size in (keys, values))
    if name in _TURBOQUANT_BITS:
        return _turboquant_bytes(name, keys)
    tile = _KVARN.fullmatch(name)
    if tile is not None:
        return _kvarn_bytes(keys, *(int(part) for part in tile.groups()))
    return (keys + values) * element_bytes(name)


def _turboquant_bytes(name: str, size: int) -> int:
    key_bits, value_bits = _TURBOQUANT_BITS[name]
    # 8-bit keys carry no norm; the others a float16; values a float16 scale and zero.
    key = size if key_bits == 8 else math.ceil(size * key_bits / 8) + 2
    slot = key + math.ceil(size * value_bits / 8) + 4
    return slot + slot % 2


def _kvarn_bytes(size: int, key_bits: int, value_bits: int, group: int) -> int:
    """Return the bytes of one head and token of a KVarN tile of `group` tokens.

    Data, and for keys two 2-byte values a channel and one a token, for values one a channel and
    two a token. Source: HyperQwen, KVarN's backend: 17,920 B for a head of 128 in 4 bits; 840 B a
    token and layer for 4 heads of 256 in 4 and 2 bits come out too.
    """
    tile = size * group * (key_bits + value_bits) // 8 + 6 * (size + group)
    return tile // group


def state_bytes(layers: LayerSet, demand: Demand) -> int:
    """Return the bytes of one state of one `linear` layer, drafts' convolution steps included.

    Source: vLLM, `layers/mamba/mamba_utils.py`, MambaStateShapeCalculator.
    """
    conv_type = demand.model_dtype if demand.conv_dtype == "auto" else demand.conv_dtype
    state_type = conv_type if demand.state_dtype == "auto" else demand.state_dtype
    channels = (layers.conv_channels or 0) + _copied_channels(layers, demand.shards)
    steps = (layers.conv_kernel or 1) - 1 + demand.draft_tokens
    heads = layers.state_heads or 0
    if channels % demand.shards or heads % demand.shards:
        raise BadInput(
            "heads-indivisible",
            f"{heads} state heads cannot be shared evenly by {demand.shards} cards.",
            hint=f"Use {_divisors_text(math.gcd(heads, channels))} cards.",
        )
    state = heads // demand.shards * (layers.state_head_size or 1) * (layers.state_width or 1)
    return channels // demand.shards * steps * element_bytes(conv_type) + state * element_bytes(
        state_type
    )


def _copied_channels(layers: LayerSet, shards: int) -> int:
    """Groups that do not divide by the cards are copied until each card has its own."""
    groups = layers.conv_groups
    if groups is None or groups % shards == 0:
        return 0
    return (shards - groups) * (layers.conv_group_width or 0)
