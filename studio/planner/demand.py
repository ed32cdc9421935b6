"""What the arguments ask of the KV cache: vLLM's names and defaults, made into one record.

An argument that is not given gets the engine's own default; where that depends on something that
is not known here, the guess is said in `assumptions`.
"""

import json
from collections.abc import Iterable, Mapping

import msgspec

from studio.domain.errors import BadInput
from studio.domain.geometry import LayerKind, LayerSet, ModelGeometry
from studio.domain.units import GIB
from studio.planner.engine import Device, Engine, Rule

_ASYNC_METHODS = frozenset(
    {"eagle", "eagle3", "mtp", "dflash", "dspark", "extract_hidden_states", "ngram_gpu"}
)
"""Speculation that keeps asynchronous scheduling. Source: vLLM 0.26 to 0.32, `config/vllm.py`."""
_DRAFT_MODEL = "draft_model"
_NOT_MODELLED = {
    "kv_cache_dtype_skip_layers": "Layers with a KV cache type of their own are not modelled",
    "disable_sliding_window": "Windows that are switched off are not modelled",
    "kv_sharing_fast_prefill": "Caches that are shared in prefill are not modelled",
}
_UNSET = frozenset({"0", "1", "false", "[]", "()"})
_DEFAULT_CONTEXT = 2_048
"""Source: vLLM 0.26 to 0.32, `config/model.py`, where a file names no longest context."""


class Demand(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments that decide the pool, defaults filled in."""

    max_model_len: int
    is_auto_fit: bool = False
    """`max_model_len=-1`: the engine takes the longest that fits."""
    block_size: int | None = None
    kv_cache_dtype: str = "auto"
    drafter_kv_dtype: str = "auto"
    model_dtype: str = "bfloat16"
    conv_dtype: str = "auto"
    state_dtype: str = "auto"
    mamba_mode: str = "none"
    budget_tokens: int = 0
    """Tokens of one step (`max_num_batched_tokens`)."""
    in_flight_tokens: int = 0
    """Tokens that may be scheduled and not yet settled; sliding layers keep room for them."""
    draft_tokens: int = 0
    draft_modules: int = 0
    """Layers of a built-in draft module that propose one after another."""
    spec_method: str | None = None
    shards: int = 1
    """Cards that share each layer (tensor parallel)."""
    context_shards: int = 1
    """Cards among which the tokens of a request are dealt out (decode context parallel)."""
    stages: int = 1
    """Cards that share the layers (pipeline parallel)."""
    blocks_override: int | None = None
    is_hybrid_manager: bool = True
    seats: int | None = None
    """Requests that are admitted at a time."""
    hot_tokens: int | None = None
    """Where the history lies in the machine's memory: tokens of it that the card keeps (1Cat)."""
    attention_backend: str | None = None
    assumptions: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    """Assumptions that a pool may not be called exact with."""


def demand(
    target: ModelGeometry,
    drafter: ModelGeometry | None,
    settings: Mapping[str, object],
    engine: Engine,
) -> Demand:
    """Return what `settings` ask for.

    Raises: BadInput, if a value is not of its argument's kind.
    """
    reader = _Reader(settings)
    method, draft_tokens = _speculation(reader, target, drafter)
    is_hybrid = any(layers.kind is LayerKind.LINEAR for layers in target.layers)
    length = reader.length("max_model_len")
    is_caching = reader.flag("enable_prefix_caching")
    if is_caching is None:
        # A model of states alone caches no prefixes unless asked to.
        is_attending = any(layers.kind is not LayerKind.LINEAR for layers in target.layers)
        is_caching = not is_hybrid or (is_attending and Rule.CACHES_HYBRID in engine.rules)
    kv_dtype = _kv_dtype(reader.text("kv_cache_dtype"), target)
    stages = reader.count("pipeline_parallel_size") or 1
    shards = reader.count("tensor_parallel_size") or 1
    budget = _budget(reader, engine, shards * stages, length or target.context_tokens or 0)
    in_flight = _in_flight(reader, engine, method, budget=budget, stages=stages)
    if length is None and target.context_tokens is None:
        reader.assumptions.append(
            f"The file names no longest context; the engine then takes {_DEFAULT_CONTEXT:,} tokens."
        )
    _say_guesses(reader, (*target.layers, *(drafter.layers if drafter is not None else ())))
    return Demand(
        max_model_len=(
            target.default_context_tokens or target.context_tokens or _DEFAULT_CONTEXT
            if length in (None, -1)
            else length or 1
        ),
        is_auto_fit=length == -1,
        block_size=reader.count("block_size"),
        kv_cache_dtype=kv_dtype,
        drafter_kv_dtype=_drafter_kv_dtype(reader, kv_dtype, engine),
        model_dtype=_model_dtype(reader, target, engine),
        conv_dtype=reader.text("mamba_cache_dtype") or "auto",
        state_dtype=_state_dtype(reader, target, engine, is_hybrid=is_hybrid),
        mamba_mode=_mamba_mode(reader, target, engine, is_caching=is_caching),
        budget_tokens=budget,
        in_flight_tokens=in_flight,
        draft_tokens=draft_tokens,
        draft_modules=_draft_modules(target, method, draft_tokens),
        spec_method=method,
        shards=shards,
        context_shards=_context_shards(reader, target, engine, method, shards=shards),
        stages=stages,
        blocks_override=reader.count("num_gpu_blocks_override"),
        is_hybrid_manager=not reader.flag("disable_hybrid_kv_cache_manager"),
        seats=reader.count("max_num_seqs"),
        hot_tokens=_hot_tokens(reader),
        attention_backend=reader.text("attention_backend"),
        assumptions=tuple(reader.assumptions),
        doubts=tuple(reader.doubts),
    )


def _say_guesses(reader: "_Reader", layers: Iterable[LayerSet]) -> None:
    for name, what in _NOT_MODELLED.items():
        if (reader.text(name) or "0").lower() not in _UNSET:
            reader.doubts.append(f"{what} (`{name}`).")
    if reader.budget is not None and any(
        item.window or item.kind is LayerKind.CROSS for item in layers
    ):
        reader.assumptions.append(
            f"The batch budget, which windows keep room for, is the engine's default: "
            f"{reader.budget:,} tokens."
        )


class _Reader:
    """Takes arguments apart by kind; what had to be guessed is collected."""

    def __init__(self, settings: Mapping[str, object]) -> None:
        self._settings = settings
        self.assumptions: list[str] = []
        self.doubts: list[str] = []
        self.budget: int | None = None
        """The engine's default, where nobody asked for another."""
        self.speculative = self.mapping("speculative_config")

    def text(self, name: str) -> str | None:
        value = self._settings.get(name)
        return None if value is None or value == "" else str(value)

    def flag(self, name: str) -> bool | None:
        value = self._settings.get(name)
        if value is None or isinstance(value, bool):
            return value
        match str(value).strip().lower():
            case "true" | "1" | "yes" | "on":
                return True
            case "false" | "0" | "no" | "off":
                return False
            case _:
                raise _wrong(name, value, "true or false")

    def length(self, name: str) -> int | None:
        if str(self._settings.get(name)).strip().lower() in {"auto", "-1"}:
            return -1
        return self.count(name)

    def count(self, name: str) -> int | None:
        return self.whole(name, self._settings.get(name))

    def whole(self, name: str, value: object) -> int | None:
        if value is None or value == "":
            return None
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            raise _wrong(name, value, "a whole number")
        try:
            number = int(str(value).strip().replace("_", ""))
        except ValueError:
            raise _wrong(name, value, "a whole number") from None
        if number < 0:
            raise _wrong(name, value, "a whole number that is not negative")
        return number or None

    def mapping(self, name: str) -> Mapping[str, object]:
        value = self._settings.get(name)
        if isinstance(value, str) and value.strip():
            try:
                value = json.loads(value)
            except ValueError:
                raise _wrong(name, value, "a JSON object") from None
        if value is None or value == "":
            return {}
        if not isinstance(value, Mapping):
            raise _wrong(name, value, "a JSON object")
        return value


def _wrong(name: str, value: object, wanted: str) -> BadInput:
    return BadInput(
        "setting-invalid",
        f"`{name}` should be {wanted}, found `{value}`.",
        hint=f"Set it with `--set {name}=…`, or leave it out for the engine's own default.",
    )


def _speculation(
    reader: _Reader, target: ModelGeometry, drafter: ModelGeometry | None
) -> tuple[str | None, int]:
    config = reader.speculative
    method = config.get("method") or reader.text("spec_method")
    tokens = reader.whole("num_speculative_tokens", config.get("num_speculative_tokens"))
    for name in ("num_speculative_tokens", "draft_tokens"):
        tokens = tokens or reader.count(name)
    if method is not None and str(method).lower() in {"off", "none", ""}:
        return None, 0
    if method is None:
        if drafter is not None:
            method = "dflash" if "dflash" in drafter.architecture.lower() else _DRAFT_MODEL
        elif target.mtp_layers and tokens:
            method = "mtp"
        elif tokens:
            raise BadInput(
                "speculation-unclear",
                f"{tokens} draft tokens are asked for, but nothing says who drafts them.",
                hint="Name a drafter, or set `spec_method` to `mtp` or `ngram`.",
            )
    if method is None:
        return None, 0
    name = str(method).lower()
    # Every family has a name of its own for it (deepseek_mtp, qwen3_next_mtp): one mechanism.
    name = "mtp" if name.endswith("_mtp") else name
    if tokens is None:
        tokens = max(1, sum(layers.count for layers in target.mtp_layers)) if name == "mtp" else 1
        reader.doubts.append(f"The number of draft tokens is not given; {tokens} is taken.")
    return name, tokens


def _context_shards(
    reader: _Reader, target: ModelGeometry, engine: Engine, method: str | None, *, shards: int
) -> int:
    """Return among how many cards a request's tokens are dealt out.

    Source: vLLM 0.26 to 0.32, `config/model.py`, verify_with_parallel_config; `config/parallel.py`;
    SlidingWindowSpec, which takes no part in it before 0.31 and stays whole from there on.
    Raises: BadInput, where the engine refuses.
    """
    number = reader.count("decode_context_parallel_size") or 1
    if number == 1:
        return 1
    kinds = {layers.kind for layers in target.layers}
    heads = max((one.kv_heads or 0 for one in target.layers), default=0)
    is_latent = LayerKind.MLA in kinds
    queries = target.query_heads or 0
    if (reader.count("prefill_context_parallel_size") or 1) > 1:
        reader.doubts.append("Prefill and decode that share contexts at once are not modelled.")
    elif shards % number:
        raise _not_shared(number, f"{shards} cards cannot be dealt out evenly to them")
    elif not is_latent and heads and shards // heads < number:
        raise _not_shared(number, f"{shards} cards and {heads} KV heads leave fewer copies of each")
    elif not is_latent and heads and queries // heads % number:
        raise _not_shared(number, f"{queries // heads} query heads to a KV head do not divide")
    has_windows = bool(kinds & {LayerKind.SLIDING, LayerKind.CHUNKED})
    if has_windows and engine.version < (0, 31):
        raise _not_shared(number, "this engine cannot share the contexts of sliding layers")
    if has_windows or method not in (None, "ngram"):
        reader.doubts.append("Windows and drafts beside shared contexts were not tried.")
    return number


def _not_shared(number: int, why: str) -> BadInput:
    return BadInput(
        "setting-invalid",
        f"`decode_context_parallel_size` {number} is refused by the engine: {why}.",
        hint="Leave it out, or take more cards with `tensor_parallel_size`.",
    )


def _hot_tokens(reader: _Reader) -> int | None:
    """Source: 1Cat-vLLM, `--kernel-config`: `qsa_host_kv`, hot pages of 8,192 tokens by default."""
    config = reader.mapping("kernel_config")
    if config.get("qsa_host_kv") is not True:
        return None
    return reader.whole("qsa_host_kv_hot_tokens", config.get("qsa_host_kv_hot_tokens")) or 8_192


def _draft_modules(target: ModelGeometry, method: str | None, draft_tokens: int) -> int:
    if method != "mtp":
        return 0
    return min(sum(layers.count for layers in target.mtp_layers), draft_tokens)


def _kv_dtype(asked: str | None, target: ModelGeometry) -> str:
    if asked in (None, "auto"):
        return target.kv_cache_dtype or "auto"
    return asked or "auto"


def _drafter_kv_dtype(reader: _Reader, target_dtype: str, engine: Engine) -> str:
    own = reader.speculative.get("kv_cache_dtype")
    if own is not None:
        return str(own)
    # KVarN has no window: HyperQwen's K2 keeps the drafter in its own type.
    if target_dtype.startswith("kvarn") and Rule.KVARN in engine.rules:
        return "auto"
    return target_dtype


def _model_dtype(reader: _Reader, target: ModelGeometry, engine: Engine) -> str:
    asked = reader.text("dtype")
    is_volta = engine.capability is not None and engine.capability < (8, 0)
    preferred = "float16" if is_volta and engine.device is Device.CUDA else "bfloat16"
    if asked not in (None, "auto"):
        return {"half": "float16", "float": "float32"}.get(asked or "", asked or preferred)
    # vLLM halves float32 checkpoints, and cards before Ampere have no bfloat16.
    if target.dtype in (None, "float32") or (target.dtype == "bfloat16" and is_volta):
        return preferred
    return target.dtype or preferred


def _state_dtype(reader: _Reader, target: ModelGeometry, engine: Engine, *, is_hybrid: bool) -> str:
    asked = reader.text("mamba_ssm_cache_dtype")
    name = target.state_dtype or "auto" if asked in (None, "auto") else asked or "auto"
    if engine.device is not Device.CPU or not is_hybrid or name == "float32":
        return name
    return _state_on_processor(reader, name, engine)


def _state_on_processor(reader: _Reader, name: str, engine: Engine) -> str:
    """Return what a state is kept in where the processor's kernels want float32.

    Source: vLLM, `platforms/cpu.py`, check_and_update_config.
    """
    keeps_half = Rule.KEEPS_HALF_STATE in engine.rules
    if keeps_half and name in ("float16", "bfloat16"):
        return name
    if engine.cpu_flags is None:
        reader.doubts.append(
            "The processor's features are not known; they decide whether states take 32 bits."
        )
        return name
    wanted = "avx512_bf16" if keeps_half else "amx_tile"
    return "float32" if wanted in engine.cpu_flags else name


def _mamba_mode(reader: _Reader, target: ModelGeometry, engine: Engine, *, is_caching: bool) -> str:
    """Return how states are kept. Source: vLLM, `models/config.py`, MambaModelConfig."""
    if not is_caching:
        return "none"
    asked = reader.text("mamba_cache_mode") or "none"
    modes = ("none", "align", *(("all",) if Rule.MAMBA_ALL in engine.rules else ()))
    if asked not in modes:
        raise _wrong("mamba_cache_mode", asked, " or ".join(f"`{one}`" for one in modes))
    # Only Mamba 2 layers can keep a state for each block; they are those with whole groups.
    can_all = Rule.MAMBA_ALL in engine.rules and any(
        layers.conv_groups is not None for layers in target.layers
    )
    if asked == "none":
        asked = "all" if can_all and Rule.MAMBA_ALL_DEFAULT in engine.rules else "align"
    if asked == "all" and can_all:
        reader.doubts.append(
            "`mamba_cache_mode=all` rounds its blocks by the kernel's chunk, which is not modelled."
        )
        return "all"
    return "align"


def _in_flight(
    reader: _Reader, engine: Engine, method: str | None, *, budget: int, stages: int
) -> int:
    """Return the most tokens that are scheduled and not settled: a batch for each step on its way.

    Source: vLLM, `config/vllm.py`, max_in_flight_tokens and max_concurrent_batches.
    """
    is_async = reader.flag("async_scheduling")
    if engine.device is Device.CPU:
        is_async = False
    elif is_async is None:
        is_async = method is None or method in _ASYNC_METHODS
        is_async |= method == _DRAFT_MODEL and Rule.DRAFTS_ASYNC in engine.rules
    return budget * (stages + (1 if is_async else 0))


def _budget(reader: _Reader, engine: Engine, cards: int, length: int) -> int:
    """Return the tokens of one step; a prompt that is not cut must fit into one.

    Source: vLLM, `config/scheduler.py`, verify_max_model_len; `engine/arg_utils.py`.
    """
    asked = reader.count("max_num_batched_tokens")
    is_whole = reader.flag("enable_chunked_prefill") is False
    if asked is None:
        least = _default_budget(engine, cards)
        reader.budget = max(least, length) if is_whole else least
        return reader.budget
    if is_whole and asked < length:
        raise _wrong("max_num_batched_tokens", asked, f"at least {length:,}, a whole prompt")
    return asked


def _default_budget(engine: Engine, cards: int) -> int:
    """Source: vLLM, `engine/arg_utils.py`, get_batch_defaults, for an API server."""
    if engine.device is Device.CPU:
        return 2048 * cards
    total = engine.card_bytes or 0
    if total >= 160 * GIB and engine.version >= (0, 32):
        return 16384
    return 8192 if total >= 70 * GIB else 2048
