"""The facade over real parts: who waits for whom, and what is never lost on the way."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from studio.app.settings import SettingsFile
from studio.domain.control import KeyRequest, UpRequest
from studio.domain.errors import Busy
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
from tests.app.running import Running, fake_paths, running
from tests.app.second_preset import LARGE_WHEEL, OTHER, another_preset, refused
from tests.fakes.catalogue import PRESET
from tests.fakes.waiting import is_alive, until_async
from tests.fakes.weir import free_port

LIMIT_S = 30.0


@pytest.fixture
async def made(tmp_path: Path) -> AsyncIterator[Running]:
    """Return a running Studio that serves nothing yet."""
    with fake_paths(tmp_path, boot_s=0.05) as paths:
        async with asyncio.timeout(90), running(paths) as one:
            yield one


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
