"""Model families whose layers are not all attention: readers of their configurations.

Source of every shape: vLLM 0.32, `model_executor/models/*`, get_mamba_state_shape_from_config,
and `layers/mamba/mamba_utils.py`.
"""

import dataclasses
from collections.abc import Callable, Iterable

import msgspec

from studio.domain.geometry import LayerKind, LayerSet
from studio.planner.config import Config
from studio.planner.layers import Heads, Layers, depth, full, heads, windowed

_LINEAR = ("linear_attention", "mamba", "mamba2", "conv", "linear", "M")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """How a family's configuration is read."""

    layers: Callable[[Config], Layers] | None = None
    """None: attention only, by the common names."""
    state_dtype: str | None = None
    """What the engine keeps states in where the file does not say."""
    mtp_layers: int = 0
    """Layers of the draft module where the file does not say."""
    is_complete: bool = True


def _gated_delta(text: Config) -> LayerSet:
    """Return one gated-delta-net layer of Qwen3-Next and Qwen3.5."""
    keys = (text.whole("linear_num_key_heads") or 0) * (text.whole("linear_key_head_dim") or 0)
    value_heads = text.whole("linear_num_value_heads") or 0
    width = text.whole("linear_value_head_dim") or 0
    return LayerSet(
        kind=LayerKind.LINEAR,
        count=1,
        conv_kernel=text.whole("linear_conv_kernel_dim") or 4,
        conv_channels=2 * keys + value_heads * width,
        state_heads=value_heads,
        state_head_size=width,
        state_width=text.whole("linear_key_head_dim") or 0,
    )


def _interleaved(text: Config, state: LayerSet, whole: LayerSet) -> Layers:
    count = depth(text)
    stated = text.texts("layer_types", "layers_block_type")
    if stated:
        return tuple(state if name in _LINEAR else whole for name in stated[:count]), ()
    step = text.whole("full_attention_interval") or 4
    return (
        tuple(whole if (index + 1) % step == 0 else state for index in range(count)),
        (),
    )


def _qwen_hybrid(text: Config) -> Layers:
    return _interleaved(text, _gated_delta(text), full(heads(text)))


def _flash_next(text: Config) -> Layers:
    layers, _ = _qwen_hybrid(text)
    note = (
        "Indexer keys, n-gram states and host KV of this family are not in the pool's arithmetic."
    )
    return layers, (note,)


def _mamba2(
    text: Config, *, inner: int, groups: int, state: int, head: int, number: int
) -> LayerSet:
    return LayerSet(
        kind=LayerKind.LINEAR,
        count=1,
        conv_kernel=text.whole("conv_kernel", "mamba_d_conv") or 4,
        conv_channels=inner + 2 * groups * state,
        conv_groups=groups,
        conv_group_width=2 * state,
        state_heads=number,
        state_head_size=head,
        state_width=state,
        checkpoints_prefill=True,
    )


def _nemotron_state(text: Config) -> LayerSet:
    number = text.whole("mamba_num_heads") or 0
    head = text.whole("mamba_head_dim") or 0
    return _mamba2(
        text,
        inner=number * head,
        groups=text.whole("n_groups") or 1,
        state=text.whole("ssm_state_size") or 0,
        head=head,
        number=number,
    )


def _granite_state(text: Config) -> LayerSet:
    """Bamba, Granite 4 and Falcon-H1 name the same things alike."""
    hidden = text.whole("hidden_size") or 0
    inner = text.whole("mamba_d_ssm") or (text.whole("mamba_expand") or 2) * hidden
    return _mamba2(
        text,
        inner=inner,
        groups=text.whole("mamba_n_groups") or 1,
        state=text.whole("mamba_d_state") or 0,
        head=text.whole("mamba_d_head") or 0,
        number=text.whole("mamba_n_heads") or 0,
    )


def _nemotron(text: Config) -> Layers:
    """Nemotron-H: `M` a state, `*` attention, `-` and `E` nothing that is cached."""
    stated = text.texts("layers_block_type")
    pattern: Iterable[str] = stated or tuple(text.text("hybrid_override_pattern") or "")
    whole, state = full(heads(text)), _nemotron_state(text)
    kinds = {"M": state, "mamba": state, "*": whole, "attention": whole}
    return tuple(kinds[name] for name in pattern if name in kinds), ()


def _granite(text: Config) -> Layers:
    stated = text.texts("layer_types", "layers_block_type")
    if stated is None:
        chosen = {int(item) for item in text.texts("attn_layer_indices") or () if item.isdigit()}
        stated = tuple("attention" if i in chosen else "mamba" for i in range(depth(text)))
    whole, state = full(heads(text)), _granite_state(text)
    return tuple(state if name in _LINEAR else whole for name in stated), ()


def _falcon_h1(text: Config) -> Layers:
    return (full(heads(text)), _granite_state(text)) * depth(text), ()


def _jamba(text: Config) -> Layers:
    """Mamba 1 beside attention at a fixed step."""
    inner = (text.whole("mamba_expand") or 2) * (text.whole("hidden_size") or 0)
    state = LayerSet(
        kind=LayerKind.LINEAR,
        count=1,
        conv_kernel=text.whole("mamba_d_conv") or 4,
        conv_channels=inner,
        state_heads=inner,
        state_head_size=text.whole("mamba_d_state") or 16,
        state_width=1,
    )
    step, offset = text.whole("attn_layer_period") or 8, text.whole("attn_layer_offset") or 0
    whole = full(heads(text))
    return tuple(whole if i % step == offset else state for i in range(depth(text))), ()


def _mamba(text: Config) -> Layers:
    """Mamba 1 and Falcon-Mamba: states and nothing else."""
    hidden = text.whole("hidden_size") or 0
    inner = text.whole("intermediate_size") or (text.whole("expand") or 2) * hidden
    state = LayerSet(
        kind=LayerKind.LINEAR,
        count=1,
        conv_kernel=text.whole("conv_kernel") or 4,
        conv_channels=inner,
        state_heads=inner,
        state_head_size=text.whole("state_size") or 16,
        state_width=1,
    )
    return (state,) * depth(text), ()


def _mamba2_only(text: Config) -> Layers:
    state = _mamba2(
        text,
        inner=(text.whole("expand") or 2) * (text.whole("hidden_size") or 0),
        groups=text.whole("n_groups") or 1,
        state=text.whole("state_size") or 0,
        head=text.whole("head_dim") or 0,
        number=text.whole("num_heads") or 0,
    )
    return (state,) * depth(text), ()


def _zamba2(text: Config) -> Layers:
    """Mamba 2 in every layer, and shared attention beside it in those called `hybrid`."""
    state = _mamba2(
        text,
        inner=(text.whole("mamba_expand") or 2) * (text.whole("hidden_size") or 0),
        groups=text.whole("mamba_ngroups") or 1,
        state=text.whole("mamba_d_state") or 0,
        head=text.whole("mamba_headdim") or 0,
        number=text.whole("n_mamba_heads") or 0,
    )
    stated = text.texts("layers_block_type")
    if stated is None:
        chosen = {int(item) for item in text.texts("hybrid_layer_ids") or () if item.isdigit()}
        stated = tuple("hybrid" if i in chosen else "mamba" for i in range(depth(text)))
    whole = full(heads(text))
    return (*(whole for name in stated if name == "hybrid"), *(state for _ in stated)), ()


def _mimo_v2(text: Config) -> Layers:
    """Windows and whole layers with heads of their own; values shorter than keys."""
    whole = heads(text)
    window = text.whole("sliding_window_size", "sliding_window") or 128
    local = Heads(
        kv_heads=text.whole("swa_num_key_value_heads") or whole.kv_heads,
        size=text.whole("swa_head_dim") or whole.size,
        value_size=text.whole("swa_v_head_dim"),
    )
    pattern = text.texts("hybrid_layer_pattern") or ("0",) * depth(text)
    return tuple(windowed(local, window) if one == "1" else full(whole) for one in pattern), ()


def _whisper(text: Config) -> Layers:
    """The decoder's layers: each sees its own tokens, and what the encoder made of the sound."""
    queries = text.whole("decoder_attention_heads") or 1
    size = (text.whole("d_model") or 0) // queries
    own = full(Heads(kv_heads=queries, size=size))
    beside = msgspec.structs.replace(own, kind=LayerKind.CROSS)
    count = text.whole("decoder_layers") or 0
    return (own,) * count + (beside,) * count, ()


def _short_conv(text: Config) -> Layers:
    """LFM2: a short convolution beside attention, no recurrent state."""
    state = LayerSet(
        kind=LayerKind.LINEAR,
        count=1,
        conv_kernel=text.whole("conv_L_cache") or 3,
        conv_channels=text.whole("conv_dim", "hidden_size") or 0,
    )
    stated = text.texts("layer_types")
    if stated is None:
        chosen = {int(item) for item in text.texts("full_attn_idxs") or () if item.isdigit()}
        stated = tuple("full_attention" if i in chosen else "conv" for i in range(depth(text)))
    whole = full(heads(text))
    return tuple(state if name in _LINEAR else whole for name in stated), ()


def _kimi_linear(text: Config) -> Layers:
    """Kimi delta attention beside MLA layers."""
    inner = text.inner("linear_attn_config") or text
    number, size = inner.whole("num_heads") or 0, inner.whole("head_dim") or 0
    state = LayerSet(
        kind=LayerKind.LINEAR,
        count=1,
        conv_kernel=inner.whole("short_conv_kernel_size") or 4,
        conv_channels=3 * number * size,
        state_heads=number,
        state_head_size=size,
        state_width=size,
    )
    latent = (text.whole("kv_lora_rank") or 0) + (text.whole("qk_rope_head_dim") or 0)
    whole = LayerSet(kind=LayerKind.MLA, count=1, kv_heads=1, latent_size=latent)
    # Counted from one in the file.
    chosen = {int(item) for item in inner.texts("kda_layers") or () if item.isdigit()}
    return tuple(state if i + 1 in chosen else whole for i in range(depth(text))), ()


def _compressed(text: Config) -> Layers:
    """DeepSeek V4 and V4.1: compressed caches shared across layers, windows of 128."""
    layer = LayerSet(kind=LayerKind.MLA, count=1, kv_heads=1, cell_bytes=584)
    note = "Compressed, windowed and indexed caches of this family are counted as one kind."
    return (layer,) * depth(text), (note,)


_NEXT = Family(layers=_qwen_hybrid, mtp_layers=1)
_FLASH_NEXT = Family(layers=_flash_next, mtp_layers=1, is_complete=False)
_COMPRESSED = Family(layers=_compressed, is_complete=False)
FAMILIES: dict[str, Family] = {
    "qwen3_next": _NEXT,
    "qwen3_5": _NEXT,
    "qwen3_5_text": _NEXT,
    "qwen3_5_moe": _NEXT,
    "qwen3_5_moe_text": _NEXT,
    "qwen4_exp": _FLASH_NEXT,
    "qwen4_exp_text": _FLASH_NEXT,
    "nemotron_h": Family(layers=_nemotron, state_dtype="float32"),
    "granitemoehybrid": Family(layers=_granite),
    "bamba": Family(layers=_granite),
    "falcon_h1": Family(layers=_falcon_h1),
    "jamba": Family(layers=_jamba),
    "mamba": Family(layers=_mamba),
    "falcon_mamba": Family(layers=_mamba),
    "mamba2": Family(layers=_mamba2_only),
    "zamba2": Family(layers=_zamba2),
    "mimo_v2_flash": Family(layers=_mimo_v2),
    "whisper": Family(layers=_whisper),
    "lfm2": Family(layers=_short_conv),
    "lfm2_moe": Family(layers=_short_conv),
    "kimi_linear": Family(layers=_kimi_linear, state_dtype="float32"),
    "deepseek_v4": _COMPRESSED,
    "deepseek_v41": _COMPRESSED,
}
"""Model type, as `config.json` names it, to its reader."""
KNOWN_PLAIN = frozenset(
    {
        "llama", "llama4", "llama4_text", "mistral", "mistral3", "ministral", "ministral3",
        "mixtral", "qwen2", "qwen2_moe", "qwen2_vl", "qwen2_vl_text", "qwen2_5_vl",
        "qwen2_5_vl_text", "qwen3", "qwen3_moe", "qwen3_vl", "qwen3_vl_text", "qwen3_vl_moe",
        "qwen3_vl_moe_text", "gemma", "gemma2", "gemma3", "gemma3_text", "gemma3n",
        "gemma3n_text", "gemma4", "gemma4_text", "phi", "phi3", "phimoe", "gpt2", "gpt_neox",
        "gpt_oss", "granite", "granitemoe", "cohere", "cohere2", "olmo", "olmo2", "olmo3",
        "olmoe", "smollm3", "starcoder2", "falcon", "exaone", "exaone4", "glm", "glm4",
        "glm4_moe", "deepseek_v2", "deepseek_v3", "deepseek_v32", "kimi_k2", "glm_moe_dsa",
        "glm4_moe_lite", "longcat_flash", "internlm2", "internlm3", "stablelm", "opt", "bloom",
        "ernie4_5", "ernie4_5_moe", "hunyuan_v1_dense", "hunyuan_v1_moe", "seed_oss", "arcee",
        "nemotron", "mimo", "minimax_m2", "baichuan", "gpt_bigcode", "gptj",
        "dbrx", "step3p5",
    }
)  # fmt: skip
"""Model types of ordinary attention whose files have been held against vLLM's reading."""
