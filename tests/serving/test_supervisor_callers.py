"""Who asks the supervisor: a stop in every state, and callers that meet."""

import asyncio
import os
import signal
from pathlib import Path

import pytest

from studio.domain.errors import Busy
from studio.domain.server import EngineState
from studio.serving import machine, supervisor
from tests.serving.keeping import PYTHON, keeping, refused

STOPPED, PREPARING, STARTING = EngineState.STOPPED, EngineState.PREPARING, EngineState.STARTING
READY, DRAINING, STOPPING = EngineState.READY, EngineState.DRAINING, EngineState.STOPPING
FAILED, BACKING_OFF = EngineState.FAILED, EngineState.BACKING_OFF


@pytest.fixture(autouse=True)
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the long waits out: they are figures, not behaviour."""
    monkeypatch.setattr(machine, "retry_delay_s", lambda _machine: 0.01)
    monkeypatch.setattr(supervisor, "TERMINATE_S", 0.5)


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

        async with asyncio.timeout(30):
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

        async with asyncio.timeout(30):
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
