"""Starts over real parts: who waits for whom, and what a switch or a restart may not lose."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from studio.app.settings import Settings
from studio.domain.control import UpRequest, UpResult
from studio.domain.events import (
    EngineChanged,
    Stage,
    StageState,
    UpFinished,
)
from studio.domain.server import EngineState
from studio.host.documents import write_json
from tests.app.running import Running, fake_paths, running
from tests.app.second_preset import LARGE_WHEEL, OTHER, another_preset, refused
from tests.fakes.catalogue import PRESET
from tests.fakes.waiting import until_async
from tests.fakes.weir import free_port

LIMIT_S = 30.0
SLOW_BOOT = UpRequest(overrides={"boot_s": "60"})


@pytest.fixture
async def made(tmp_path: Path) -> AsyncIterator[Running]:
    """Return a running Studio that serves nothing yet."""
    with fake_paths(tmp_path, boot_s=0.05) as paths:
        async with asyncio.timeout(90), running(paths) as one:
            yield one


async def until_booting(made: Running) -> None:
    """Wait until the engine's process speaks."""
    await until_async(lambda: made.studio.engine().phase is not None, "the boot")


# -- up --------------------------------------------------------------------------------------


async def test_the_same_request_at_the_same_time_is_joined(made: Running) -> None:
    """Both callers get the address; one gets the key, and no second engine is started."""
    async with asyncio.TaskGroup() as tasks:
        calls = [tasks.create_task(made.studio.up(UpRequest(preset=PRESET))) for _ in range(3)]

    results = [call.result() for call in calls]
    assert results[0] == results[1] == results[2]
    assert len(await made.studio.keys.all()) == 1
    pids = {event.engine.pid for event in made.of(EngineChanged) if event.engine.pid}
    assert len(pids) == 1


async def test_another_request_at_the_same_time_is_told_so(made: Running) -> None:
    """It must not be merged into what somebody else asked for."""
    async with asyncio.TaskGroup() as tasks:
        starting = tasks.create_task(refused(made.studio.up(SLOW_BOOT)))
        await until_booting(made)

        error = await refused(made.studio.up(UpRequest(preset=PRESET)))
        await made.studio.stop()

        assert error.code == "up-running"
        assert (await starting).code == "up-stopped"


async def test_a_stop_reaches_everybody_who_waits(made: Running) -> None:
    """Nobody is left waiting for an engine that will not come."""
    async with asyncio.TaskGroup() as tasks:
        calls = [tasks.create_task(refused(made.studio.up(SLOW_BOOT))) for _ in range(3)]
        await until_booting(made)

        status = await made.studio.stop()

    assert {call.result().code for call in calls} == {"up-stopped"}
    assert status.engine.state is EngineState.STOPPED
    assert [s.state for s in status.stages if s.stage is Stage.BOOT] == [StageState.FAILED]
    again = await made.studio.up(UpRequest(overrides={"boot_s": "0.05"}))
    assert isinstance(again, UpResult)


async def test_a_joined_caller_that_goes_away_ends_nothing(made: Running) -> None:
    """Closing the window must not stop what the terminal waits for."""
    request = UpRequest(overrides={"boot_s": "0.5"})
    async with asyncio.TaskGroup() as tasks:
        first = tasks.create_task(made.studio.up(request))
        await until_booting(made)
        second = tasks.create_task(made.studio.up(request))
        await asyncio.sleep(0)

        second.cancel()

        assert (await first).preset == PRESET


async def test_a_failed_up_marks_its_stage_and_says_why_to_all(made: Running) -> None:
    """The window that only listens shows the same sentence as the terminal that asked."""
    error = await refused(made.studio.up(UpRequest(overrides={"fault": "refuse-kv"})))

    await until_async(lambda: bool(made.of(UpFinished)), "the end")
    finished = made.of(UpFinished)[-1]
    assert finished.error == error.info
    (boot,) = (s for s in made.studio.status().stages if s.stage is Stage.BOOT)
    assert (boot.state, boot.note) == (StageState.FAILED, error.message)
    assert made.studio.engine().state is EngineState.FAILED
    assert made.studio.status().engine.error == error.info


async def test_while_things_are_fetched_the_engine_is_preparing(made: Running) -> None:
    """`stopped` beside a running progress bar would offer Start again."""
    async with asyncio.TaskGroup() as tasks:
        starting = tasks.create_task(refused(made.studio.up(SLOW_BOOT)))
        await asyncio.sleep(0)

        assert made.studio.engine().state is EngineState.PREPARING
        await made.studio.stop()
        await starting

    assert made.studio.engine().state is EngineState.STOPPED


async def test_what_served_last_is_served_again_by_the_next_service(tmp_path: Path) -> None:
    """`weir up`, and `weir restart`, after a reboot of the machine: as yesterday."""
    with fake_paths(tmp_path, boot_s=0.05) as paths:
        async with running(paths) as made:
            await made.studio.up(UpRequest(overrides={"max_model_len": "1024"}))
        async with running(paths) as made:
            await made.studio.starts.restart()
            restarted = made.studio.engine().overrides
        async with running(paths) as made:
            await made.studio.up(UpRequest())
            again = made.studio.engine().overrides

    assert restarted == again == {"max_model_len": "1024"}


async def test_a_named_preset_starts_from_its_defaults(tmp_path: Path) -> None:
    """Naming it is how one gets rid of yesterday's settings."""
    with fake_paths(tmp_path, boot_s=0.05) as paths:
        async with running(paths) as made:
            await made.studio.up(UpRequest(overrides={"max_model_len": "1024"}))
        async with running(paths) as made:
            await made.studio.up(UpRequest(preset=PRESET))
            assert made.studio.engine().overrides == {}


async def test_a_knob_that_the_preset_lost_is_forgotten(tmp_path: Path) -> None:
    """An update of a preset must not bar `weir up` until somebody finds the settings file."""
    with fake_paths(tmp_path, boot_s=0.05) as paths:
        kept = {"gone_since_0_2": "1", "max_model_len": "1024"}
        write_json(paths.settings_file, Settings(port=free_port(), preset=PRESET, overrides=kept))
        async with running(paths) as made:
            await made.studio.up(UpRequest())
            assert made.studio.engine().overrides == {"max_model_len": "1024"}


async def test_a_preset_that_was_removed_is_not_insisted_on(tmp_path: Path) -> None:
    """The best of what is left is proposed."""
    with fake_paths(tmp_path, boot_s=0.05) as paths:
        write_json(paths.settings_file, Settings(port=free_port(), preset="removed"))
        async with running(paths) as made:
            assert (await made.studio.up(UpRequest())).preset == PRESET


# -- switch and restart ----------------------------------------------------------------------


async def test_a_switch_keeps_address_and_keys(made: Running) -> None:
    """Clients are configured once."""
    another_preset(made)
    first = await made.studio.up(UpRequest())

    second = await made.studio.starts.switch(UpRequest(preset=OTHER))

    assert (second.preset, second.base_url) == (OTHER, first.base_url)
    assert second.api_key is None
    assert made.studio.engine().preset == OTHER


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        (UpRequest(preset="fake-dmeo"), "preset-unknown"),
        (UpRequest(preset=PRESET, overrides={"max_model_len": "x"}), "knob-value"),
        (UpRequest(preset=PRESET, gpus=(7,)), "gpu-unknown"),
        (UpRequest(preset=PRESET, port=99_999), "port-invalid"),
        (UpRequest(), "preset-missing"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
async def test_a_switch_that_cannot_be_leaves_what_serves(
    made: Running, request_: UpRequest, code: str
) -> None:
    """A typing error must not stop an engine that somebody is talking to."""
    await made.studio.up(UpRequest())
    pid = made.studio.engine().pid

    assert (await refused(made.studio.starts.switch(request_))).code == code

    assert made.studio.engine().state is EngineState.READY
    assert made.studio.engine().pid == pid


@pytest.mark.parametrize(
    ("model", "more", "code"),
    [
        ("large-model", LARGE_WHEEL, "large-download"),
        ("missing-model", "", "model-incomplete"),
    ],
)
async def test_a_switch_asks_before_it_stops(
    made: Running, model: str, more: str, code: str
) -> None:
    """A refusal after the stop would leave nothing serving, for a question."""
    another_preset(made, model=model, more=more)
    await made.studio.up(UpRequest())
    pid = made.studio.engine().pid

    error = await refused(made.studio.starts.switch(UpRequest(preset=OTHER)))

    assert error.code.startswith(code.split("-")[0])
    assert made.studio.engine().state is EngineState.READY
    assert made.studio.engine().pid == pid


async def test_a_restart_is_a_new_process_with_the_same_settings(made: Running) -> None:
    """It is what one does when something is odd."""
    await made.studio.up(UpRequest(overrides={"max_model_len": "1024"}))
    pid = made.studio.engine().pid

    await made.studio.starts.restart()

    engine = made.studio.engine()
    assert engine.state is EngineState.READY
    assert engine.pid != pid
    assert engine.overrides == {"max_model_len": "1024"}
    assert engine.restarts == 0


async def test_an_up_while_the_engine_comes_back_waits_for_it(made: Running) -> None:
    """`weir up` in the seconds after a crash."""
    await made.studio.up(UpRequest())
    pid = made.studio.engine().pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    await until_async(lambda: made.studio.engine().state is EngineState.STARTING, "the second boot")

    result = await made.studio.up(UpRequest())

    assert result.preset == PRESET
    assert made.studio.engine().state is EngineState.READY
