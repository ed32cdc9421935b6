"""The facade over real parts: who waits for whom, and what is never lost on the way."""

import asyncio
import contextlib
import os
import signal
import socket
from collections.abc import AsyncIterator, Awaitable
from pathlib import Path

import httpx
import pytest

from studio.app.settings import Settings, SettingsFile
from studio.domain.control import KeyRequest, UpRequest, UpResult
from studio.domain.errors import Busy, StudioError
from studio.domain.events import (
    EngineChanged,
    GatewayChanged,
    KeysChanged,
    LogAppended,
    Stage,
    StageProgress,
    StageState,
    Ticked,
    UpFinished,
)
from studio.domain.keys import RevokeRequest
from studio.domain.server import EngineState
from studio.host.documents import write_json
from tests.app.running import Running, fake_paths, running
from tests.fakes.catalogue import PRESET
from tests.fakes.waiting import is_alive, until_async
from tests.fakes.weir import free_port

LIMIT_S = 30.0
SLOW_BOOT = UpRequest(overrides={"boot_s": "60"})
OTHER = "fake-other"
LARGE_WHEEL = (
    '\n[model.wheel]\npackage = "large"\nversion = "1"\nmember = "x"\n'
    f'sha256 = "{"0" * 64}"\nmember_sha256 = "{"1" * 64}"\nbytes = 20_000_000_000\n'
)


@pytest.fixture
async def made(tmp_path: Path) -> AsyncIterator[Running]:
    """Return a running Studio that serves nothing yet."""
    with fake_paths(tmp_path, boot_s=0.05) as paths:
        async with asyncio.timeout(90), running(paths) as one:
            yield one


async def refused(call: Awaitable[object]) -> StudioError:
    """Return the error that a call ends with."""
    with pytest.raises(StudioError) as caught:
        await call
    return caught.value


def another_preset(made: Running, *, model: str = "fake-model", more: str = "") -> None:
    """Put a second preset beside the first."""
    folder = made.paths.catalogue / "presets"
    text = (folder / f"{PRESET}.toml").read_text(encoding="utf-8")
    text = text.replace(f'id = "{PRESET}"', f'id = "{OTHER}"')
    text = text.replace('id = "fake-model"', f'id = "{model}"')
    (folder / f"{OTHER}.toml").write_text(text + more, encoding="utf-8")


async def until_booting(made: Running) -> None:
    """Wait until the engine's process speaks."""
    await until_async(lambda: made.studio.engine().phase is not None, "the boot")


# -- up --------------------------------------------------------------------------------------


async def test_an_up_says_where_and_makes_one_key(made: Running) -> None:
    """The key is shown once; the second `up` has none to show."""
    first = await made.studio.up(UpRequest())
    second = await made.studio.up(UpRequest())

    assert first.base_url.endswith("/v1")
    assert first.api_key is not None
    assert not first.already_running
    assert second.already_running
    assert second.api_key is None
    assert second.base_url == first.base_url
    (key,) = await made.studio.keys.all()
    assert key.name == "default"
    assert made.studio.status().keys == 1


async def test_stages_are_told_in_order_and_each_ends(made: Running) -> None:
    """A progress bar that stays at 99 % under a working engine looks broken."""
    await made.studio.up(UpRequest())

    stages = made.studio.status().stages
    assert [stage.stage for stage in stages] == [
        Stage.DETECT, Stage.GATEWAY, Stage.RUNTIME, Stage.MODEL, Stage.BOOT,
    ]  # fmt: skip
    assert {stage.state for stage in stages} == {StageState.DONE, StageState.SKIPPED}
    await until_async(lambda: bool(made.of(UpFinished)), "the end")
    assert made.of(UpFinished) == [UpFinished(preset=PRESET)]


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


async def test_settings_that_cannot_be_kept_cost_no_key(made: Running) -> None:
    """The engine serves and a key was made: failing now would hide the key for ever."""
    request = UpRequest(overrides={"max_model_len": "1024"})
    made.paths.settings_file.unlink()
    made.paths.settings_file.mkdir()

    result = await made.studio.up(request)

    assert result.api_key is not None
    assert made.studio.engine().state is EngineState.READY


async def test_the_next_boot_is_forecast_from_the_last(made: Running) -> None:
    """The bar is as long as this machine takes, not as long as ours took."""
    first = await made.studio.up(UpRequest(overrides={"boot_s": "0.3"}))
    published = made.studio.engine().expected_boot_s
    await made.studio.stop()

    await made.studio.up(UpRequest(overrides={"boot_s": "0.3"}))

    assert published is not None
    assert made.studio.engine().expected_boot_s == pytest.approx(first.boot_s, abs=0.01)


# -- what is remembered ----------------------------------------------------------------------


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


# -- the address -----------------------------------------------------------------------------


async def test_an_address_can_be_moved_while_it_serves(made: Running) -> None:
    """`weir up --port N` moves the gateway; the engine stays."""
    first = await made.studio.up(UpRequest())
    pid = made.studio.engine().pid
    port = free_port()

    moved = await made.studio.up(UpRequest(port=port))

    assert moved.base_url == f"http://127.0.0.1:{port}/v1"
    assert moved.base_url != first.base_url
    assert moved.already_running
    assert made.studio.engine().pid == pid
    assert SettingsFile(made.paths.settings_file).now.port == port
    await until_async(
        lambda: GatewayChanged(base_url=moved.base_url) in made.heard, "the announcement"
    )


async def test_a_port_that_is_taken_costs_nobody_the_old_address(made: Running) -> None:
    """Clients of the old address must not pay for a try."""
    first = await made.studio.up(UpRequest())
    with socket.create_server(("127.0.0.1", 0)) as other:
        error = await refused(made.studio.up(UpRequest(port=other.getsockname()[1])))

    assert error.code == "port-taken"
    assert made.studio.gateway().base_url == first.base_url
    headers = {"Authorization": f"Bearer {first.api_key}"}
    async with httpx.AsyncClient(trust_env=False, headers=headers) as http:
        assert (await http.get(f"{first.base_url}/models")).status_code == 200


async def test_another_preset_with_a_port_moves_nothing(made: Running) -> None:
    """It is refused as a whole."""
    first = await made.studio.up(UpRequest())

    error = await refused(
        made.studio.up(UpRequest(overrides={"max_model_len": "1024"}, port=free_port()))
    )

    assert (type(error), error.code) == (Busy, "engine-busy")
    assert "weir switch" in (error.hint or "")
    assert made.studio.gateway().base_url == first.base_url


# -- questions -------------------------------------------------------------------------------


async def test_keys_are_announced(made: Running) -> None:
    """A second window shows the key that the first one made."""
    new = await made.studio.keys.create(KeyRequest(name="Büro"))
    gone = await made.studio.keys.revoke(new.info.id, RevokeRequest())

    await until_async(lambda: len(made.of(KeysChanged)) == 2, "the announcements")
    assert gone.revoked_at is not None
    assert made.studio.status().keys == 0


async def test_logs_come_in_batches_and_can_be_read_on(made: Running) -> None:
    """`weir logs -f` asks for what follows the last line that it has."""
    assert made.studio.logs.newest(10, None) == []
    await made.studio.up(UpRequest())

    newest = made.studio.logs.newest(3, None)
    follow = made.studio.logs.newest(2, newest[0].seq)

    assert len(newest) == 3
    assert [line.seq for line in follow] == [newest[1].seq, newest[2].seq]
    await until_async(lambda: bool(made.of(LogAppended)), "a batch")


async def test_the_log_of_the_last_service_can_be_read(tmp_path: Path) -> None:
    """Whoever asks why it ended last night has just started a new one."""
    with fake_paths(tmp_path, boot_s=0.05) as paths:
        async with running(paths) as made:
            await made.studio.up(UpRequest())
        async with running(paths) as made:
            lines = made.studio.logs.newest(5, None)

    assert len(lines) == 5


async def test_ticks_are_kept_and_announced(made: Running) -> None:
    """Pool and tok/s are the product's face."""
    await made.studio.up(UpRequest())
    await until_async(
        lambda: any(event.tick.pool_tokens for event in made.of(Ticked)), "a tick of the engine"
    )

    history = made.studio.history(60)

    assert history[-1].pool_tokens == 23_296
    assert made.studio.status().tick == history[-1]
    assert made.studio.history(0) == []


async def test_a_late_listener_sees_the_present(made: Running) -> None:
    """Stages, engine and address, without asking."""
    await made.studio.up(UpRequest())

    present = made.studio.present()

    assert [type(event) for event in present[:5]] == [StageProgress] * 5
    assert isinstance(present[5], EngineChanged)
    assert present[5].engine.state is EngineState.READY
    assert isinstance(present[6], GatewayChanged)


async def test_presets_say_what_is_still_to_fetch(made: Running) -> None:
    """Nobody likes to be surprised by 20 GB."""
    another_preset(made, model="large-model", more=LARGE_WHEEL)

    presets = {preset.id: preset for preset in await made.studio.presets.all()}

    assert presets[PRESET].download_bytes == 0
    assert presets[OTHER].download_bytes == 20_000_000_000
    assert presets[PRESET].usable


async def test_a_preset_whose_runtime_is_unknown_is_listed_with_the_reason(made: Running) -> None:
    """The list must not fail for one entry."""
    another_preset(made)
    path = made.paths.catalogue / "presets" / f"{OTHER}.toml"
    path.write_text(path.read_text().replace("fake-vllm-0.32.0", "fake-vllm-9"))

    presets = {preset.id: preset for preset in await made.studio.presets.all()}

    assert not presets[OTHER].usable
    assert presets[OTHER].reasons
    assert presets[OTHER].download_bytes is None


async def test_after_the_end_nothing_of_ours_runs(tmp_path: Path) -> None:
    """No engine, no open port."""
    with fake_paths(tmp_path, boot_s=0.05) as paths:
        async with running(paths) as made:
            result = await made.studio.up(UpRequest())
            pid = made.studio.engine().pid
        assert pid is not None
        assert not is_alive(pid)
        port = int(result.base_url.rpartition(":")[2].partition("/")[0])
        with contextlib.closing(socket.socket()) as probe:
            assert probe.connect_ex(("127.0.0.1", port)) != 0
