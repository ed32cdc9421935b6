"""The end of processes that are not our children is heard at once."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from studio.host import pidwatch
from studio.host.pidwatch import End, PidWatch
from tests.fakes.waiting import is_alive, until, until_async

FAMILY = (
    "import subprocess, sys\n"
    "child = subprocess.Popen([sys.executable, '-c', 'import sys; sys.stdin.read()'],"
    " stdin=subprocess.PIPE)\n"
    "print(child.pid, flush=True); child.wait(); sys.stdin.read()"
)


@pytest.fixture
def family() -> Iterator[tuple[int, int]]:
    """Return the leader of a session and its child."""
    process = subprocess.Popen(
        [sys.executable, "-c", FAMILY],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdout is not None
    child = int(process.stdout.readline())
    yield process.pid, child
    os.killpg(process.pid, 9)
    process.communicate()


async def test_an_end_is_heard_once_with_its_name(family: tuple[int, int]) -> None:
    """EngineCore is the API server's child, not ours: no wait and no signal tells of it."""
    leader, child = family
    heard: list[tuple[str, int]] = []
    watch = PidWatch(leader, lambda end: heard.append((end.name, end.pid)))
    watch.add("EngineCore", child)
    watch.add("EngineCore", child)
    assert watch.pids == {child}

    os.kill(child, 9)
    await until_async(lambda: bool(heard), "the news")
    watch.add("EngineCore", child)
    await asyncio.sleep(0)

    assert heard == [("EngineCore", child)]
    assert watch.pids == frozenset()
    watch.close()


DYING_TOGETHER = """
import ctypes, os, signal, sys, threading
middle = os.fork()
if middle == 0:
    parent = os.getpid()
    child = os.fork()
    if child == 0:
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
        signal.pause()
    for _ in range(40):  # and memory, so that its own end takes longer than its child's
        threading.Thread(target=signal.pause, daemon=True).start()
    held = bytearray(200 << 20)
    held[::4096] = b"x" * len(held[::4096])
    print(parent, child, flush=True)
    signal.pause()
sys.stdin.read()
"""


def begun(code: str) -> tuple[subprocess.Popen[bytes], int, int]:
    """Return the leader of a session, a process below it, and one below that."""
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdout is not None
    core, worker = (int(word) for word in process.stdout.readline().split())
    return process, core, worker


async def test_of_two_that_end_together_the_one_above_was_first() -> None:
    """The handle of a large process is readable later than that of the child that it takes along.

    Seen with a real EngineCore: once in four its worker was named as what had died.
    """
    heard: list[str] = []
    for _ in range(8):
        process, core, worker = begun(DYING_TOGETHER)
        ends: list[str] = []
        watch = PidWatch(process.pid, lambda end, ends=ends: ends.append(end.name))
        watch.add("Worker", worker)
        watch.add("EngineCore", core)

        os.kill(core, 9)
        await until_async(lambda ends=ends: len(ends) == 2, "both ends")
        heard.append(ends[0])
        watch.close()
        process.communicate()

    assert heard == ["EngineCore"] * 8


async def test_a_process_above_that_ends_by_itself_later_was_not_first() -> None:
    """EngineCore follows its worker in an orderly way; a loop that looks late sees both at once."""
    code = (
        "import os, signal, sys\n"
        "middle = os.fork()\n"
        "if middle == 0:\n"
        "    child = os.fork()\n"
        "    if child == 0: signal.pause()\n"
        "    print(os.getpid(), child, flush=True)\n"
        "    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)\n"
        "    os._exit(1)\n"
        "sys.stdin.read()"
    )
    process, core, worker = begun(code)
    heard: list[str] = []
    watch = PidWatch(process.pid, lambda end: heard.append(end.name))
    watch.add("Worker", worker)
    watch.add("EngineCore", core)

    os.kill(worker, 9)
    until(lambda: not is_alive(core), "the end of both")  # the loop stands still meanwhile
    await until_async(lambda: len(heard) == 2, "both ends")

    assert heard == ["Worker", "EngineCore"]
    watch.close()
    process.communicate()


@pytest.mark.parametrize("number", [9, 11, 15])
async def test_the_signal_is_told(family: tuple[int, int], number: int) -> None:
    """What a kill means for memory or a driver is in the number; the log has nothing of it."""
    leader, child = family
    heard: list[End] = []
    watch = PidWatch(leader, heard.append)
    watch.add("EngineCore", child)

    os.kill(child, number)
    await until_async(lambda: bool(heard), "the news")

    assert heard == [End("EngineCore", child, number)] or heard[0].signal is None  # taken up
    watch.close()


async def test_an_orderly_end_has_no_signal() -> None:
    """Then the rest may still say why, and is given the time for it."""
    process, core, worker = begun(
        "import os, sys\n"
        "middle = os.fork()\n"
        "if middle == 0:\n"
        "    child = os.fork()\n"
        "    if child == 0: sys.stdin.read(); os._exit(3)\n"
        "    print(os.getpid(), child, flush=True)\n"
        "    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)\n"
        "    import signal; signal.pause()\n"
        "import signal; signal.pause()"
    )
    heard: list[End] = []
    watch = PidWatch(process.pid, heard.append)
    watch.add("EngineCore", core)
    watch.add("Worker", worker)

    assert process.stdin is not None
    process.stdin.close()
    await until_async(lambda: bool(heard), "the news")

    assert heard == [End("Worker", worker, None)]
    watch.close()
    os.killpg(process.pid, 9)
    process.wait()
    assert process.stdout is not None
    process.stdout.close()


async def test_one_that_is_being_ended_is_heard_of_before_its_memory_is_back(
    family: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker with a pinned cache takes seconds to give it back; the rest can go meanwhile."""
    leader, child = family
    heard: list[End] = []
    watch = PidWatch(leader, heard.append)
    watch.add("Worker", child)
    seen = pidwatch._stat(child)
    assert seen is not None
    assert not seen.is_ending

    ending = seen._replace(is_ending=True, by_signal=True, signal=0)  # not written yet
    monkeypatch.setattr(pidwatch, "_stat", lambda _pid: ending)
    await until_async(lambda: bool(heard), "the news")

    assert heard == [End("Worker", child, 9)]
    assert is_alive(child)
    watch.close()


async def test_strangers_are_not_watched(family: tuple[int, int]) -> None:
    """Anybody can write `(EngineCore pid=1)` into a log; the end of that is no end of an engine."""
    leader, _child = family
    watch = PidWatch(leader, lambda _end: None)

    for pid in (os.getpid(), 1, 999_999_999):
        watch.add("x", pid)

    assert watch.pids == frozenset()


async def test_nothing_is_left_open(family: tuple[int, int]) -> None:
    """A thousand starts must not cost a thousand handles."""
    leader, child = family
    before = _handles()
    for _ in range(5):
        watch = PidWatch(leader, lambda _end: None)
        watch.add("x", child)
        watch.close()

    assert _handles() == before


def _handles() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))
