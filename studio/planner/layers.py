"""Ordinary attention layers from a configuration: heads, sizes, windows."""

import dataclasses
from collections.abc import Iterable

from studio.domain.errors import BadInput
from studio.domain.geometry import LayerKind, LayerSet
from studio.planner.config import Config

Layers = tuple[tuple[LayerSet, ...], tuple[str, ...]]
"""One entry a layer, and what was taken for granted."""
_MLA_TYPES = frozenset(
    {
        "axk1", "deepseek_v2", "deepseek_v3", "deepseek_v32", "deepseek_mtp", "glm_moe_dsa",
        "glm4_moe_lite", "kimi_k2", "longcat_flash", "pangu_ultra_moe", "deepseek_vl_v2",
    }
)  # fmt: skip
"""Source: vLLM 0.32, is_deepseek_mla."""
_ALTERNATING = {
    "gemma2": 2, "gpt_oss": 2, "cohere2": 4, "olmo3": 4, "exaone4": 4, "gemma3n": 5,
    "gemma3n_text": 5, "gemma3": 6, "gemma3_text": 6, "gemma4": 6, "gemma4_text": 6,
}  # fmt: skip
"""Families whose files may leave `layer_types` out: every n-th layer sees everything.

Source: transformers' configuration classes, which fill it in.
"""
_WHOLE = ("full_attention", "attention", "global_attention", "full")
_SLIDING = ("sliding_attention", "local_attention", "sliding")
_CHUNKED = ("chunked_attention",)
_SOME_WINDOWS = (
    "The engine refuses Qwen2 models with windows in some layers only (`max_window_layers`)."
)
"""Source: vLLM 0.32, `models/qwen2.py`."""
_LETTERS = {"L": LayerKind.SLIDING, "G": LayerKind.FULL}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Heads:
    """One layer's attention."""

    kv_heads: int
    size: int
    value_size: int | None = None


def counted(layers: Iterable[LayerSet]) -> tuple[LayerSet, ...]:
    """Return `layers` with like ones counted together, in the order of their first."""
    found: dict[str, LayerSet] = {}
    for layer in layers:
        key = repr(_with_count(layer, 0))
        known = found.get(key)
        count = layer.count if known is None else known.count + layer.count
        found[key] = _with_count(layer, count)
    return tuple(found.values())


def _with_count(layer: LayerSet, count: int) -> LayerSet:
    values = {name: getattr(layer, name) for name in LayerSet.__struct_fields__}
    return LayerSet(**{**values, "count": count})


def heads(text: Config) -> Heads:
    """Return the attention heads that most layers have.

    Raises: BadInput, if they are not stated.
    """
    queries = text.whole("num_attention_heads", "n_head", "num_heads", "n_heads")
    kv_heads = text.whole(
        "n_head_kv", "num_kv_heads", "num_key_value_heads", "multi_query_group_num",
        "num_attention_groups",
    )  # fmt: skip
    if text.flag("multi_query") and not text.flag("new_decoder_architecture"):
        kv_heads = text.whole("multi_query_group_num") or 1
    size = text.whole("head_dim", "attention_head_dim", "hidden_size_per_head")
    hidden = text.whole("hidden_size", "n_embd", "d_model")
    if not size and hidden is not None and queries:
        size = hidden // queries
    if kv_heads is None and (inner := text.inner("attn_config")) is not None:
        kv_heads = inner.whole("kv_n_heads")  # MPT and DBRX
    kv_heads = kv_heads or queries
    if not kv_heads or not size:
        raise BadInput(
            "config-incomplete",
            "`config.json` does not say how many attention heads the model has.",
            hint="The planner needs `num_attention_heads` and `hidden_size` or `head_dim`.",
        )
    return Heads(kv_heads=kv_heads, size=size, value_size=text.whole("v_head_dim"))


def depth(text: Config) -> int:
    """Return how many layers there are.

    Raises: BadInput, if it is not stated.
    """
    count = text.whole("num_hidden_layers", "n_layer", "num_layers", "n_layers")
    if not count:
        raise BadInput(
            "config-without-layers",
            "`config.json` does not say how many layers the model has.",
            hint="Is it a model's folder? The planner needs `num_hidden_layers`.",
        )
    return count


def full(attention: Heads) -> LayerSet:
    """Return one layer that attends to all tokens."""
    return LayerSet(
        kind=LayerKind.FULL,
        count=1,
        kv_heads=attention.kv_heads,
        head_size=attention.size,
        value_size=attention.value_size,
    )


def windowed(attention: Heads, window: int, kind: LayerKind = LayerKind.SLIDING) -> LayerSet:
    """Return one layer that attends to a window."""
    return LayerSet(
        kind=kind,
        count=1,
        kv_heads=attention.kv_heads,
        head_size=attention.size,
        value_size=attention.value_size,
        window=window,
    )


def plain_layers(text: Config, model_type: str, architecture: str) -> Layers:
    """Return the layers of a model that only has attention."""
    if model_type in _MLA_TYPES and text.whole("kv_lora_rank"):
        return _latent_layers(text), ()
    kinds = kinds_of(text, model_type, architecture)
    attention = dataclasses.replace(heads(text), value_size=None)
    window = window_of(text, model_type)
    chunk = text.whole("attention_chunk_size")
    shared = text.whole("num_kv_shared_layers") or 0
    layers: list[LayerSet] = []
    for kind in kinds[: len(kinds) - shared if shared < len(kinds) else len(kinds)]:
        if kind is LayerKind.SLIDING and window:
            layers.append(windowed(_local_heads(text, attention), window))
        elif kind is LayerKind.CHUNKED and chunk:
            layers.append(windowed(attention, chunk, LayerKind.CHUNKED))
        else:
            layers.append(full(_global_heads(text, attention)))
    is_refused = model_type.startswith("qwen2") and len(set(kinds)) > 1
    return tuple(layers), ((_SOME_WINDOWS,) if is_refused else ())


def _local_heads(text: Config, attention: Heads) -> Heads:
    """Step 3.5's sliding layers have heads of their own."""
    other = text.inner("attention_other_setting")
    if other is None or other.text("attention_type") not in _SLIDING:
        return attention
    return Heads(
        kv_heads=other.whole("num_attention_groups") or attention.kv_heads,
        size=other.whole("head_dim") or attention.size,
    )


def _global_heads(text: Config, attention: Heads) -> Heads:
    """Gemma 4's whole layers have heads of their own."""
    size = text.whole("global_head_dim")
    if size is None:
        return attention
    own = text.whole("num_global_key_value_heads") if text.flag("attention_k_eq_v") else None
    return Heads(kv_heads=own or attention.kv_heads, size=size)


def window_of(text: Config, model_type: str) -> int | None:
    """Return the window of the model's sliding layers; 0 means none.

    Source: vLLM, `config/model.py`, and transformers' Qwen classes: a window that the file switches
    off is none.
    """
    if text.flag("use_sliding_window") is False:
        return None
    window = text.whole("sliding_window", "sliding_window_size") or None
    # Cohere's layers see the current token beside the window.
    return window + 1 if window is not None and model_type == "cohere2" else window


def kinds_of(text: Config, model_type: str, architecture: str) -> tuple[LayerKind, ...]:
    """Return each layer's kind of attention."""
    count = depth(text)
    stated = text.texts("layer_types")
    if "dflash" in architecture.lower():
        return _drafter_kinds(text, stated, count)
    if stated:
        return tuple(_kind(name) for name in stated[:count])
    if text.whole("attention_chunk_size"):
        step = text.whole("no_rope_layer_interval") or 4
        return tuple(
            LayerKind.FULL if (index + 1) % step == 0 else LayerKind.CHUNKED
            for index in range(count)
        )
    if not window_of(text, model_type):
        return (LayerKind.FULL,) * count
    spelled = text.values.get("sliding_window_pattern")
    if isinstance(spelled, str) and set(spelled) == {"L", "G"}:
        # EXAONE 4 spells one round out: local, local, local, global.
        return tuple(_LETTERS[spelled[index % len(spelled)]] for index in range(count))
    pattern = text.whole("sliding_window_pattern") or _ALTERNATING.get(model_type)
    if pattern:
        # Gemma 4's last layer sees everything, whatever the pattern says.
        last = count - 1 if model_type.startswith("gemma4") else None
        return tuple(
            LayerKind.FULL if (index + 1) % pattern == 0 or index == last else LayerKind.SLIDING
            for index in range(count)
        )
    if model_type.startswith(("qwen2", "qwen3")):
        return _qwen_kinds(text, count)
    return (LayerKind.SLIDING,) * count


def _qwen_kinds(text: Config, count: int) -> tuple[LayerKind, ...]:
    if not text.flag("use_sliding_window"):
        return (LayerKind.FULL,) * count
    first = text.whole("max_window_layers")
    start = count if first is None else first
    return tuple(LayerKind.SLIDING if index >= start else LayerKind.FULL for index in range(count))


def _drafter_kinds(
    text: Config, stated: tuple[str, ...] | None, count: int
) -> tuple[LayerKind, ...]:
    """Source: vLLM 0.32, `models/qwen3_dflash.py`, _resolve_layer_attention."""
    inner = text.inner("dflash_config")
    forced = inner is not None and bool(inner.flag("use_swa"))
    if stated and not (forced and not any(name in _SLIDING for name in stated)):
        return tuple(_kind(name) for name in stated[:count])
    is_windowed = forced or (stated is None and bool(text.whole("sliding_window")))
    return (LayerKind.SLIDING if is_windowed else LayerKind.FULL,) * count


def _kind(name: str) -> LayerKind:
    if name in _SLIDING:
        return LayerKind.SLIDING
    return LayerKind.CHUNKED if name in _CHUNKED else LayerKind.FULL


def _latent_layers(text: Config) -> tuple[LayerSet, ...]:
    """Return MLA layers: one vector a token; with an indexer, its keys beside it.

    Source: vLLM, MLAAttentionSpec; `models/deepseek_v2.py`, DeepseekV32IndexerCache: one fp8 key
    and a float32 scale for each 128 of it.
    """
    latent = (text.whole("kv_lora_rank") or 0) + (text.whole("qk_rope_head_dim") or 0)
    layer = LayerSet(kind=LayerKind.MLA, count=1, kv_heads=1, latent_size=latent)
    index = text.whole("index_head_dim") if text.whole("index_topk") else None
    one: tuple[LayerSet, ...] = (layer,)
    if index:
        keys = index + index // 128 * 4
        one = (layer, LayerSet(kind=LayerKind.MLA, count=1, kv_heads=1, cell_bytes=keys))
    return one * depth(text)
