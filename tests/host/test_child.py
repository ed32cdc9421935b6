"""The guard, with real processes: whoever dies, nothing of an engine stays."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import psutil
import pytest

from studio.domain.errors import EngineFailed
from studio.host import child, orphans, processes
from studio.host.child import Child
from tests.fakes.waiting import gone, until, until_async

FAMILY = """
import os, signal, subprocess, sys, time
if "stubborn" in sys.argv:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
sleeper = "import time\\nwhile True: time.sleep(60)"
core = subprocess.Popen([sys.executable, "-c", sleeper])
alone = subprocess.Popen([sys.executable, "-c", sleeper], start_new_session=True)
print("family", os.getpid(), core.pid, alone.pid, flush=True)
if "leave" in sys.argv:
    sys.exit(3)
while True:
    time.sleep(60)
"""

SERVICE = """
import asyncio, sys
from pathlib import Path
from studio.host import child
async def main():
    running = await child.start(tuple(sys.argv[1:]), {}, python=sys.executable, cwd=Path("/"),
                                grace_s=1.0)
    await running.pump(lambda data: (sys.stdout.buffer.write(data), sys.stdout.flush()))
asyncio.run(main())
"""


class Engine:
    """A family of three: leader, child in its group, grandchild in a session of its own."""

    def __init__(self, running: Child) -> None:
        self.running = running
        self.output = b""
        self.spoke = asyncio.Event()

    def hear(self, data: bytes) -> None:
        """Take a piece of its output."""
        self.output += data
        if b"\n" in self.output:
            self.spoke.set()

    async def pids(self) -> list[int]:
        """Return the family's process ids, leader first."""
        await asyncio.wait_for(self.spoke.wait(), 20)
        return [int(part) for part in self.output.split()[1:4]]


@pytest.fixture
async def start(tmp_path: Path) -> AsyncIterator[object]:
    """Return a function that starts a family; it is ended after the test."""
    engines: list[Child] = []
    pumps: list[asyncio.Task[None]] = []
    async with asyncio.TaskGroup() as tasks:

        async def begin(*words: str) -> Engine:
            running = await child.start(
                (sys.executable, "-c", FAMILY, *words),
                {child.MARKER: str(tmp_path)},
                python=sys.executable,
                cwd=Path("/"),
                grace_s=1.0,
            )
            engine = Engine(running)
            engines.append(running)
            pumps.append(tasks.create_task(running.pump(engine.hear)))
            return engine

        yield begin
        for running in engines:
            await running.close()
        for pump in pumps:
            pump.cancel()


async def test_a_clean_stop_ends_the_whole_family(start) -> None:
    """Workers in a session of their own are the ones that stay behind elsewhere."""
    engine = await start()
    pids = await engine.pids()

    engine.running.terminate()

    assert await engine.running.wait() == -signal.SIGTERM
    await gone(pids)


async def test_a_killed_leader_takes_its_children_along(start) -> None:
    """vLLM's EngineCore survives a SIGKILL of its API server, and holds the card."""
    engine = await start()
    pids = await engine.pids()

    os.kill(pids[0], signal.SIGKILL)

    assert await engine.running.wait() == -signal.SIGKILL
    await gone(pids)


async def test_a_leader_that_leaves_takes_its_children_along(start) -> None:
    """The exit code is the leader's own."""
    engine = await start("leave")
    pids = await engine.pids()

    assert await engine.running.wait() == 3
    await gone(pids)


async def test_a_killed_guard_leaves_nothing_that_a_sweep_does_not_find(
    start, tmp_path: Path
) -> None:
    """The guard is one more process that the system may kill when memory is short."""
    engine = await start()
    pids = await engine.pids()

    os.kill(engine.running.guard_pid, signal.SIGKILL)

    assert await engine.running.wait() is None
    await gone(pids[:2])
    ended = orphans.sweep(tmp_path)
    assert [one.pid for one in ended] == pids[2:]  # the one in a session of its own
    await gone(pids)


async def test_a_stubborn_engine_is_killed(start) -> None:
    """SIGTERM can be ignored."""
    engine = await start("stubborn")
    pids = await engine.pids()
    engine.running.terminate()

    engine.running.kill()

    assert await engine.running.wait() == -signal.SIGKILL
    await gone(pids)


@pytest.mark.parametrize("word", ["polite", "stubborn"])
async def test_a_killed_service_takes_the_engine_along(word: str) -> None:
    """Nothing may be left behind when the service itself is killed with SIGKILL."""
    service = await asyncio.create_subprocess_exec(
        sys.executable, "-c", SERVICE, sys.executable, "-c", FAMILY, word,
        stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert service.stdout is not None
    line = await asyncio.wait_for(service.stdout.readline(), 20)
    pids = [int(part) for part in line.split()[1:4]]
    guards = [process.pid for process in psutil.Process(service.pid).children()]

    service.kill()
    await service.communicate()

    await gone([*pids, *guards])


async def test_a_missing_interpreter_is_an_error_with_a_remedy() -> None:
    """A half-deleted runtime must not end in a traceback."""
    with pytest.raises(EngineFailed) as caught:
        await child.start(("x",), {}, python="/no/such/python", cwd=Path("/"), grace_s=1)

    assert caught.value.code == "engine-not-started"
    assert "/no/such/python" in caught.value.message


async def test_a_missing_engine_program_ends_with_the_shells_code(start) -> None:
    """The guard says why in the log."""
    running = await child.start(
        ("/no/such/engine",), {}, python=sys.executable, cwd=Path("/"), grace_s=1
    )
    heard: list[bytes] = []

    await running.pump(heard.append)

    assert await running.wait() == 127
    assert b"/no/such/engine cannot be started" in b"".join(heard)
    await running.close()


@pytest.mark.parametrize("late", [False, True])
async def test_a_start_that_is_cancelled_leaves_nothing(tmp_path: Path, late: bool) -> None:
    """A stop in the first milliseconds, when the engine's number is not known yet.

    On a busy machine the whole family may be there before its number is read.
    """
    starting = asyncio.get_running_loop().create_task(
        child.start(
            (sys.executable, "-c", FAMILY),
            {child.MARKER: str(tmp_path)},
            python=sys.executable,
            cwd=Path("/"),
            grace_s=60.0,
        )
    )
    await until_async(lambda: bool(processes.marked(tmp_path)), "the guard")
    if late:  # the event loop stands still meanwhile, as it may
        until(lambda: len(processes.marked(tmp_path)) == 4, "guard and family")
    (guard,) = (one for one in processes.marked(tmp_path) if one.ppid() == os.getpid())
    starting.cancel()

    with pytest.raises(asyncio.CancelledError):
        await starting

    assert not guard.is_running(), "left to the loop's own end, it would be told of later"
    await until_async(lambda: processes.marked(tmp_path) == [], "the end of all")
