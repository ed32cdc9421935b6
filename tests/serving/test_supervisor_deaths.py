"""Engines that stand still or lose a part: noticed, ended or told of, and what is kept of it."""

import asyncio
import contextlib
import dataclasses
import os
import shutil
import signal
from pathlib import Path

import msgspec
import psutil
import pytest

from studio.domain.errors import ErrorInfo, StudioError
from studio.domain.metrics import EngineSample
from studio.domain.server import EngineState
from studio.domain.settings import CareSettings, OnDeath, OnStall
from studio.host import orphans, processes
from studio.monitor import prometheus
from studio.serving import diagnose, evidence, life, liveness, machine
from studio.serving.life import Target
from tests.fakes.waiting import gone, until_async
from tests.serving.keeping import LIMIT_S, Keeping, keeping, refused

READY, FAILED, BACKING_OFF = EngineState.READY, EngineState.FAILED, EngineState.BACKING_OFF


@pytest.fixture(autouse=True)
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the long waits out: they are figures, not behaviour."""
    monkeypatch.setattr(machine, "retry_delay_s", lambda _machine: 0.01)
    monkeypatch.setattr(liveness, "SHOWN_AFTER_S", 0.05)
    monkeypatch.setattr(liveness, "SUSPICIOUS_S", 0.1)


async def figures(target: Target) -> EngineSample | None:
    """Return what the engine says of itself, as the sampler reads it."""
    authorization = (b"authorization", f"Bearer {target.key}".encode())
    with contextlib.suppress(StudioError, TimeoutError):
        async with asyncio.timeout(0.9):
            _, _, body = await target.upstream.fetch(
                "GET", "/metrics", headers=[authorization], timeout_s=5
            )
            return prometheus.parse(body.decode())
    return None


async def watch(kept: Keeping, *, in_flight: int = 1) -> None:
    """Read its figures as fast as can be, until it is no longer ready."""
    while (target := kept.supervisor.target) is not None:
        kept.supervisor.see(await figures(target), in_flight)
        await asyncio.sleep(0)


async def ask(target: Target) -> str:
    """Ask for an answer; return the code of the error that it ends with."""
    headers = [
        (b"content-type", b"application/json"),
        (b"authorization", f"Bearer {target.key}".encode()),
    ]
    body = b'{"model": "smollm2", "prompt": "x", "max_tokens": 100}'
    try:
        await target.upstream.fetch(
            "POST", "/v1/completions", headers=headers, body=body, timeout_s=LIMIT_S
        )
    except StudioError as error:
        return error.code
    return "answered"


def pids_of(kept: Keeping, role: str) -> list[int]:
    """Return the process ids of one part of this engine; other tests may have children, too."""
    rows = processes.tree(os.getpid(), own_role="service")
    ours = {process.pid for process in processes.marked(kept.home)}
    return [row.pid for row in rows if row.role == role and row.pid in ours]


def pid_of(kept: Keeping, role: str) -> int:
    """Return the process id of one part of the engine."""
    return pids_of(kept, role)[0]


@pytest.mark.parametrize("role", ["engine-core", "worker"])
async def test_a_dead_engine_behind_a_live_server_is_noticed_at_once(
    tmp_path: Path, role: str
) -> None:
    """Its `/health` says 200, and so it would for ever."""
    async with keeping(tmp_path) as kept:
        await kept.supervisor.ensure_ready(kept.launch(fault="deaf"))
        before = {process.pid for process in processes.marked(kept.home)}
        target = kept.supervisor.target
        assert target is not None

        os.kill(pid_of(kept, role), signal.SIGKILL)
        down = await kept.until_state(BACKING_OFF)  # nobody reads its figures here
        back = await kept.until_state(READY)

        assert down.error is not None
        assert back.restarts == 1
        await gone(before)


async def test_what_died_is_named_where_the_log_does_not_say(tmp_path: Path) -> None:
    """`The engine ended` is no cause; which of its processes is one."""
    async with keeping(tmp_path) as kept:
        await kept.supervisor.ensure_ready(kept.launch(fault="deaf"))
        core, worker = pid_of(kept, "engine-core"), pid_of(kept, "worker")

        os.kill(core, signal.SIGKILL)
        down = await kept.until_state(BACKING_OFF)

        # The worker ends with its parent: on a busy machine its end may be heard of first.
        assert down.error is not None
        said = down.error.message
        assert f"EngineCore (process {core})" in said or f"(process {worker})" in said


async def test_what_died_is_named_where_the_log_names_an_echo(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`A process died` is all that the processes left know of one that was killed."""
    echo = ErrorInfo(code="worker-crashed", message="A process of the engine died.")
    monkeypatch.setattr(diagnose, "diagnose", lambda *_: echo)
    async with keeping(tmp_path) as kept:
        await kept.supervisor.ensure_ready(kept.launch(fault="deaf"))
        worker = pid_of(kept, "worker")

        os.kill(worker, signal.SIGKILL)
        down = await kept.until_state(BACKING_OFF)

        assert down.error is not None
        assert down.error.code == "worker-crashed"
        assert f"(process {worker}) end first" in down.error.message


async def test_a_boot_that_lost_a_process_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server waits for a worker that was killed while it loaded, for a quarter of an hour."""
    monkeypatch.setattr(life, "_BOOT_PART_S", 0.1)
    async with keeping(tmp_path) as kept, asyncio.TaskGroup() as tasks:
        starting = tasks.create_task(refused(kept, kept.launch(boot_s=6.0)))
        await until_async(lambda: bool(pids_of(kept, "engine-core")), "EngineCore")
        core = pid_of(kept, "engine-core")
        await until_async(lambda: any(f"pid={core}" in one.text for one in kept.lines()), "a word")

        os.kill(core, signal.SIGKILL)
        error = await starting

        assert f"EngineCore (process {core})" in error.message
        assert error.code == "engine-killed"
        assert kept.supervisor.state is FAILED
        assert kept.left() == []


async def test_an_engine_that_stands_still_is_started_again(tmp_path: Path) -> None:
    """Whoever waits for it gets an end, and the next one an answer."""
    async with asyncio.timeout(LIMIT_S), keeping(tmp_path) as kept, asyncio.TaskGroup() as tasks:
        launch = kept.launch(fault="stall-after=1", stall_s=0.5)
        first = await kept.supervisor.ensure_ready(launch)
        target = kept.supervisor.target
        assert target is not None
        asking = tasks.create_task(ask(target))
        tasks.create_task(watch(kept))

        down = await kept.until_state(BACKING_OFF)
        back = await kept.until_state(READY)

        assert await asking == "engine-cut-off"
        assert down.error is not None
        assert down.error.code == "engine-stalled"
        assert "1 request" in down.error.message
        assert back.pid != first.pid
        shown = [one for one in kept.seen if one.stalled_s is not None]
        assert shown
        assert all(one.note for one in shown)


async def test_a_stopped_server_stands_still_too(tmp_path: Path) -> None:
    """It answers nothing at all, and none of its processes has ended."""
    async with asyncio.timeout(LIMIT_S), keeping(tmp_path) as kept, asyncio.TaskGroup() as tasks:
        first = await kept.supervisor.ensure_ready(kept.launch(stall_s=0.5))
        assert first.pid is not None
        tasks.create_task(watch(kept, in_flight=0))

        os.kill(first.pid, signal.SIGSTOP)
        down = await kept.until_state(BACKING_OFF)

        assert down.error is not None
        assert "not answered" in down.error.message


@pytest.mark.parametrize("action", [OnStall.WAIT, OnStall.TELL])
async def test_a_standstill_may_be_left_alone(tmp_path: Path, action: OnStall) -> None:
    """Who debugs a hang wants it as it lies; `tell` shows it as an error, `wait` as a note."""
    care = CareSettings(on_stall=action, stall_s=0.3)
    async with asyncio.timeout(LIMIT_S), keeping(tmp_path, care=lambda: care) as kept:
        async with asyncio.TaskGroup() as tasks:
            first = await kept.supervisor.ensure_ready(kept.launch(fault="stall-after=1"))
            target = kept.supervisor.target
            assert target is not None
            asking = tasks.create_task(ask(target))
            watching = tasks.create_task(watch(kept))
            still = await kept.until(
                lambda now: (
                    (now.stalled_s or 0) > 0.5 and (action is OnStall.WAIT or now.error is not None)
                )
            )
            watching.cancel()
            await kept.supervisor.stop()
            assert await asking == "engine-cut-off"

        assert (still.state, still.pid) == (READY, first.pid)
        code = still.error.code if still.error is not None else None
        assert code == ("engine-stalled" if action is OnStall.TELL else None)


async def test_a_standstill_that_was_told_of_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever saw the error sees its end too, and `weir fix` offers nothing any more."""
    monkeypatch.setattr(liveness, "SHOWN_AFTER_S", 60.0)
    care = CareSettings(on_stall=OnStall.TELL, stall_s=0.3)
    async with asyncio.timeout(LIMIT_S), keeping(tmp_path, care=lambda: care) as kept:
        async with asyncio.TaskGroup() as tasks:
            first = await kept.supervisor.ensure_ready(kept.launch())
            assert first.pid is not None
            watching = tasks.create_task(watch(kept, in_flight=0))
            os.kill(first.pid, signal.SIGSTOP)
            await kept.until(lambda now: now.error is not None)

            os.kill(first.pid, signal.SIGCONT)
            back = await kept.until(lambda now: now.error is None)
            watching.cancel()

        assert (back.state, back.pid) == (READY, first.pid)


async def test_an_engine_that_hangs_unseen_is_asked_for_a_token(tmp_path: Path) -> None:
    """Its figures say that it has nothing to do; a request that does not come back says otherwise.

    The probe's own request is the second here, and stalls.
    """
    async with asyncio.timeout(LIMIT_S), keeping(tmp_path) as kept:
        await kept.supervisor.ensure_ready(kept.launch(fault="stall-after=1", stall_s=0.5))
        target = kept.supervisor.target
        assert target is not None
        while kept.supervisor.state is READY:
            await figures(target)
            kept.supervisor.see(EngineSample(running=0.0, waiting=0.0), 1)

        assert (await kept.until_state(BACKING_OFF)).error is not None


async def test_a_death_may_only_be_told(tmp_path: Path) -> None:
    """Who wants to look into it first finds it as it died."""
    care = CareSettings(on_death=OnDeath.TELL)
    async with keeping(tmp_path, care=lambda: care) as kept:
        first = await kept.supervisor.ensure_ready(kept.launch())
        assert first.pid is not None

        os.kill(first.pid, signal.SIGKILL)
        failed = await kept.until_state(FAILED)

        assert failed.restarts == 0
        assert failed.error is not None


async def test_the_brake_says_why_and_keeps_the_evidence(tmp_path: Path) -> None:
    """Three deaths in ten minutes: left down, with a folder for each."""
    async with keeping(tmp_path) as kept:
        await kept.supervisor.ensure_ready(kept.launch(fault="die-after=0.1"))

        failed = await kept.until(
            lambda now: now.state is FAILED and now.error is not None and bool(now.error.data)
            and "folder" in now.error.data
        )  # fmt: skip

        assert failed.error is not None
        assert failed.error.code == "engine-crash-loop"
        assert "3 times within 10 minutes" in failed.error.message
        folders = evidence.folders(kept.home / "logs" / "crashes")
        assert len(folders) == 3
        assert str(failed.error.data["folder"]) in {str(one) for one in folders}
        deaths = [
            msgspec.json.decode((one / "death.json").read_bytes(), type=evidence.Death)
            for one in folders
        ]
        assert sorted(one.deaths for one in deaths) == [1, 2, 3]
        assert all("vLLM" in (one / "engine.log").read_text("utf-8") for one in folders)


async def test_a_stop_while_a_dead_engine_is_ended_means_stop(tmp_path: Path) -> None:
    """And not a restart a moment later."""
    async with keeping(tmp_path) as kept:
        await kept.supervisor.ensure_ready(kept.launch(fault="deaf"))

        os.kill(pid_of(kept, "engine-core"), signal.SIGKILL)
        async with asyncio.timeout(LIMIT_S):
            await kept.supervisor.stop()

        assert kept.supervisor.state is EngineState.STOPPED
        assert BACKING_OFF not in kept.states
        assert kept.left() == []


async def test_who_was_ended_before_a_start_is_said(tmp_path: Path) -> None:
    """In the snapshot, and in the log."""
    async with keeping(tmp_path) as kept:
        orphan = kept.leave_orphan()
        await until_async(lambda: bool(processes.marked(kept.home)), "the orphan")

        await kept.supervisor.ensure_ready(kept.launch())

        notes = {one.note for one in kept.seen if one.note}
        assert any(f"({orphan.pid})" in note for note in notes)
        assert kept.supervisor.snapshot().note is None
        assert any(f"({orphan.pid})" in line.text for line in kept.lines())
        orphan.communicate(timeout=LIMIT_S)


async def test_the_engine_is_written_down_while_it_lives(tmp_path: Path) -> None:
    """A service that comes after a kill of this one finds what lost its marker."""
    async with keeping(tmp_path) as kept:
        ready = await kept.supervisor.ensure_ready(kept.launch())
        await until_async(lambda: orphans.recorded(kept.home) is not None, "the record")
        recorded = orphans.recorded(kept.home)
        assert recorded is not None
        assert recorded.session == ready.pid

        await kept.supervisor.stop()

        assert orphans.recorded(kept.home) is None


async def test_waiting_for_what_comes_ends_as_soon_as_nothing_does(tmp_path: Path) -> None:
    """Requests wait through a restart, and not for an engine that somebody stopped."""
    async with asyncio.timeout(LIMIT_S), keeping(tmp_path) as kept, asyncio.TaskGroup() as tasks:
        assert await kept.supervisor.next_target() is None
        first = await kept.supervisor.ensure_ready(kept.launch())
        assert first.pid is not None
        os.kill(first.pid, signal.SIGKILL)
        await kept.until_state(BACKING_OFF)

        target = await kept.supervisor.next_target()

        assert target is not None
        assert kept.supervisor.state is READY
        waiting = tasks.create_task(kept.supervisor.next_target())
        await waiting
        await kept.supervisor.stop()
        assert await kept.supervisor.next_target() is None


async def test_a_stop_that_is_followed_by_a_start_is_waited_through(tmp_path: Path) -> None:
    """`weir restart` and `weir switch`: the client sees a pause and no error."""
    async with asyncio.timeout(LIMIT_S), keeping(tmp_path) as kept, asyncio.TaskGroup() as tasks:
        await kept.supervisor.ensure_ready(kept.launch())
        with kept.supervisor.returning():
            await kept.supervisor.stop()
            waiting = tasks.create_task(kept.supervisor.next_target())
            await asyncio.sleep(0)
            assert not waiting.done()
            await kept.supervisor.ensure_ready(kept.launch(number=1))
            assert await waiting is not None


async def test_tensor_parallel_workers_are_each_missed(tmp_path: Path) -> None:
    """One of two workers is enough to stop all tokens; the other one lives on."""
    async with keeping(tmp_path) as kept:
        launch = kept.launch(fault="deaf")
        launch = dataclasses.replace(launch, argv=(*launch.argv, "--tensor-parallel-size", "2"))
        await kept.supervisor.ensure_ready(launch)
        workers = [
            one.pid
            for one in processes.marked(kept.home)
            if processes.title(one).startswith("VLLM::Worker_TP")
        ]
        assert len(workers) == 2
        found = next(one for one in processes.marked(kept.home) if one.pid == workers[1])
        assert isinstance(found, psutil.Process)

        os.kill(workers[1], signal.SIGKILL)
        back = await kept.until(lambda now: now.state is READY and now.restarts == 1)

        assert back.error is None
        await gone(workers)


async def test_what_the_last_death_was_is_known_until_somebody_starts_it(tmp_path: Path) -> None:
    """Healed in the night, asked about in the morning."""
    async with keeping(tmp_path) as kept:
        await kept.supervisor.ensure_ready(kept.launch(fault="deaf"))
        core = pid_of(kept, "engine-core")

        os.kill(core, signal.SIGKILL)
        back = await kept.until(lambda now: now.state is READY and now.restarts == 1)

        assert back.error is None
        assert back.died_of is not None
        assert f"EngineCore (process {core})" in back.died_of
        await kept.supervisor.stop()
        assert (await kept.supervisor.ensure_ready(kept.launch())).died_of is None


async def test_the_last_death_outlives_the_service(tmp_path: Path) -> None:
    """The service is started again too, by systemd or a terminal; who asks then, knows."""
    left = tmp_path / "left"
    async with keeping(tmp_path) as kept:
        await kept.supervisor.ensure_ready(kept.launch(fault="deaf"))
        os.kill(pid_of(kept, "engine-core"), signal.SIGKILL)
        back = await kept.until(lambda now: now.state is READY and now.restarts == 1)
        crashes = kept.home / "logs" / "crashes"
        await until_async(lambda: bool(evidence.folders(crashes)), "evidence")
        shutil.copytree(crashes, left)
    assert back.died_of is not None
    assert back.died_at is not None

    async with keeping(tmp_path, crashes=left) as kept:
        stopped = kept.supervisor.snapshot()
        assert stopped.died_of == back.died_of
        assert stopped.died_at == pytest.approx(back.died_at, abs=2)
        first = await kept.supervisor.ensure_ready(kept.launch())
        assert first.died_of == back.died_of, "the first start is often nobody's own wish"
        await kept.supervisor.stop()
        assert (await kept.supervisor.ensure_ready(kept.launch())).died_of is None
