"""How weights are stored, in people's words, from configs of every sort."""

import pytest

from studio.models.quantisation import label, settings_of, widths

GROUP = {"weights": {"num_bits": 4, "type": "int"}}


@pytest.mark.parametrize(
    ("config", "text"),
    [
        ({}, "BF16"),
        ({"quantization_config": {"quant_method": "awq", "bits": 4}}, "AWQ, 4 bits"),
        ({"quantization_config": {"quant_method": "gptq", "bits": 8}}, "GPTQ, 8 bits"),
        ({"quantization_config": {"quant_method": "fp8"}}, "FP8"),
        ({"quantization_config": {"quant_method": "mxfp4"}}, "MXFP4"),
        ({"quantization_config": {"quant_method": "compressed-tensors",
                                  "config_groups": {"a": GROUP}}}, "compressed-tensors, 4 bits"),
        ({"quantization_config": {"quant_method": "compressed-tensors", "config_groups":
          {"a": {"weights": {"num_bits": 8, "type": "float"}}}}}, "FP8, compressed-tensors"),
        ({"quantization_config": {"quant_method": "compressed-tensors", "config_groups":
          {"a": GROUP, "b": {"weights": {"num_bits": 8}}}}}, "compressed-tensors, 4 and 8 bits"),
        ({"quantization_config": {"quant_method": "compressed-tensors",
                                  "format": "nvfp4-pack-quantized"}}, "NVFP4"),
        ({"quantization": {"quant_algo": "NVFP4"}}, "NVFP4"),
        ({"text_config": {"quantization_config": {"quant_method": "bitsandbytes",
                                                  "load_in_4bit": True}}}, "bitsandbytes, 4 bits"),
    ],
)  # fmt: skip
def test_a_method_is_named_with_its_width(config: dict[str, object], text: str) -> None:
    """As their makers call it."""
    assert label(settings_of(config), {"BF16": 9, "F32": 1}) == text


@pytest.mark.parametrize(
    "settings",
    [
        {"quant_method": 7, "bits": "4", "config_groups": []},
        {"quant_method": None, "bits": True, "config_groups": {"a": 7, "b": {"weights": "x"}}},
        {"quant_method": "x\x1b[2J", "bits": -3},
        {"quant_method": "y" * 10_000, "bits": 10**30},
    ],
)
def test_a_config_of_the_wrong_types_says_nothing_wrong(settings: dict[str, object]) -> None:
    """And nothing that a terminal would act on."""
    text = label(settings, {})

    assert text is not None
    assert text.isprintable()
    assert len(text) < 80
    assert widths(settings) == frozenset()


@pytest.mark.parametrize("value", [None, 7, "x", []])
def test_settings_of_the_wrong_type_are_none(value: object) -> None:
    """A config is a stranger's."""
    assert settings_of({"quantization_config": value, "text_config": value}) == {}
