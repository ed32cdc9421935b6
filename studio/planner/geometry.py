"""A model's geometry from its `config.json`: the layers whose caches make up the pool.

Follows what vLLM makes of the same file, not what a paper says. Families that need more than heads
and windows have a reader of their own in `studio/planner/families.py`; anything else is read by the
common names, and what is then taken for granted is said.
Source: vLLM 0.32, `transformers_utils/model_arch_config_convertor.py`, `config/model.py`; the
configuration classes of transformers, where they fill in `layer_types`.
"""

from collections.abc import Mapping

from studio.domain.errors import BadInput
from studio.domain.geometry import LayerKind, LayerSet, ModelGeometry
from studio.planner.config import Config, text_config
from studio.planner.defaults import DEFAULTS
from studio.planner.families import FAMILIES, KNOWN_PLAIN, Family
from studio.planner.layers import Layers, counted, plain_layers

_STATED = "num_hidden_layers"
_SCALED = ("yarn", "deepseek_yarn", "deepseek_llama_scaling", "llama3", "su", "longrope", "default")
"""RoPE types whose `max_position_embeddings` is already the scaled one."""


def geometry(config: Mapping[str, object], *, source: str | None = None) -> ModelGeometry:
    """Return what `config`, the content of a `config.json`, says of the model.

    Raises: BadInput, if it has no layers or contradicts itself.
    """
    outer = Config(config)
    text = text_config(outer)
    model_type = (text.text("model_type") or outer.text("model_type") or "").lower()
    if text is not outer or _STATED in text.values:
        # A file that states nothing is no model; one that states its layers, or a nested one, is.
        text = Config({**DEFAULTS.get(model_type, {}), **text.values})
    architecture = (outer.texts("architectures") or text.texts("architectures") or (model_type,))[0]
    family = FAMILIES.get(model_type, Family())
    layers, assumptions = _layers(text, model_type, architecture, family)
    if not layers:
        raise BadInput(
            "config-without-layers",
            "`config.json` describes no layers with a KV cache that the planner knows.",
            hint="The planner needs `num_hidden_layers` and `num_attention_heads`; models that "
            "only embed or transcribe cannot be planned.",
        )
    return ModelGeometry(
        architecture=architecture or "unknown",
        layers=counted(layers),
        query_heads=text.whole("num_attention_heads", "n_head", "num_heads", "n_heads"),
        hidden_size=text.whole("hidden_size", "n_embd", "d_model"),
        vocabulary=text.whole("vocab_size"),
        context_tokens=_context(text, model_type),
        default_context_tokens=_default(text),
        mtp_layers=_mtp(text, layers, family),
        dtype=(
            text.text("dtype", "torch_dtype") or outer.text("dtype", "torch_dtype") or ""
        ).removeprefix("torch.")
        or None,
        state_dtype=text.text("mamba_ssm_dtype", "mamba_ssm_cache_dtype") or family.state_dtype,
        kv_cache_dtype=_kv_cache_dtype(text, outer),
        is_complete=family.is_complete,
        assumptions=assumptions,
        source=source,
    )


def _layers(text: Config, model_type: str, architecture: str, family: Family) -> Layers:
    if family.layers is not None:
        return family.layers(text)
    layers, assumptions = plain_layers(text, model_type, architecture)
    if model_type not in KNOWN_PLAIN and not _is_drafter(architecture):
        guess = (
            f"The model type `{model_type or 'none'}` is not known: every layer is taken for "
            "ordinary attention, which holds for most such models."
        )
        assumptions = (*assumptions, guess)
    return layers, assumptions


def _is_drafter(architecture: str) -> bool:
    return any(word in architecture.lower() for word in ("dflash", "eagle", "dspark", "mtp"))


def _context(text: Config, model_type: str) -> int | None:
    """Return the longest context. Source: vLLM, `config/model.py`, _get_and_verify_max_len.

    `model_max_length` goes before all others (Command R).
    """
    tokens = text.whole(
        "model_max_length", "max_position_embeddings", "n_positions", "max_seq_len", "seq_length",
        "max_sequence_length", "max_seq_length", "max_target_positions",
    )  # fmt: skip
    rope = text.inner("rope_parameters", "rope_scaling")
    if tokens is None or rope is None or "gemma3" in model_type:
        return tokens
    factor = rope.values.get("factor")
    if rope.text("rope_type", "type") in (None, *_SCALED) or not isinstance(factor, int | float):
        return tokens
    return int(tokens * factor)


def _default(text: Config) -> int | None:
    """Return the context where none is asked for, if it is not the longest.

    Source: vLLM, `config/model.py`: with LongRoPE the original length, because short prompts are
    read better so (Phi-3).
    """
    rope = text.inner("rope_parameters", "rope_scaling")
    original = text.whole("original_max_position_embeddings")
    if rope is not None and rope.text("rope_type", "type") == "longrope" and original:
        return original
    return None


def _mtp(text: Config, layers: tuple[LayerSet, ...], family: Family) -> tuple[LayerSet, ...]:
    """Return the layers of a built-in draft module: attention like the model's own whole layers."""
    count = text.whole("mtp_num_hidden_layers", "num_nextn_predict_layers")
    if count is None:
        count = family.mtp_layers
    whole = [item for item in layers if item.kind in (LayerKind.FULL, LayerKind.MLA)]
    kinds = {(item.kind, item.cell_bytes is not None): item for item in reversed(whole)}
    return counted(item for item in kinds.values() for _ in range(count)) if count else ()


def _kv_cache_dtype(text: Config, outer: Config) -> str | None:
    """Return what `auto` means for a checkpoint quantised with its KV cache.

    Source: vLLM, `utils/torch_utils.py`, get_kv_cache_quant_algo_string: only ModelOpt's word
    counts there.
    """
    quantisation = text.inner("quantization_config") or outer.inner("quantization_config")
    if quantisation is None or not (quantisation.text("quant_method") or "").startswith("modelopt"):
        return None
    inner = quantisation.inner("quantization") or quantisation
    for part in (inner, quantisation):
        scheme = part.inner("kv_cache_scheme")
        if scheme is not None and scheme.text("type") == "float":
            return {8: "fp8", 4: "nvfp4"}.get(scheme.whole("num_bits") or 0)
        name = (part.text("kv_cache_quant_algo") or "").lower()
        if name in ("fp8", "nvfp4"):
            return name
    return None
