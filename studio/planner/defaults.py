"""What a `config.json` leaves out and the model's configuration class fills in.

Saved files may omit whatever equals the class's own value, and nested ones usually do.
Source: transformers 5, configuration classes, their defaults (those that are constants: a head size
that is computed from the width is computed here too).
"""

from collections.abc import Mapping


def _of(
    layers: int,
    heads: int,
    kv_heads: int,
    hidden: int,
    context: int,
    **more: object,
) -> Mapping[str, object]:
    return {
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": kv_heads,
        "hidden_size": hidden,
        "max_position_embeddings": context,
        **more,
    }


_DELTA_NET = {
    "linear_conv_kernel_dim": 4,
    "linear_key_head_dim": 128,
    "linear_value_head_dim": 128,
    "linear_num_key_heads": 16,
    "linear_num_value_heads": 32,
}
_GEMMA3 = _of(26, 8, 4, 2_304, 131_072, head_dim=256, sliding_window=4_096)
_GEMMA3N = _of(35, 8, 2, 2_048, 32_768, head_dim=256, sliding_window=512, num_kv_shared_layers=15)
_GEMMA4 = _of(30, 8, 4, 2_304, 131_072, head_dim=256, sliding_window=512)
_LLAMA4 = _of(48, 40, 8, 5_120, 131_072, head_dim=128, attention_chunk_size=8_192)
_QWEN35 = _of(32, 16, 4, 4_096, 32_768, head_dim=256, **_DELTA_NET)
_QWEN35_MOE = _of(40, 16, 2, 2_048, 32_768, head_dim=256, **_DELTA_NET)

DEFAULTS: Mapping[str, Mapping[str, object]] = {
    "llama": _of(32, 32, 0, 4_096, 2_048),
    "mistral": _of(32, 32, 8, 4_096, 131_072, sliding_window=4_096),
    "ministral": _of(32, 32, 8, 4_096, 131_072, sliding_window=4_096),
    "ministral3": _of(34, 32, 8, 4_096, 262_144, head_dim=128),
    "mixtral": _of(32, 32, 8, 4_096, 131_072),
    "qwen2": _of(32, 32, 0, 4_096, 32_768, max_window_layers=28),
    "qwen3": _of(32, 32, 0, 4_096, 32_768, head_dim=128, max_window_layers=28),
    "qwen3_moe": _of(24, 32, 4, 2_048, 32_768),
    "qwen3_vl_text": _of(32, 32, 0, 4_096, 128_000, head_dim=128),
    "qwen3_next": _of(48, 16, 2, 2_048, 32_768, head_dim=256, **_DELTA_NET),
    "qwen3_5": _QWEN35,
    "qwen3_5_text": _QWEN35,
    "qwen3_5_moe": _QWEN35_MOE,
    "qwen3_5_moe_text": _QWEN35_MOE,
    "gemma": _of(28, 16, 16, 3_072, 8_192, head_dim=256),
    "gemma2": _of(26, 8, 4, 2_304, 8_192, head_dim=256, sliding_window=4_096),
    "gemma3": _GEMMA3,
    "gemma3_text": _GEMMA3,
    "gemma3n": _GEMMA3N,
    "gemma3n_text": _GEMMA3N,
    "gemma4": _GEMMA4,
    "gemma4_text": _GEMMA4,
    "llama4": _LLAMA4,
    "llama4_text": _LLAMA4,
    "gpt_oss": _of(36, 64, 8, 2_880, 131_072, head_dim=64, sliding_window=128),
    "cohere2": _of(40, 64, 0, 8_192, 8_192, sliding_window=4_096),
    "exaone4": _of(32, 32, 32, 4_096, 2_048, sliding_window=4_096, sliding_window_pattern=4),
    "olmo3": _of(32, 32, 0, 4_096, 2_048, sliding_window=4_096),
    "smollm3": _of(36, 16, 4, 2_048, 32_768),
    "glm": _of(40, 32, 2, 4_096, 131_072, head_dim=128),
    "glm4": _of(40, 32, 2, 4_096, 131_072, head_dim=128),
    "glm4_moe": _of(46, 96, 8, 4_096, 131_072),
    "starcoder2": _of(30, 24, 2, 3_072, 4_096),
    "phi3": _of(32, 32, 0, 3_072, 4_096),
}
"""Model type to its class's values; 0 KV heads: as many as query heads."""
