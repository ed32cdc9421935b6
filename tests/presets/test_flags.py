"""Settings as the engine reads them."""

import pytest

from studio.domain.rules import Value
from studio.presets import flags


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("max_model_len", 2048, ["--max-model-len", "2048"]),
        ("enforce_eager", True, ["--enforce-eager"]),
        ("enforce_eager", False, ["--no-enforce-eager"]),
        ("gpu_memory_utilization", 0.93, ["--gpu-memory-utilization", "0.93"]),
    ],
)
def test_a_setting_is_spelled_as_vllm_spells_it(name: str, value: Value, words: list[str]) -> None:
    """The name is vLLM's argument with underscores."""
    assert flags.flag(name, value) == words


def test_json_is_short_and_keeps_its_order() -> None:
    """Two boots of the same preset must have the same command."""
    words = flags.json_flag("speculative_config", {"method": "mtp", "num_speculative_tokens": 4})

    assert words == ["--speculative-config", '{"method":"mtp","num_speculative_tokens":4}']


def test_a_switch_in_a_variable_is_1_or_0() -> None:
    """The series reads nothing but `1` as true."""
    assert [flags.text(value) for value in (True, False, 7, "int8")] == ["1", "0", "7", "int8"]
