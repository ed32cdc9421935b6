"""The end of processes that are not our children is heard at once."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from studio.host.pidwatch import PidWatch
from tests.fakes.waiting import until_async

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
    watch = PidWatch(leader, lambda name, pid: heard.append((name, pid)))
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


async def test_strangers_are_not_watched(family: tuple[int, int]) -> None:
    """Anybody can write `(EngineCore pid=1)` into a log; the end of that is no end of an engine."""
    leader, _child = family
    watch = PidWatch(leader, lambda _name, _pid: None)

    for pid in (os.getpid(), 1, 999_999_999):
        watch.add("x", pid)

    assert watch.pids == frozenset()


async def test_nothing_is_left_open(family: tuple[int, int]) -> None:
    """A thousand starts must not cost a thousand handles."""
    leader, child = family
    before = _handles()
    for _ in range(5):
        watch = PidWatch(leader, lambda _name, _pid: None)
        watch.add("x", child)
        watch.close()

    assert _handles() == before


def _handles() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))
