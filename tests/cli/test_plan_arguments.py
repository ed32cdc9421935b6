"""What `weir plan` and `weir presets make` may be given."""

import pytest

from studio.cli.arguments import parse
from studio.cli.mistakes import UsageError


def test_a_model_on_an_engine_of_ones_own() -> None:
    """The line of the manual."""
    call = parse(
        ["plan", "--model", "x", "--engine", "vllm-0.26.0", "--set", "max-model-len=65536",
         "--drafter", "y", "--rate", "12.5", "--allow-spill", "--json", "--gpus", "1,0"]
    )  # fmt: skip

    assert (call.command, call.model, call.drafter, call.engine) == (
        "plan",
        "x",
        "y",
        "vllm-0.26.0",
    )
    assert call.overrides == {"max_model_len": "65536"}
    assert (call.rate_mb_per_s, call.allow_spill, call.json, call.gpus) == (
        12.5,
        True,
        True,
        (1, 0),
    )


def test_a_preset_may_be_left_out() -> None:
    """Then it is what `weir up` would serve."""
    assert parse(["plan"]).preset is None
    assert parse(["plan", "cpu-demo"]).preset == "cpu-demo"


@pytest.mark.parametrize("rate", ["0", "-1", "fast", "inf", "nan"])
def test_a_speed_is_a_number_above_zero(rate: str) -> None:
    """A download that takes for ever is no forecast."""
    with pytest.raises(UsageError) as caught:
        parse(["plan", "--rate", rate])

    assert "MB/s" in caught.value.sentence


def test_spilling_is_allowed_for_one_start() -> None:
    """`weir up … --allow-spill`; it is not kept."""
    assert parse(["up", "cpu-demo", "--allow-spill"]).allow_spill
    assert not parse(["up", "cpu-demo"]).allow_spill


def test_a_preset_is_made_of_a_folder() -> None:
    """With an id, a runtime and a yes to replacing."""
    call = parse(["presets", "make", "/m", "--id", "mine", "--runtime", "r", "--replace"])

    assert (call.command, call.model, call.other, call.engine, call.replace) == (
        "presets make", "/m", "mine", "r", True,
    )  # fmt: skip


def test_a_folder_is_needed() -> None:
    """There is nothing to make a preset of."""
    with pytest.raises(UsageError):
        parse(["presets", "make"])
