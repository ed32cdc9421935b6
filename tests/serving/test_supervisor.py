"""The supervisor with real engine processes: every fault, a stop in every state, every caller."""

import asyncio
import contextlib
import dataclasses
import os
import signal
from pathlib import Path

import psutil
import pytest

from studio.domain.errors import Busy, EngineFailed, StudioError
from studio.domain.server import BootPhase, EngineState
from studio.host import processes
from studio.host.child import MARKER
from studio.serving import machine, supervisor
from studio.serving.command import Launch
from tests.fakes.waiting import gone, until_async
from tests.serving.keeping import LIMIT_S, PYTHON, Keeping, keeping

STOPPED, PREPARING, STARTING = EngineState.STOPPED, EngineState.PREPARING, EngineState.STARTING
READY, DRAINING, STOPPING = EngineState.READY, EngineState.DRAINING, EngineState.STOPPING
FAILED, BACKING_OFF = EngineState.FAILED, EngineState.BACKING_OFF


@pytest.fixture(autouse=True)
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the long waits out: they are figures, not behaviour."""
    monkeypatch.setattr(machine, "retry_delay_s", lambda _machine: 0.01)
    monkeypatch.setattr(supervisor, "TERMINATE_S", 0.5)


async def refused(kept: Keeping, launch: Launch) -> StudioError:
    """Return the error that a start ends with."""
    with pytest.raises(StudioError) as caught:
        async with asyncio.timeout(LIMIT_S):
            await kept.supervisor.ensure_ready(launch)
    return caught.value


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
        guards = [p for p in psutil.Process().children() if "guard.py" in " ".join(p.cmdline())]
        before = {process.pid for process in processes.marked(kept.home)}

        guards[-1].kill()
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

        async with asyncio.timeout(5):
            await kept.supervisor.stop()

        assert len(kept.lines()) <= 5_000
        assert kept.left() == []


# -- stop, in every state --------------------------------------------------------------------


async def test_a_stop_of_nothing_returns_at_once(tmp_path: Path) -> None:
    """`weir stop` twice is no mistake."""
    async with keeping(tmp_path) as kept:
        await kept.supervisor.stop()

        assert kept.seen == []


async def test_a_stop_while_it_prepares_starts_nothing(tmp_path: Path) -> None:
    """The sweep of orphans may take seconds; the engine must not appear after the stop."""
    async with keeping(tmp_path) as kept, asyncio.TaskGroup() as tasks:
        caller = tasks.create_task(refused(kept, kept.launch()))
        await kept.until_state(PREPARING)

        await kept.supervisor.stop()

        assert (await caller).code == "engine-stopped"
        assert STARTING not in kept.states
        await kept.supervisor.ensure_ready(kept.launch(number=1))
        assert kept.states.count(STARTING) == 1


@pytest.mark.parametrize("has_process", [False, True])
async def test_a_stop_while_it_boots_ends_it(tmp_path: Path, has_process: bool) -> None:
    """vLLM loses a SIGTERM while it boots, so it is killed; also one that is just being born."""
    async with keeping(tmp_path) as kept, asyncio.TaskGroup() as tasks:
        caller = tasks.create_task(refused(kept, kept.launch(boot_s=60.0)))
        await kept.until(lambda s: s.state is STARTING and (s.pid is not None) is has_process)

        async with asyncio.timeout(5):
            await kept.supervisor.stop()

        assert isinstance(await caller, Busy)
        assert kept.states[-2:] == [STOPPING, STOPPED]
        assert kept.left() == []
        assert kept.supervisor.snapshot().error is None


async def test_a_second_stop_cuts_the_wait_for_answers_short(tmp_path: Path) -> None:
    """The first waits for answers under way; whoever asks again means now."""
    answers = asyncio.Event()

    async def drain(_within_s: float) -> None:
        await answers.wait()

    async with keeping(tmp_path, drain=drain) as kept, asyncio.TaskGroup() as tasks:
        await kept.supervisor.ensure_ready(kept.launch())
        first = tasks.create_task(kept.supervisor.stop())
        draining = await kept.until_state(DRAINING)
        assert draining.pid is not None
        assert kept.supervisor.target is None

        async with asyncio.timeout(5):
            await kept.supervisor.stop()
            await first

        assert kept.left() == []
        answers.set()


async def test_a_stop_while_it_stops_waits_for_the_same_end(tmp_path: Path) -> None:
    """Both callers are told when nothing is left."""
    async with keeping(tmp_path) as kept, asyncio.TaskGroup() as tasks:
        await kept.supervisor.ensure_ready(kept.launch(fault="ignore-sigterm"))
        first = tasks.create_task(kept.supervisor.stop())
        await kept.until_state(STOPPING)

        await kept.supervisor.stop()

        assert kept.left() == []
        await first
        assert kept.states.count(STOPPING) == 1


async def test_a_stop_between_two_lives_prevents_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped must not mean: back in five seconds."""
    monkeypatch.setattr(machine, "retry_delay_s", lambda _machine: 0.3)
    async with keeping(tmp_path) as kept:
        ready = await kept.supervisor.ensure_ready(kept.launch())
        assert ready.pid is not None
        os.kill(ready.pid, signal.SIGKILL)
        await kept.until_state(BACKING_OFF)

        await kept.supervisor.stop()

        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.6):
                await kept.until(lambda s: s.state is not STOPPED)


async def test_a_stop_of_a_failed_engine_clears_the_failure(tmp_path: Path) -> None:
    """The person has read it."""
    async with keeping(tmp_path) as kept:
        await refused(kept, kept.launch(fault="refuse-kv"))

        await kept.supervisor.stop()

        assert kept.supervisor.snapshot().state is STOPPED
        assert kept.supervisor.snapshot().error is None


# -- callers ---------------------------------------------------------------------------------


async def test_two_callers_share_one_engine(tmp_path: Path) -> None:
    """A double click must not load the weights twice; their sockets' names differ, no more."""
    async with keeping(tmp_path) as kept, asyncio.TaskGroup() as tasks:
        first = tasks.create_task(kept.supervisor.ensure_ready(kept.launch()))
        await kept.until_state(STARTING)
        second = tasks.create_task(kept.supervisor.ensure_ready(kept.launch(number=1)))

        assert (await first).pid == (await second).pid
        assert kept.states.count(STARTING) == 1


async def test_what_serves_is_joined_at_once(tmp_path: Path) -> None:
    """And nothing is announced, because nothing changed."""
    async with keeping(tmp_path) as kept:
        first = await kept.supervisor.ensure_ready(kept.launch())
        count = len(kept.seen)

        again = await kept.supervisor.ensure_ready(kept.launch(number=1))

        assert again.pid == first.pid
        assert len(kept.seen) == count


@pytest.mark.parametrize(
    "change",
    [
        {"overrides": {"max_model_len": "1024"}},
        {"preset": "another"},
        {"argv": (PYTHON, "-c", "pass")},
        {"environment": {"CUDA_VISIBLE_DEVICES": "1"}},
    ],
    ids=lambda change: next(iter(change)),
)
async def test_another_launch_is_refused_while_one_runs(
    tmp_path: Path, change: dict[str, object]
) -> None:
    """`up` never ends an engine that somebody is talking to."""
    async with keeping(tmp_path) as kept:
        first = await kept.supervisor.ensure_ready(kept.launch())

        error = await refused(kept, kept.launch(**change))

        assert error.code == "engine-busy"
        assert "`fake-demo`" in error.message
        assert kept.supervisor.snapshot().pid == first.pid


async def test_a_caller_that_goes_away_leaves_the_engine_starting(tmp_path: Path) -> None:
    """The terminal that asked may be closed; the others still wait."""
    async with keeping(tmp_path) as kept, asyncio.TaskGroup() as tasks:
        leaving = tasks.create_task(kept.supervisor.ensure_ready(kept.launch()))
        staying = tasks.create_task(kept.supervisor.ensure_ready(kept.launch()))
        await kept.until_state(STARTING)

        leaving.cancel()

        assert (await staying).state is READY
        assert leaving.cancelled()


async def test_a_failure_reaches_every_caller(tmp_path: Path) -> None:
    """Nobody may be left waiting for an engine that will not come."""
    async with keeping(tmp_path) as kept, asyncio.TaskGroup() as tasks:
        launch = kept.launch(fault="die-in-boot")
        callers = [tasks.create_task(refused(kept, launch)) for _ in range(3)]

        codes = {(await caller).code for caller in callers}

        assert len(codes) == 1


async def test_a_start_while_it_stops_is_told_to_wait(tmp_path: Path) -> None:
    """The socket and the memory are still the old one's."""
    async with keeping(tmp_path) as kept, asyncio.TaskGroup() as tasks:
        await kept.supervisor.ensure_ready(kept.launch(fault="ignore-sigterm"))
        tasks.create_task(kept.supervisor.stop())
        await kept.until_state(STOPPING)

        error = await refused(kept, kept.launch(fault="ignore-sigterm"))

        assert error.code == "engine-busy"
        assert "stopping" in error.message


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
        orphan = await asyncio.create_subprocess_exec(
            PYTHON, "-c", "import threading; threading.Event().wait()",
            env={**os.environ, MARKER: str(kept.home)},
        )  # fmt: skip
        await until_async(lambda: bool(processes.marked(kept.home)), "the orphan")

        await kept.supervisor.ensure_ready(kept.launch())

        await gone([orphan.pid])
        await orphan.wait()


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


async def test_streams_are_cut_off_before_the_engine_is_asked_to_end(tmp_path: Path) -> None:
    """vLLM, told to end with streams running, may hang until its clients give up."""
    async with keeping(tmp_path) as kept, asyncio.TaskGroup() as tasks:
        launch = kept.launch(fault="hang-on-stop")
        slow = {"FAKE_VLLM_TOKENS_PER_S": "5", "FAKE_VLLM_TOKENS": "1000"}
        launch = dataclasses.replace(launch, environment={**launch.environment, **slow})
        await kept.supervisor.ensure_ready(launch)
        target = kept.supervisor.target
        assert target is not None
        streaming = tasks.create_task(_ask_for_ever(target))
        await until_async(lambda: bool(target.upstream.calls), "the request")

        async with asyncio.timeout(5):
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
