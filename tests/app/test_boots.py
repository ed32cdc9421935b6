"""Boots through the whole service, over the fake engine."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from studio.domain.boots import BootOutcome, BootRecord, BootTry
from studio.domain.control import UpRequest
from studio.domain.errors import StudioError
from studio.domain.events import EngineChanged, Stage, StageProgress
from studio.domain.server import BootPhase, EngineState
from tests.app.running import Running, fake_paths, running
from tests.fakes.catalogue import PRESET
from tests.fakes.waiting import until_async


@pytest.fixture
async def made(tmp_path: Path) -> AsyncIterator[Running]:
    """Return a Studio that runs."""
    with fake_paths(tmp_path, boot_s=0.3) as paths:
        async with running(paths) as one:
            yield one


async def kept(made: Running, count: int) -> tuple[BootRecord, ...]:
    """Return the history once it holds so many boots."""
    path = made.paths.home / "boots.json"
    await until_async(path.exists, "a history")
    found: list[BootRecord] = []
    while len(found) < count:
        found = list((await made.studio.boots.history(None, 100)).boots)
    return tuple(found)


def unpin(made: Running) -> None:
    """Leave the pool to the engine, as presets for cards do."""
    path = made.paths.catalogue / "presets" / f"{PRESET}.toml"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("default = 1_073_741_824\n", "", 1), encoding="utf-8")


async def test_the_second_boot_is_warm_and_forecast_phase_by_phase(made: Running) -> None:
    """What `weir status` shows while it boots: sentence, rest, and how long each phase takes."""
    first = await made.studio.up(UpRequest())
    await made.studio.stop()
    made.heard.clear()

    second = await made.studio.up(UpRequest())

    cold, warm = await kept(made, 2)
    assert (cold.is_cold, warm.is_cold) == (True, False)
    assert (first.is_cold, second.is_cold) == (True, False)
    assert cold.phases_s.keys() == warm.phases_s.keys() >= {"interpreter", "weights"}
    assert sum(warm.phases_s.values()) == pytest.approx(warm.boot_s, abs=0.05)
    assert warm.why == ()
    booting = [e.engine for e in made.of(EngineChanged) if e.engine.state is EngineState.STARTING]
    assert {one.is_cold for one in booting} == {False}
    forecast = booting[-1].forecast
    assert {one.phase for one in forecast} >= {BootPhase.INTERPRETER, BootPhase.WEIGHTS}
    notes = [e.note or "" for e in made.of(StageProgress) if e.stage is Stage.BOOT]
    assert any(" left: " in note for note in notes)
    now = made.studio.engine()
    assert now.state is EngineState.READY
    assert (now.is_cold, now.note, now.remaining_s) == (False, None, None)


async def test_a_cold_refusal_is_tried_again_by_itself(made: Running) -> None:
    """The engine compiles, finds too little for its KV cache, and has enough the second time."""
    unpin(made)

    result = await made.studio.up(UpRequest(overrides={"fault": "refuse-kv-cold"}))

    refused, served = await kept(made, 2)
    assert (refused.outcome, refused.error, refused.is_cold, refused.is_cold_certain) == (
        BootOutcome.FAILED,
        "kv-cache-too-small",
        True,
        True,
    )
    assert "compile" in refused.phases_s
    assert (served.outcome, served.attempt) == (BootOutcome.SERVED, BootTry.WARM)
    assert len(result.notes) == 1
    assert "while it compiled" in result.notes[0]
    assert made.studio.engine().tries == result.notes
    notes = [e.note or "" for e in made.of(StageProgress) if e.stage is Stage.BOOT]
    assert result.notes[0] in notes


async def test_a_refusal_of_a_pinned_pool_is_told_at_once(made: Running) -> None:
    """Its bytes are the same at every boot."""
    with pytest.raises(StudioError) as caught:
        await made.studio.up(UpRequest(overrides={"fault": "refuse-kv-cold"}))

    assert caught.value.code == "kv-cache-too-small"
    assert len(await kept(made, 1)) == 1


async def test_a_stop_during_the_second_try_ends_it(made: Running) -> None:
    """Ctrl+C is stronger than any good intention."""
    unpin(made)
    request = UpRequest(overrides={"fault": "refuse-kv-cold", "boot_s": "3"})

    async with asyncio.TaskGroup() as tasks:

        async def start() -> str:
            with pytest.raises(StudioError) as caught:
                await made.studio.up(request)
            return caught.value.code

        task = tasks.create_task(start())
        await until_async(lambda: bool(made.studio.engine().tries), "the second try", limit_s=40)
        await made.studio.stop()
        assert await task == "up-stopped"

    assert made.studio.engine().state is EngineState.STOPPED


async def test_another_pool_is_explained_with_the_setting_that_changed(made: Running) -> None:
    """In the result of `weir up`, in the status and in the history."""
    await made.studio.up(UpRequest())
    await made.studio.stop()

    result = await made.studio.up(UpRequest(overrides={"kv_cache_memory_bytes": "512MiB"}))

    said = " ".join(result.notes)
    assert "tokens smaller" in said
    assert "`kv_cache_memory_bytes` was 1,073,741,824 and is 536,870,912." in said
    assert made.studio.engine().pool_note == said
    assert " ".join((await kept(made, 2))[-1].why) == said


async def test_the_history_can_be_asked_for_one_preset_and_cut(made: Running) -> None:
    """As `weir boots PRESET -n 1` does."""
    await made.studio.up(UpRequest())
    await kept(made, 1)

    assert len((await made.studio.boots.history(PRESET, 5)).boots) == 1
    assert (await made.studio.boots.history("other", 5)).boots == ()
    assert (await made.studio.boots.history(None, 0)).boots == ()
