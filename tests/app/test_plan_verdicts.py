"""Verdicts of shipped presets and of model folders against what was measured on such machines."""

import json
import os
import struct
from pathlib import Path

import pytest

from studio.app.plan_refusals import refusal
from studio.cli.plan_text import verdict_sentence
from studio.domain.plans import LedgerPlace, Plan, PlanVerdict
from studio.domain.units import GIB, MIB
from tests.app.test_plans import QWEN, plan

SPILL_MIB = (227, 238)
"""238 to 250 MB: what Windows moved out of a 4090 at a share of 0.93."""


@pytest.mark.parametrize(
    ("preset", "host", "share", "is_clean"),
    [
        ("27b-batch-fp8", "rtx4090-wsl2", 0.90, True),
        ("27b-batch-fp8", "rtx4090-wsl2", 0.91, True),
        ("27b-batch-fp8", "rtx4090-wsl2", 0.92, True),
        ("27b-batch-fp8", "rtx4090-wsl2", 0.93, False),
        ("27b-batch-fp8", "rtx4090-wsl2", 0.95, False),
        ("27b-batch-kvarn", "rtx4090-wsl2", 0.89, True),
        ("27b-batch-kvarn", "rtx4090-wsl2", 0.90, False),
        ("27b-batch-kvarn", "rtx4090-wsl2", 0.93, False),
        ("27b-batch-int4", "rtx4090-wsl2", 0.93, True),
        ("27b-long", "rtx4090-wsl2", 0.93, True),
        ("27b-batch-fp8", "rtx3090-linux", 0.94, True),
        ("27b-batch-fp8", "rtx3090-linux", 0.945, True),
        ("27b-batch-fp8", "rtx3090-linux", 0.95, False),
    ],
)
async def test_a_share_fits_where_it_was_seen_to_run(
    tmp_path: Path, preset: str, host: str, share: float, is_clean: bool
) -> None:
    """What an engine takes beside its share decides: a share that spills must not be called fit."""
    found = await plan(
        tmp_path, preset=preset, host=host, overrides={"gpu_memory_utilization": str(share)}
    )

    assert (found.verdict is PlanVerdict.FITS) is is_clean


async def test_what_is_left_over_is_what_was_left_over(tmp_path: Path) -> None:
    """23 MB at 0.92 and 238 to 250 MB too much at 0.93; 174 and 54 MiB on bare metal."""

    async def left(host: str, share: str) -> float:
        overrides = {"gpu_memory_utilization": share}
        found = await plan(tmp_path, preset="27b-batch-fp8", host=host, overrides=overrides)
        return (found.headroom_bytes or 0) / MIB

    assert await left("rtx4090-wsl2", "0.92") == pytest.approx(22, abs=5)
    assert -SPILL_MIB[1] <= await left("rtx4090-wsl2", "0.93") <= -SPILL_MIB[0] + 5
    assert await left("rtx3090-linux", "0.94") == pytest.approx(174, abs=5)
    assert await left("rtx3090-linux", "0.945") == pytest.approx(54, abs=5)


@pytest.mark.parametrize(
    ("preset", "host", "share", "offered"),
    [
        ("27b-batch-fp8", "rtx4090-wsl2", "0.95", "0.92"),
        ("27b-batch-fp8", "rtx4090-wsl2", "0.97", "0.92"),
        ("27b-batch-fp8", "rtx4090-wsl2", "0.98", "0.92"),
        ("27b-long", "rtx4090-wsl2", "0.97", "0.93"),
        ("27b-batch-fp8", "rtx3090-linux", "0.96", "0.94"),
    ],
)
async def test_the_largest_share_that_fits_is_offered(
    tmp_path: Path, preset: str, host: str, share: str, offered: str
) -> None:
    """At 50 % of the card no pool is left; a person is offered what runs."""
    found = await plan(
        tmp_path, preset=preset, host=host, overrides={"gpu_memory_utilization": share}
    )

    assert found.verdict is PlanVerdict.FITS_IF
    assert [(one.knob, one.value) for one in found.reductions] == [
        ("gpu_memory_utilization", offered)
    ]


@pytest.fixture
def shape(tmp_path: Path) -> Path:
    """Return a folder with the 27B's config and no weights."""
    folder = tmp_path / "Modell ohne Gewichte"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(QWEN), encoding="utf-8")
    return folder


def with_weights(folder: Path) -> Path:
    """Give a folder 14 GiB of weights: a header, and a file that is as long but takes no disk."""
    size = 14 * GIB
    tensors = {
        "model.layers.0.weight": {
            "dtype": "BF16",
            "shape": [size // 2],
            "data_offsets": [0, size],
        }
    }
    header = json.dumps(tensors).encode()
    path = folder / "model.safetensors"
    path.write_bytes(struct.pack("<Q", len(header)) + header)
    os.truncate(path, 8 + len(header) + size)
    return folder


@pytest.mark.parametrize("engine", ["vllm-0.26.0", "vllm-0.29.0", "vllm-0.32.0"])
@pytest.mark.parametrize("context", [None, "131072"])
async def test_a_context_that_is_offered_starts(
    tmp_path: Path, shape: Path, engine: str, context: str | None
) -> None:
    """The engine's rule: blocks for one request, and from 0.29 on the null block beside them."""
    folder = with_weights(shape)
    overrides = {} if context is None else {"max_model_len": context}
    asked = await plan(
        tmp_path, model=str(folder), engine=engine, overrides=overrides, host="rtx3090-linux"
    )
    assert asked.verdict is PlanVerdict.FITS_IF
    taken = {one.knob: one.value for one in asked.reductions}
    assert "max_model_len" in taken

    found = await plan(
        tmp_path,
        model=str(folder),
        engine=engine,
        overrides={**overrides, **taken},
        host="rtx3090-linux",
    )

    assert found.verdict is PlanVerdict.FITS
    reserved = 0 if engine == "vllm-0.26.0" else 1
    assert (found.blocks or 0) - reserved >= (found.blocks_per_request or 0) > 0
    assert (found.resident_requests or 0) >= 1


async def test_weights_that_are_not_here_leave_the_verdict_open(
    tmp_path: Path, shape: Path
) -> None:
    """Pinned bytes make the pool exact; whether it goes onto the card is not known."""
    overrides = {"kv_cache_memory_bytes": "4GiB", "max_model_len": "32768"}
    found = await plan(
        tmp_path,
        model=str(shape),
        engine="vllm-0.32.0",
        overrides=overrides,
        host="rtx3090-linux",
    )

    assert found.verdict is PlanVerdict.UNKNOWN
    assert found.pool_tokens_error == 0
    assert found.headroom_bytes is None
    assert "The size of the weights is not known." in found.reasons


async def test_experts_that_leave_the_cards_are_counted_in_memory(tmp_path: Path) -> None:
    """Half of each card holds a third of the experts: the machine has to have room for the rest."""

    async def in_memory(overrides: dict[str, str]) -> tuple[Plan, int]:
        found = await plan(
            tmp_path, preset="v100-v41-16k", host="v100-32x4-linux", overrides=overrides
        )
        items = [item for item in found.ledger if item.place is LedgerPlace.MEMORY]
        return found, sum(item.bytes or 0 for item in items)

    stock, tested = await in_memory({})
    half, more = await in_memory({"gpu_memory_utilization": "0.5"})

    assert stock.verdict is PlanVerdict.FITS
    assert tested == 62_000_000_000
    away = [item.bytes for item in half.ledger if item.name == "experts"][-1]
    assert 102 * GIB < (away or 0) < more
    assert half.verdict is PlanVerdict.DOES_NOT_FIT
    assert "of memory" in half.reasons[0]


async def test_blocks_requests_and_tokens_are_of_one_pool(tmp_path: Path) -> None:
    """Blocks on the cards for 24 requests, history for 8 seats: the smaller counts, with reason."""
    found = await plan(tmp_path, preset="v100-flash-next", host="v100-32x4-linux")

    assert found.seats is not None
    each = found.blocks_per_request or 0
    assert found.blocks == found.seats * each
    assert found.resident_requests == found.seats
    assert found.pool_tokens == found.seats * (found.max_model_len or 0)
    assert any("one for each seat" in one for one in found.assumptions)


async def test_a_guess_has_no_error_bar(tmp_path: Path) -> None:
    """Every layer of an unknown type is guessed: "give or take 1 token" would be a lie."""
    folder = tmp_path / "fremd"
    folder.mkdir()
    config = {
        "model_type": "nobody_knows",
        "architectures": ["NobodyKnowsForCausalLM"],
        "num_hidden_layers": 8,
        "num_attention_heads": 8,
        "num_key_value_heads": 2,
        "hidden_size": 1024,
        "max_position_embeddings": 8192,
    }
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    overrides = {"kv_cache_memory_bytes": "1GiB"}
    found = await plan(
        tmp_path,
        model=str(folder),
        engine="vllm-0.32.0",
        overrides=overrides,
        host="rtx3090-linux",
    )

    assert found.pool_tokens
    assert found.pool_tokens_error is None
    assert "not known how far off" in verdict_sentence(found)


async def test_cards_that_are_not_there_have_no_ledger(tmp_path: Path) -> None:
    """A preset for four V100 on a 3090: there is no card whose size could be unknown."""
    found = await plan(tmp_path, preset="v100-27b", host="rtx3090-linux")

    assert found.verdict is PlanVerdict.DOES_NOT_FIT
    assert [item for item in found.ledger if item.place is LedgerPlace.CARD] == []
    assert len(found.reasons) == 1
    assert "none is here" in found.reasons[0]


@pytest.mark.parametrize(
    ("pinned", "starts"),
    [("6GiB", True), ("9GiB", False)],
)
async def test_an_allowed_spill_is_said_and_ends_at_the_whole_card(
    tmp_path: Path, pinned: str, *, starts: bool
) -> None:
    """`--allow-spill` makes slow what crosses the line; it makes no card larger."""
    asked = {
        "preset": "27b-dflash2",
        "host": "rtx4090-wsl2",
        "overrides": {"kv_cache_memory_bytes": pinned},
    }
    refused = await plan(tmp_path, **asked)
    assert refused.verdict is not PlanVerdict.FITS
    assert not refused.spills

    found = await plan(tmp_path, **asked, allow_spill=True)

    if starts:
        assert found.verdict is PlanVerdict.FITS
        assert found.spills
        assert "spill into the machine's memory" in verdict_sentence(found)
    else:
        assert found.verdict is not PlanVerdict.FITS
        assert "in all" in found.reasons[0]
        assert refusal(found).code == "plan-does-not-fit"
        assert "--allow-spill" not in (refusal(found).hint or "")
