"""Verdicts of shipped presets and of model folders against what was measured on such machines."""

import json
import os
import struct
from pathlib import Path

import pytest

from studio.app.plan_refusals import refusal
from studio.cli.plan_text import plan_text, verdict_sentence
from studio.domain.plans import LedgerPlace, Plan, PlanVerdict
from studio.domain.units import GIB, MIB
from studio.host import hosts
from tests.app.test_plans import QWEN, plan, planner

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


async def test_a_context_within_the_error_bar_is_not_called_fit(tmp_path: Path) -> None:
    """0.98 resident requests are no request: the engine's rule refuses what the forecast says."""
    asked = await plan(
        tmp_path, preset="27b-mtp", host="rtx3090-linux", overrides={"max_model_len": "90000"}
    )

    assert (asked.resident_requests or 1) < 1
    assert asked.verdict is PlanVerdict.FITS_IF
    assert asked.may_start
    assert "224 blocks" in asked.reasons[0]
    assert asked.reasons[0] not in asked.warnings
    assert verdict_sentence(asked).startswith("`27b-mtp` may not start")
    taken = {one.knob: one.value for one in asked.reductions}
    assert [one.is_enough for one in asked.reductions] == [True]
    found = await plan(tmp_path, preset="27b-mtp", host="rtx3090-linux", overrides=taken)
    assert (found.verdict, found.may_start) == (PlanVerdict.FITS, False)
    assert (found.resident_requests or 0) >= 1


@pytest.mark.parametrize("context", range(86_000, 96_000, 500))
async def test_what_fits_holds_a_whole_request(tmp_path: Path, context: int) -> None:
    """Across the error bar: `fits` and fewer than one resident request never go together."""
    found = await plan(
        tmp_path,
        preset="27b-mtp",
        host="rtx3090-linux",
        overrides={"max_model_len": str(context)},
    )

    is_whole = (found.blocks or 0) > (found.blocks_per_request or 0)  # one is held back
    assert (found.verdict is PlanVerdict.FITS) is is_whole


async def test_a_start_that_may_succeed_is_not_refused(tmp_path: Path) -> None:
    """Within the error bar the engine decides: a person who wants to try may."""
    plans = planner(tmp_path)
    preset = plans._presets.get("27b-mtp")
    recipe = plans._catalog.recipe(preset.runtime)
    machine = hosts.of_catalogue("rtx3090-linux", plans._paths).host

    found = await plans.require(
        preset,
        recipe,
        machine,
        overrides={"max_model_len": "90000"},
        gpus=None,
        allow_spill=False,
    )

    assert found.may_start


async def test_steps_beside_unknown_weights_promise_nothing(tmp_path: Path, shape: Path) -> None:
    """A shorter context mends the pool; whether the weights go onto the card nobody knows."""
    pinned = {"kv_cache_memory_bytes": "2GiB"}
    asked = {"model": str(shape), "engine": "vllm-0.31.0", "host": "rtx3090-linux"}
    found = await plan(tmp_path, **asked, overrides=pinned)

    assert found.verdict is PlanVerdict.DOES_NOT_FIT
    assert [(one.knob, one.is_enough) for one in found.reductions] == [("max_model_len", None)]
    assert "whether they are enough is not known" in plan_text(found)
    taken = {one.knob: one.value for one in found.reductions}
    open_ = await plan(tmp_path, **asked, overrides={**pinned, **taken})
    assert open_.verdict is PlanVerdict.UNKNOWN


async def test_a_folder_under_wsl2_counts_what_wsl2_takes(tmp_path: Path, shape: Path) -> None:
    """The same card leaves less there: a folder's forecast has to know, as a preset's does."""
    folder = with_weights(shape)

    async def outside(host: str) -> int:
        found = await plan(tmp_path, model=str(folder), engine="vllm-0.31.0", host=host)
        return next(item.bytes or 0 for item in found.ledger if item.name == "non-torch")

    assert await outside("rtx4090-wsl2") > await outside("rtx4090-linux")


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


async def test_the_larger_v100_holds_what_was_published(tmp_path: Path) -> None:
    """5.85 contexts of 262,144 tokens at 0.86; without the item it would promise 7.1."""
    share = {"gpu_memory_utilization": "0.86"}
    found = await plan(tmp_path, preset="v100-27b", host="v100-32x4-linux", overrides=share)
    small = await plan(tmp_path, preset="v100-27b", host="v100-16x4-linux")

    assert found.resident_requests == pytest.approx(5.85, abs=0.01)
    assert (found.pool_tokens_error or 0) / (found.pool_tokens or 1) > 0.05
    assert small.pool_tokens == pytest.approx(425_473, rel=0.01)


async def test_a_pool_that_experts_make_room_for_is_as_sure_as_its_layers(tmp_path: Path) -> None:
    """Give or take 101,286 tokens of 16,384 is no error bar: the experts take what is left."""
    found = await plan(tmp_path, preset="v100-v41-16k", host="v100-32x4-linux")

    assert 0 < (found.pool_tokens_error or 0) < (found.pool_tokens or 0) / 4
    experts = next(item for item in found.ledger if item.name == "experts")
    assert experts.error_bytes


async def test_what_holds_for_four_cards_is_said_once(tmp_path: Path) -> None:
    """Four sentences that differ in a number are read as four troubles."""
    found = await plan(tmp_path, preset="v100-flash-next-gguf", host="v100-16x4-linux")

    about_cards = [one for one in found.warnings if "GiB of card" in one]
    assert len(about_cards) == 1
    assert about_cards[0].endswith("The same holds for cards 1, 2 and 3.")


async def test_too_little_memory_is_said_once_and_with_its_purpose(tmp_path: Path) -> None:
    """The preset's own need says what the memory is for."""
    found = await plan(tmp_path, preset="v100-flash-next", host="rtx4090-wsl2")

    about_memory = [one for one in found.reasons if "of memory" in one]
    assert len(about_memory) == 1
    assert "for the KV history" in about_memory[0]
    assert not any("KV heads" in one for one in found.warnings)  # no card to copy them to


@pytest.mark.parametrize("width", [60, 80, 100])
async def test_no_source_is_cut(tmp_path: Path, width: int) -> None:
    """In a pipe there is no other place to read on."""
    found = await plan(tmp_path, preset="27b-dflash2", host="rtx4090-wsl2")

    text = plan_text(found, width)

    assert "…" not in text
    words = "".join(text.split())
    assert all("".join(item.source.split())[-12:] in words for item in found.ledger)
