"""A model folder made into a preset boots on the real engine, with the pool that was planned."""

import pytest

from tests.conftest import Serving

pytestmark = pytest.mark.real

BOOT_LIMIT_S = 300.0


def test_the_engine_prints_exactly_the_pool_that_was_planned(serving: Serving) -> None:
    """The whole point of the planner, on a model that no preset of ours knows."""
    weir = serving.weir
    folder = weir.paths.models / "smollm2-135m-instruct-f32"

    made = weir.json("presets", "make", str(folder), "--id", "mine", "--replace")
    try:
        booted = weir.json("switch", "mine", limit_s=BOOT_LIMIT_S)
        again = weir.json("plan", "mine")
    finally:
        weir.json("switch", "cpu-demo", limit_s=BOOT_LIMIT_S)

    assert made["plan"]["pool_tokens_error"] == 0
    assert booted["pool_tokens"] == made["plan"]["pool_tokens"]
    assert again["boot_source"] == "seen on this machine"
