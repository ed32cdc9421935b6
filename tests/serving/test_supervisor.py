"""The supervisor with real engine processes: every fault. Callers: test_supervisor_callers.py."""

import asyncio
import contextlib
import dataclasses
import os
import signal
from pathlib import Path

import psutil
import pytest

from studio.domain.errors import EngineFailed, StudioError
from studio.domain.server import BootPhase, EngineState
from studio.host import processes
from studio.serving import machine, supervisor
from tests.fakes.waiting import gone, until_async
from tests.serving.keeping import LIMIT_S, keeping, refused

STOPPED, PREPARING, STARTING = EngineState.STOPPED, EngineState.PREPARING, EngineState.STARTING
READY, DRAINING, STOPPING = EngineState.READY, EngineState.DRAINING, EngineState.STOPPING
FAILED, BACKING_OFF = EngineState.FAILED, EngineState.BACKING_OFF


@pytest.fixture(autouse=True)
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the long waits out: they are figures, not behaviour."""
    monkeypatch.setattr(machine, "retry_delay_s", lambda _machine: 0.01)
    monkeypatch.setattr(supervisor, "TERMINATE_S", 0.5)


async def test_a_life_from_start_to_stop(tmp_path: Path) -> None:
    """Everything that window and terminal show of an engine comes from these snapshots."""
    async with keeping(tmp_path) as kept:
        ready = await kept.supervisor.ensure_ready(kept.launch())

        assert ready.state is READY
        assert ready.pid is not None
        assert psutil.pid_exists(ready.pid)
        assert ready.pool_tokens == 23_296
        assert ready.max_model_len == 2048
        assert ready.boot_s is not None
        assert ready.expected_boot_s == 12.5
        assert (ready.restarts, ready.error, ready.phase) == (0, None, None)
        assert [phase.phase for phase in ready.phases][-1] is BootPhase.FIRST_TOKEN
        assert all(phase.ended_s is not None for phase in ready.phases)
        starts = [phase.started_s for phase in ready.phases]
        assert starts == sorted(starts)
        assert kept.supervisor.target is not None

        await kept.supervisor.stop()

        assert kept.supervisor.target is None
        assert kept.states == [PREPARING, STARTING, READY, DRAINING, STOPPING, STOPPED]
        assert kept.supervisor.snapshot().pid is None
        assert kept.left() == []


@pytest.mark.parametrize("fault", ["refuse-kv", "die-in-boot", "die-on-first-request"])
async def test_a_boot_that_fails_is_explained_and_not_repeated(tmp_path: Path, fault: str) -> None:
    """A minute of boot that ends the same way each time is not tried for ever."""
    async with keeping(tmp_path) as kept:
        error = await refused(kept, kept.launch(fault=fault))

        assert isinstance(error, EngineFailed)
        assert error.code not in ("internal", "engine-died")
        assert error.evidence
        assert error.hint
        assert kept.supervisor.snapshot().error == error.info
        assert kept.states[-1] is FAILED
        assert READY not in kept.states
        assert kept.states.count(STARTING) == 1
        await until_async(lambda: kept.left() == [], "the end of everything")


async def test_after_a_failure_the_next_start_works(tmp_path: Path) -> None:
    """The person lowers the context and presses Start again."""
    async with keeping(tmp_path) as kept:
        await refused(kept, kept.launch(fault="refuse-kv"))

        ready = await kept.supervisor.ensure_ready(kept.launch(number=1))

        assert ready.state is READY
        assert ready.error is None
        assert ready.overrides == {"fault": ""}


async def test_an_engine_that_boots_too_long_is_ended(tmp_path: Path) -> None:
    """A hang must not look like patience."""
    async with keeping(tmp_path) as kept:
        error = await refused(kept, kept.launch(fault="hang-in-boot", ready_within_s=1.0))

        assert error.code == "engine-too-slow"
        assert "1 s" in error.message
        assert kept.states == [PREPARING, STARTING, STOPPING, FAILED]
        assert kept.left() == []


async def test_an_engine_that_dies_while_serving_comes_back(tmp_path: Path) -> None:
    """Same address, no hand of anyone's; what it died of is no longer its state then."""
    async with keeping(tmp_path) as kept:
        first = await kept.supervisor.ensure_ready(kept.launch())
        assert first.pid is not None

        os.kill(first.pid, signal.SIGKILL)
        down = await kept.until_state(BACKING_OFF)
        back = await kept.until_state(READY)

        assert down.error is not None
        assert back.restarts == 1
        assert back.pid != first.pid
        assert back.error is None
        assert back.boot_s is not None


async def test_a_start_while_it_comes_back_joins(tmp_path: Path) -> None:
    """`weir up` in the seconds after a crash must not say that the engine is busy with itself."""
    async with keeping(tmp_path) as kept:
        first = await kept.supervisor.ensure_ready(kept.launch())
        assert first.pid is not None
        os.kill(first.pid, signal.SIGKILL)
        await kept.until_state(STARTING)

        back = await kept.supervisor.ensure_ready(kept.launch(number=1))

        assert back.state is READY
        assert kept.states.count(STARTING) == 2


async def test_the_third_death_is_the_last(tmp_path: Path) -> None:
    """An engine that dies on every long prompt would otherwise load its weights all day."""
    async with keeping(tmp_path) as kept:
        await kept.supervisor.ensure_ready(kept.launch(fault="die-after=0.1"))

        failed = await kept.until_state(FAILED)

        assert kept.states.count(READY) == 3
        assert failed.restarts == 2
        assert failed.error is not None
        assert failed.error.evidence
        await until_async(lambda: kept.left() == [], "the end of everything")


async def test_a_killed_guard_costs_one_restart(tmp_path: Path) -> None:
    """Whoever stands between us and the engine may be killed, too."""
    async with keeping(tmp_path) as kept:
        await kept.supervisor.ensure_ready(kept.launch())
        rows = processes.tree(os.getpid(), own_role="service")
        before = {process.pid for process in processes.marked(kept.home)}
        (guard,) = (row.pid for row in rows if row.role == "guard" and row.pid in before)

        os.kill(guard, signal.SIGKILL)
        back = await kept.until_state(READY)
        back = back if back.restarts else await kept.until(lambda s: s.restarts == 1)

        await gone(before)
        assert back.restarts == 1


async def test_a_stubborn_engine_is_killed(tmp_path: Path) -> None:
    """SIGTERM may be ignored; `stop` comes back all the same."""
    async with keeping(tmp_path) as kept:
        await kept.supervisor.ensure_ready(kept.launch(fault="ignore-sigterm"))

        async with asyncio.timeout(LIMIT_S):
            await kept.supervisor.stop()

        assert kept.left() == []


async def test_a_flood_of_log_lines_holds_nobody_up(tmp_path: Path) -> None:
    """An engine in a loop of warnings still serves, and can be stopped."""
    async with keeping(tmp_path) as kept:
        await kept.supervisor.ensure_ready(kept.launch(fault="spew=20000"))
        await until_async(lambda: kept.log.seq > 10_000, "the flood")

        async with asyncio.timeout(30):
            await kept.supervisor.stop()

        assert len(kept.lines()) <= 5_000
        assert kept.left() == []


# -- what else goes wrong --------------------------------------------------------------------


async def test_a_drain_that_fails_still_ends_the_engine(tmp_path: Path) -> None:
    """A mistake while waiting for answers must not leave an engine that nobody knows."""

    async def drain(_within_s: float) -> None:
        raise ZeroDivisionError

    async with keeping(tmp_path, drain=drain) as kept:
        await kept.supervisor.ensure_ready(kept.launch())

        async with asyncio.timeout(LIMIT_S):
            await kept.supervisor.stop()

        assert kept.states[-3:] == [DRAINING, STOPPING, STOPPED]
        assert kept.left() == []


async def test_a_missing_interpreter_is_a_failure_with_a_remedy(tmp_path: Path) -> None:
    """A half-deleted runtime folder."""
    async with keeping(tmp_path) as kept:
        error = await refused(kept, kept.launch(python=str(tmp_path / "no python")))

        assert error.code == "engine-not-started"
        assert "no python" in error.message
        assert kept.supervisor.state is FAILED


async def test_a_mistake_of_ours_is_told_with_an_id(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The person can name it, and the service's log has the traceback under it."""
    async with keeping(tmp_path) as kept:
        launch = kept.launch()
        kept.make_folder(launch.socket)  # which whoever removes an old socket does not expect

        error = await refused(kept, launch)

        assert error.code == "internal"
        incident = error.message.partition("id ")[2].rstrip(").")
        assert incident
        assert incident in caplog.text
        assert kept.supervisor.state is FAILED


async def test_orphans_of_an_earlier_service_are_ended_first(tmp_path: Path) -> None:
    """They hold the memory that the new engine needs."""
    async with keeping(tmp_path) as kept:
        orphan = kept.leave_orphan()
        await until_async(lambda: bool(processes.marked(kept.home)), "the orphan")

        await kept.supervisor.ensure_ready(kept.launch())

        await gone([orphan.pid])
        orphan.communicate(timeout=LIMIT_S)


async def test_an_end_of_the_supervisor_ends_the_engine(tmp_path: Path) -> None:
    """However the service goes down."""
    async with keeping(tmp_path) as kept:
        await kept.supervisor.ensure_ready(kept.launch())
        pids = [process.pid for process in processes.marked(kept.home)]
        assert len(pids) >= 3

    await gone(pids)


async def test_the_boot_s_key_is_in_no_log(tmp_path: Path) -> None:
    """vLLM prints its settings; a log is pasted into an issue."""
    code = (
        "import os, threading\n"
        "key = os.environ['VLLM_API_KEY']\n"
        "print('the key is', key, 'and', repr(key), flush=True)\n"
        "os.write(1, f'half {key[:20]}'.encode()); os.write(1, f'{key[20:]} end\\n'.encode())\n"
        "threading.Event().wait()"
    )
    async with keeping(tmp_path) as kept, asyncio.TaskGroup() as tasks:
        waiting = tasks.create_task(refused(kept, kept.program(code)))
        await until_async(lambda: len(kept.lines()) >= 2, "its words")
        (engine,) = (
            process
            for process in processes.marked(kept.home)
            if process.pid == kept.supervisor.snapshot().pid
        )
        key = engine.environ()["VLLM_API_KEY"]
        command = " ".join(engine.cmdline())
        await kept.supervisor.stop()
        await waiting

        assert len(key) >= 32
        assert key not in command
        texts = [line.text for line in kept.lines()]
        assert texts[:2] == ["the key is *** and '***'", "half *** end"]
        written = (kept.home / "logs" / "engine.log").read_text(encoding="utf-8")
        assert key not in written
        assert "***" in written


async def test_each_boot_has_a_key_of_its_own(tmp_path: Path) -> None:
    """A key that leaked is worth nothing after the next start."""
    async with keeping(tmp_path) as kept:
        keys = []
        for _ in range(2):
            await kept.supervisor.ensure_ready(kept.launch())
            target = kept.supervisor.target
            assert target is not None
            keys.append(target.key)
            await kept.supervisor.stop()

        assert len(set(keys)) == 2


async def test_streams_are_cut_off_before_the_engine_is_asked_to_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """vLLM, told to end with streams running, may hang until its clients give up."""
    monkeypatch.setattr(supervisor, "TERMINATE_S", 600.0)
    async with keeping(tmp_path) as kept, asyncio.TaskGroup() as tasks:
        launch = kept.launch(fault="hang-on-stop")
        slow = {"FAKE_VLLM_TOKENS_PER_S": "5", "FAKE_VLLM_TOKENS": "1000"}
        launch = dataclasses.replace(launch, environment={**launch.environment, **slow})
        await kept.supervisor.ensure_ready(launch)
        target = kept.supervisor.target
        assert target is not None
        streaming = tasks.create_task(_ask_for_ever(target))
        await until_async(lambda: bool(target.upstream.calls), "the request")

        async with asyncio.timeout(30):
            await kept.supervisor.stop()

        assert await streaming == "engine-cut-off"
        assert kept.left() == []


async def _ask_for_ever(target: supervisor.Target) -> str:
    """Return the code of the error that a long answer ends with."""
    body = b'{"model": "smollm2", "prompt": "x", "max_tokens": 1000}'
    headers = [
        (b"content-type", b"application/json"),
        (b"authorization", f"Bearer {target.key}".encode()),
    ]
    with contextlib.suppress(TimeoutError):
        try:
            await target.upstream.fetch(
                "POST", "/v1/completions", headers=headers, body=body, timeout_s=LIMIT_S
            )
        except StudioError as error:
            return error.code
    return "answered"
