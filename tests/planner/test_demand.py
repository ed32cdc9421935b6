"""Arguments and their defaults, as the engine fills them in."""

import msgspec
import pytest

from studio.domain.errors import BadInput
from studio.domain.geometry import LayerKind, LayerSet, ModelGeometry
from studio.planner.demand import Demand, demand
from studio.planner.engine import Engine, engine
from tests.planner.model_samples import ATTENTION, DELTA_NET, WINDOWED, shape

HYBRID = shape(ATTENTION, DELTA_NET, mtp=(ATTENTION,))
NEW, OLD = engine("vllm-0.32.0"), engine("vllm-0.26.0")


def asked(
    settings: dict[str, object],
    target: ModelGeometry = HYBRID,
    by: Engine = NEW,
    drafter: ModelGeometry | None = None,
) -> Demand:
    """Return what `settings` ask of the pool."""
    return demand(target, drafter, settings, by)


def test_nothing_given_is_the_engines_own_defaults() -> None:
    """An empty command line still has a pool."""
    found = asked({})

    assert found.max_model_len == 262_144
    assert found.kv_cache_dtype == "auto"
    assert (found.shards, found.stages, found.draft_tokens) == (1, 1, 0)
    assert found.is_hybrid_manager


@pytest.mark.parametrize(
    ("by", "settings", "expected"),
    [
        (NEW, {}, "align"),
        (OLD, {}, "none"),
        (OLD, {"enable_prefix_caching": True}, "align"),
        (NEW, {"enable_prefix_caching": False}, "none"),
        (NEW, {"enable_prefix_caching": "false", "mamba_cache_mode": "align"}, "none"),
    ],
)
def test_states_are_cached_where_prefixes_are(
    by: Engine, settings: dict[str, object], expected: str
) -> None:
    """From 0.28 hybrid models cache prefixes unless told not to, which takes a state a request."""
    assert asked(settings, by=by).mamba_mode == expected


@pytest.mark.parametrize(
    ("settings", "steps"),
    [
        ({}, 2),
        ({"async_scheduling": False}, 1),
        ({"spec_method": "ngram", "draft_tokens": 4}, 1),
        ({"spec_method": "mtp", "draft_tokens": 4}, 2),
        ({"spec_method": "ngram", "draft_tokens": 4, "async_scheduling": True}, 2),
        ({"pipeline_parallel_size": 2}, 3),
    ],
)
def test_windows_keep_room_for_every_step_on_its_way(
    settings: dict[str, object], steps: int
) -> None:
    """Asynchronous scheduling has two batches in flight; n-gram speculation switches it off."""
    found = asked({"max_num_batched_tokens": 1_000, **settings})

    assert found.in_flight_tokens == steps * 1_000


def test_the_processor_never_schedules_ahead() -> None:
    """Its batch budget grows with the workers instead."""
    found = asked({"tensor_parallel_size": 2}, by=engine("cpu-vllm-0.32.0", cpu_flags=()))

    assert found.in_flight_tokens == 4_096


@pytest.mark.parametrize(
    ("card", "version", "budget"),
    [(24, "0.32.0", 2_048), (80, "0.32.0", 8_192), (180, "0.32.0", 16_384), (180, "0.26.0", 8_192)],
)
def test_large_cards_get_larger_batches_by_default(card: int, version: str, budget: int) -> None:
    """The default budget decides what windows hold, so it is said."""
    by = engine(f"vllm-{version}", card_bytes=card << 30)

    found = asked({"async_scheduling": False}, target=shape(ATTENTION, WINDOWED), by=by)

    assert found.in_flight_tokens == budget
    assert any(f"{budget:,}" in note for note in found.assumptions)


def test_a_budget_that_nothing_depends_on_is_not_mentioned() -> None:
    """An assumption that changes no figure is noise."""
    assert asked({}).assumptions == ()


@pytest.mark.parametrize(
    ("settings", "method", "tokens"),
    [
        ({"draft_tokens": 3}, "mtp", 3),
        ({"num_speculative_tokens": 3, "spec_method": "qwen3_next_mtp"}, "mtp", 3),
        ({"speculative_config": '{"method": "ngram", "num_speculative_tokens": 5}'}, "ngram", 5),
        ({"speculative_config": {"method": "eagle3", "num_speculative_tokens": 2}}, "eagle3", 2),
        ({"spec_method": "off", "draft_tokens": 7}, None, 0),
        ({}, None, 0),
    ],
)
def test_speculation_is_read_from_every_spelling(
    settings: dict[str, object], method: str | None, tokens: int
) -> None:
    """vLLM's JSON, a preset's knobs, and a model's built-in draft module."""
    found = asked(settings)

    assert (found.spec_method, found.draft_tokens) == (method, tokens)


def test_a_drafter_says_how_it_drafts() -> None:
    """A folder with DFlash in its architecture needs no method."""
    dflash = ModelGeometry(architecture="DFlash2DraftModel", layers=(WINDOWED,))

    assert asked({"draft_tokens": 7}, drafter=dflash).spec_method == "dflash"
    assert asked({"draft_tokens": 7}, drafter=shape(WINDOWED)).spec_method == "draft_model"


def test_drafts_by_nobody_are_refused() -> None:
    """The engine would refuse them as well, a minute later."""
    with pytest.raises(BadInput) as refused:
        asked({"draft_tokens": 7}, target=shape(ATTENTION))

    assert refused.value.code == "speculation-unclear"


def test_a_drafter_keeps_its_own_cache_type_beside_kvarn_only() -> None:
    """KVarN has no window; every other type is shared unless the drafter is given its own."""
    patched = engine("cu13-hyperqwen-0.31.0")

    def drafts(dtype: str, **more: object) -> str:
        return asked({"kv_cache_dtype": dtype, **more}, by=patched).drafter_kv_dtype

    assert drafts("kvarn_k4v2_g128") == "auto"
    assert drafts("int8_per_token_head") == "int8_per_token_head"
    config = {"method": "dflash", "num_speculative_tokens": 7, "kv_cache_dtype": "auto"}
    assert drafts("fp8_e4m3", speculative_config=config) == "auto"


@pytest.mark.parametrize(
    ("stated", "dtype", "by", "expected"),
    [
        ("bfloat16", None, NEW, "bfloat16"),
        ("float32", None, NEW, "bfloat16"),
        ("float16", "auto", NEW, "float16"),
        ("bfloat16", "half", NEW, "float16"),
        ("bfloat16", None, engine("sm70-1cat-1.5.2"), "float16"),
    ],
)
def test_the_models_numbers_are_those_that_the_card_can_do(
    stated: str, dtype: str | None, by: Engine, expected: str
) -> None:
    """float32 is halved, and Volta has no bfloat16."""
    target = ModelGeometry(architecture="x", layers=(ATTENTION,), dtype=stated)

    assert asked({"dtype": dtype}, target=target, by=by).model_dtype == expected


@pytest.mark.parametrize(
    ("name", "flags", "asked_for", "expected"),
    [
        ("cpu-vllm-0.32.0", ("avx512_bf16",), "auto", "float32"),
        ("cpu-vllm-0.32.0", ("avx512_bf16",), "float16", "float16"),
        ("cpu-vllm-0.32.0", ("amx_tile",), "auto", "auto"),
        ("cpu-vllm-0.26.0", ("amx_tile",), "float16", "float32"),
        ("cpu-vllm-0.26.0", (), "auto", "auto"),
    ],
)
def test_the_processors_features_decide_what_states_are_kept_in(
    name: str, flags: tuple[str, ...], asked_for: str, expected: str
) -> None:
    """The same arguments give another pool on another processor."""
    by = engine(name, cpu_flags=flags)

    assert asked({"mamba_ssm_cache_dtype": asked_for}, by=by).state_dtype == expected


def test_a_processor_that_is_not_known_is_a_doubt() -> None:
    """A figure that depends on it is not exact."""
    assert asked({}, by=engine("cpu-vllm-0.32.0")).doubts != ()
    assert asked({}, by=engine("cpu-vllm-0.32.0", cpu_flags=())).doubts == ()


def test_a_checkpoint_says_what_auto_means() -> None:
    """ModelOpt checkpoints bring the type of their KV cache."""
    target = ModelGeometry(architecture="x", layers=(ATTENTION,), kv_cache_dtype="fp8")

    assert asked({}, target=target).kv_cache_dtype == "fp8"
    assert asked({"kv_cache_dtype": "bfloat16"}, target=target).kv_cache_dtype == "bfloat16"


@pytest.mark.parametrize(
    "settings",
    [
        {"max_model_len": "long"},
        {"block_size": 16.5},
        {"tensor_parallel_size": -2},
        {"max_num_batched_tokens": True},
        {"enable_prefix_caching": "perhaps"},
        {"speculative_config": "{"},
        {"speculative_config": 7},
    ],
)
def test_a_value_of_the_wrong_kind_is_named(settings: dict[str, object]) -> None:
    """The sentence says which argument, what was found and what is wanted."""
    with pytest.raises(BadInput) as refused:
        asked(settings)

    assert refused.value.code == "setting-invalid"
    assert next(iter(settings)) in refused.value.message


def test_mamba_all_is_a_doubt_where_it_exists() -> None:
    """It rounds by a chunk that is not modelled; from 0.32 it is gone."""
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
    )
    settings: dict[str, object] = {"enable_prefix_caching": True, "mamba_cache_mode": "all"}

    old = asked(settings, target=shape(ATTENTION, mamba), by=engine("vllm-0.30.0"))
    with pytest.raises(BadInput) as caught:
        asked(settings, target=shape(ATTENTION, mamba), by=NEW)

    assert old.mamba_mode == "all"
    assert "`none` or `align`" in caught.value.message
    assert old.doubts != ()


@pytest.mark.parametrize(
    "settings",
    [
        {"kv_cache_dtype_skip_layers": "0,1"},
        {"disable_sliding_window": True},
    ],
)
def test_what_is_not_modelled_is_a_doubt(settings: dict[str, object]) -> None:
    """A figure next to such an argument is a forecast, and says why."""
    (doubt,) = asked(settings).doubts

    assert next(iter(settings)) in doubt


MLA_LAYERS = LayerSet(kind=LayerKind.MLA, count=61, kv_heads=1, latent_size=576)


@pytest.mark.parametrize(
    ("settings", "layers", "reason"),
    [
        (
            {"tensor_parallel_size": 8},
            msgspec.structs.replace(ATTENTION, kv_heads=8),
            "fewer copies",
        ),
        ({"tensor_parallel_size": 3}, MLA_LAYERS, "evenly"),
        ({"tensor_parallel_size": 8}, msgspec.structs.replace(WINDOWED, kv_heads=4), "sliding"),
    ],
)
def test_contexts_that_cannot_be_shared_are_refused(
    settings: dict[str, object], layers: LayerSet, reason: str
) -> None:
    """The engine refuses them too, and says less."""
    with pytest.raises(BadInput) as caught:
        asked({**settings, "decode_context_parallel_size": 2}, target=shape(layers), by=OLD)

    assert reason in caught.value.message


def test_arguments_that_change_nothing_are_no_doubt() -> None:
    """A preset may spell a default out."""
    assert asked({"decode_context_parallel_size": 1, "disable_sliding_window": False}).doubts == ()


def test_prompts_that_are_not_cut_fit_into_one_step() -> None:
    """Windows keep room for a step, so that its size counts."""
    whole: dict[str, object] = {"enable_chunked_prefill": False, "max_model_len": 32_768}

    assert asked(whole).budget_tokens == 32_768
    assert asked({**whole, "enable_chunked_prefill": True}).budget_tokens == 2_048
    with pytest.raises(BadInput) as caught:
        asked({**whole, "max_num_batched_tokens": 4_096})
    assert "at least 32,768" in caught.value.message
