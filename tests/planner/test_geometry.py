"""A model's geometry from its `config.json`."""

import pytest

from studio.domain.errors import BadInput
from studio.domain.geometry import LayerKind, LayerSet
from studio.planner.geometry import geometry
from tests.planner.model_samples import config, model, shipped

PLAIN = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "num_hidden_layers": 4,
    "num_attention_heads": 8,
    "num_key_value_heads": 2,
    "hidden_size": 512,
}


def test_the_27b_is_what_ships_with_its_presets() -> None:
    """Before the download a preset's data are planned with, afterwards the file: no difference."""
    found, known = model("q35"), shipped("qwen3.8-27b-w4a16")

    assert set(map(repr, found.layers)) == set(map(repr, known.layers))
    assert found.mtp_layers == known.mtp_layers
    assert found.context_tokens == known.context_tokens


def test_the_drafter_is_what_ships_with_its_presets() -> None:
    """Five layers with a window of 2,048."""
    assert model("dflash2").layers == shipped("qwen3.8-27b-dflash2-w4a16").layers


def test_a_vision_model_is_its_language_model() -> None:
    """Everything is nested, and the outer object says the type of the numbers."""
    text = {**config("q35"), "model_type": "qwen3_5_text"}
    del text["torch_dtype"]
    nested = {
        "architectures": ["Qwen3_5ForConditionalGeneration"],
        "model_type": "qwen3_5",
        "torch_dtype": "bfloat16",
        "vision_config": {"num_hidden_layers": 27, "hidden_size": 1_152, "num_heads": 16},
        "text_config": {**text, "mamba_ssm_dtype": "float32"},
    }

    found = geometry(nested)

    assert found.architecture == "Qwen3_5ForConditionalGeneration"
    assert found.layers == model("q35").layers
    assert found.dtype == "bfloat16"
    assert found.state_dtype == "float32"


def test_what_a_nested_file_leaves_out_is_what_its_class_fills_in() -> None:
    """Gemma 3's published files say neither heads nor head size."""
    found = geometry(
        {
            "architectures": ["Gemma3ForConditionalGeneration"],
            "model_type": "gemma3",
            "torch_dtype": "bfloat16",
            "text_config": {
                "model_type": "gemma3_text",
                "hidden_size": 2_560,
                "num_hidden_layers": 34,
                "sliding_window": 1_024,
                "rope_scaling": {"factor": 8.0, "rope_type": "linear"},
            },
            "vision_config": {"num_hidden_layers": 27},
        }
    )

    assert {(layers.kind, layers.count, layers.window) for layers in found.layers} == {
        (LayerKind.SLIDING, 29, 1_024),
        (LayerKind.FULL, 5, None),
    }
    assert {(layers.kv_heads, layers.head_size) for layers in found.layers} == {(4, 256)}
    assert found.context_tokens == 131_072


@pytest.mark.parametrize(("window", "kind"), [(None, "full"), (4_096, "sliding")])
def test_a_window_that_is_null_is_none_and_one_that_is_missing_is_the_class_s(
    window: int | None, kind: str
) -> None:
    """Mistral's later files say null."""
    stated = {**PLAIN, "model_type": "mistral"}

    assert str(geometry({**stated, "sliding_window": window}).layers[0].kind) == kind
    assert str(geometry(stated).layers[0].kind) == "sliding"


def test_an_unknown_type_is_read_by_common_names_and_says_so() -> None:
    """Next month's model has a plan, with its doubt."""
    found = geometry({**PLAIN, "model_type": "llama9", "architectures": ["Llama9ForCausalLM"]})

    assert found.layers == (LayerSet(kind=LayerKind.FULL, count=4, kv_heads=2, head_size=64),)
    assert any("llama9" in note for note in found.assumptions)
    assert geometry(PLAIN).assumptions == ()


@pytest.mark.parametrize(
    ("values", "tokens"),
    [
        ({"max_position_embeddings": 8_192}, 8_192),
        ({"n_positions": 2_048}, 2_048),
        ({}, 2_048),
        (
            {
                "max_position_embeddings": 8_192,
                "rope_scaling": {"rope_type": "linear", "factor": 4.0},
            },
            32_768,
        ),
        (
            {"max_position_embeddings": 8_192, "rope_scaling": {"type": "yarn", "factor": 4.0}},
            8_192,
        ),
        (
            {
                "max_position_embeddings": 131_072,
                "rope_scaling": {"rope_type": "llama3", "factor": 8.0},
            },
            131_072,
        ),
    ],
)
def test_the_longest_context_is_the_engines_reading(
    values: dict[str, object], tokens: int | None
) -> None:
    """Some scalings are in the figure already, some are not."""
    assert geometry({**PLAIN, **values}).context_tokens == tokens


@pytest.mark.parametrize(
    ("values", "count"),
    [({}, 0), ({"num_nextn_predict_layers": 3}, 3), ({"num_nextn_predict_layers": 0}, 0)],
)
def test_a_draft_module_is_attention_like_the_models_own(
    values: dict[str, object], count: int
) -> None:
    """Its layers only have a cache when it drafts."""
    found = geometry({**PLAIN, "model_type": "glm4_moe", **values})

    assert sum(layers.count for layers in found.mtp_layers) == count


@pytest.mark.parametrize(
    ("quantisation", "expected"),
    [
        ({"quant_method": "modelopt", "quantization": {"kv_cache_quant_algo": "FP8"}}, "fp8"),
        (
            {
                "quant_method": "modelopt_fp4",
                "kv_cache_scheme": {"type": "float", "num_bits": 8, "dynamic": False},
            },
            "fp8",
        ),
        ({"quant_method": "compressed-tensors", "kv_cache_scheme": {"num_bits": 8}}, None),
        ({"quant_method": "modelopt"}, None),
    ],
)
def test_a_checkpoint_may_bring_its_cache_type(
    quantisation: dict[str, object], expected: str | None
) -> None:
    """`auto` is not always the model's own type, and the engine only asks ModelOpt's files."""
    assert geometry({**PLAIN, "quantization_config": quantisation}).kv_cache_dtype == expected


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ({}, "config-without-layers"),
        ({"model_type": "bert"}, "config-without-layers"),
        ({"num_hidden_layers": 0}, "config-without-layers"),
        ({"num_hidden_layers": 4}, "config-incomplete"),
        ({**PLAIN, "num_hidden_layers": "four"}, "config-invalid"),
        ({**PLAIN, "num_attention_heads": -8}, "config-invalid"),
        ({**PLAIN, "num_hidden_layers": True}, "config-invalid"),
    ],
)
def test_a_file_that_says_too_little_is_refused(values: dict[str, object], code: str) -> None:
    """Better than a plan for a model that is not there."""
    with pytest.raises(BadInput) as refused:
        geometry(values)

    assert refused.value.code == code
    assert refused.value.hint


@pytest.mark.parametrize(
    ("values", "longest", "default"),
    [
        ({"max_position_embeddings": 4_096}, 4_096, None),
        ({"max_position_embeddings": 8_192, "model_max_length": 131_072}, 131_072, None),
        (
            {
                "max_position_embeddings": 131_072,
                "original_max_position_embeddings": 4_096,
                "rope_scaling": {"type": "longrope"},
            },
            131_072,
            4_096,
        ),
    ],
)
def test_what_may_be_asked_for_and_what_is_taken_unasked_may_differ(
    values: dict[str, object], longest: int, default: int | None
) -> None:
    """Phi-3 and Command R: planning with another one is off by a factor of 16 or more."""
    found = geometry({**PLAIN, **values})

    assert (found.context_tokens, found.default_context_tokens) == (longest, default)
