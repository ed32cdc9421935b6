"""Random models, this planner and the installed engine's own code: they must never differ."""

import json
import os
import random
import subprocess
from pathlib import Path
from typing import Any

import pytest

from studio.domain.errors import BadInput
from studio.domain.geometry import LayerKind, LayerSet, ModelGeometry
from studio.planner.blocks import layout
from studio.planner.demand import demand
from studio.planner.engine import engine
from studio.planner.pool import Pool, pool
from tests.conftest import Serving
from tests.planner.model_samples import shape

CASES = 300
LIMIT_S = 300.0
JUDGE = engine("vllm-0.32.0")
Drawn = tuple[ModelGeometry, ModelGeometry | None, dict[str, object], int]


def model_of(dice: random.Random) -> tuple[ModelGeometry, ModelGeometry | None]:
    """Return a random model, with a drafter for some."""
    heads, size = dice.choice((1, 2, 4, 8)), dice.choice((64, 128, 256))
    count, window = dice.choice((2, 6, 7, 12, 16, 24)), dice.choice((128, 1_024, 4_096))
    whole = LayerSet(kind=LayerKind.FULL, count=count, kv_heads=heads, head_size=size)
    other = LayerSet(kind=LayerKind.FULL, count=2, kv_heads=dice.choice((1, 8)), head_size=256)
    sliding = LayerSet(
        kind=LayerKind.SLIDING,
        count=dice.choice((1, count, 2 * count, 5 * count)),
        kv_heads=heads,
        head_size=dice.choice((size, 128)),
        window=window,
    )
    state = LayerSet(
        kind=LayerKind.LINEAR,
        count=3 * count,
        conv_kernel=4,
        conv_channels=dice.choice((2_048, 8_192)),
        state_heads=dice.choice((16, 48)),
        state_head_size=128,
        state_width=128,
    )
    latent = LayerSet(kind=LayerKind.MLA, count=count, kv_heads=1, latent_size=576)
    chunked = LayerSet(
        kind=LayerKind.CHUNKED, count=3 * count, kv_heads=heads, head_size=size, window=8_192
    )
    return dice.choice(
        (
            (shape(whole), None),
            (shape(whole, other), None),
            (shape(sliding, whole), None),
            (shape(sliding, other), None),
            (shape(whole, state, mtp=(whole,)), None),
            (shape(whole, state), shape(sliding)),
            (shape(latent), None),
            (shape(latent), shape(sliding)),
            (shape(chunked, whole), None),
        )
    )


def spread(dice: random.Random, only: LayerSet) -> dict[str, object]:
    """Return how a model of one kind of layers is spread over cards."""
    heads = only.kv_heads or 1
    return dice.choice(
        (
            {},
            {"pipeline_parallel_size": dice.choice((2, 3, 4)) if only.count > 4 else 2},
            {"tensor_parallel_size": dice.choice((heads, 2 * heads))},
            {"tensor_parallel_size": 2 * heads, "decode_context_parallel_size": 2},
            {"tensor_parallel_size": 4 * heads, "decode_context_parallel_size": 4},
        )
    )


def drawn(dice: random.Random) -> Drawn:
    """Return a model, its settings and bytes."""
    target, drafter = model_of(dice)
    settings: dict[str, object] = {
        "max_model_len": dice.choice((1_024, 32_768, dice.randrange(1_000, 200_000))),
        "max_num_batched_tokens": dice.choice((2_048, 8_192)),
        "kv_cache_dtype": dice.choice(("auto", "auto", "fp8")),
        "enable_prefix_caching": dice.random() < 0.5,
        "block_size": dice.choice((None, None, 32, 64)),
    }
    if drafter is not None:
        settings |= {"spec_method": "eagle", "draft_tokens": dice.choice((1, 3, 7))}
    elif target.mtp_layers:
        settings |= {"spec_method": "mtp", "draft_tokens": 1}
    elif len(target.layers) == 1:
        settings |= spread(dice, target.layers[0])
    return target, drafter, settings, dice.randrange(1 << 27, 1 << 34)


def case_of(one: Drawn) -> dict[str, Any]:
    """Return what the judge is asked."""
    target, drafter, settings, kv_bytes = one
    wanted = demand(target, drafter, settings, JUDGE)
    plan = layout(target, drafter, wanted, JUDGE)
    return {
        "max_model_len": wanted.max_model_len,
        "kv_bytes": kv_bytes,
        "in_flight": wanted.in_flight_tokens,
        "mamba_mode": wanted.mamba_mode,
        "draft_tokens": wanted.draft_tokens,
        "shards": wanted.shards,
        "context_shards": wanted.context_shards,
        "stages": wanted.stages,
        "block_size": plan.block_size,
        "caches": [
            [
                str(cache.kind),
                cache.layers,
                cache.block_size,
                cache.token_bytes,
                cache.state_bytes,
                cache.states,
                cache.window,
                cache.padded_bytes,
                list(cache.shape),
            ]
            for cache in plan.caches
        ],
    }


def planned(one: Drawn) -> Pool | None:
    """Return our pool; None where the engine cannot make one."""
    target, drafter, settings, kv_bytes = one
    try:
        return pool(target, drafter, settings, JUDGE, kv_bytes)
    except BadInput:
        return None


def compare(serving: Serving, folder: Path, seed: int) -> None:
    """Lay random models out by both, and hold the answers against each other."""
    name, identity = str(serving.result["runtime"]), str(serving.result["runtime_id"])
    runtime = serving.weir.paths.runtimes / name / identity[:12]
    python = runtime / "python" / "bin" / "python3"
    dice = random.Random(seed)
    cases = [drawn(dice) for _ in range(CASES)]
    asked, answered = folder / "cases.json", folder / "outcomes.json"
    asked.write_text(json.dumps([case_of(one) for one in cases]), encoding="utf-8")

    subprocess.run(
        [str(python), str(Path(__file__).with_name("judge.py")), str(asked), str(answered)],
        check=True,
        timeout=LIMIT_S,
        env={**os.environ, "VLLM_LOGGING_LEVEL": "ERROR", "VLLM_CACHE_ROOT": str(folder)},
    )

    outcomes = json.loads(answered.read_text(encoding="utf-8"))
    for number, (one, outcome) in enumerate(zip(cases, outcomes, strict=True)):
        found = planned(one)
        about = f"seed {seed}, case {number}: {one}"
        if "error" in outcome or found is None:
            assert found is None, about
            assert "error" in outcome, about
        elif outcome["refused"]:
            assert found.refusal is not None, about
            assert min(found.longest_context, found.max_model_len) == outcome["longest"], about
        else:
            assert (found.blocks, found.tokens) == (outcome["blocks"], outcome["tokens"]), about


@pytest.mark.real
def test_the_installed_engine_lays_random_models_out_alike(
    serving: Serving, tmp_path: Path
) -> None:
    """The same models for everybody; the first seed found a length that only one stage held."""
    compare(serving, tmp_path, 2_897_029_625)


@pytest.mark.real
@pytest.mark.soak
@pytest.mark.parametrize("_round", range(20))
def test_the_installed_engine_lays_other_models_out_alike_every_day(
    serving: Serving, tmp_path: Path, _round: int
) -> None:
    """Other models than yesterday's; the seed is in the failure."""
    compare(serving, tmp_path, random.SystemRandom().randrange(1 << 32))
