"""Readings beside one engine: compilers are believed in for a while, probes end in an answer."""

import asyncio
import contextlib
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path

import pytest

from studio.domain.errors import EngineFailed, ErrorInfo
from studio.domain.metrics import EngineSample
from studio.host import processes
from studio.serving import liveness, vigil
from studio.serving.life import Life
from studio.serving.logs import LogKeeper
from studio.serving.vigil import Vigil
from tests.fakes.waiting import until_async
from tests.serving.keeping import fake_launch

BUSY = EngineSample(running=1.0)
IDLE = EngineSample(running=0.0, waiting=0.0)


class Watched:
    """A vigil beside a life without a process, and what it said."""

    def __init__(self, life: "Unborn", tasks: asyncio.TaskGroup) -> None:
        self.life = life
        self.stalled = 0
        self.moving = 0
        self.news = 0
        self.dead: list[ErrorInfo] = []
        self.vigil = Vigil(
            life,
            begin=lambda work: _begin(tasks, work),
            on_stalled=self.on_stalled,
            on_moving=self.on_moving,
            on_dead=self.dead.append,
            on_news=self.on_news,
        )

    def on_stalled(self) -> None:
        """It stands still."""
        self.stalled += 1

    def on_moving(self) -> None:
        """It moves again."""
        self.moving += 1

    def on_news(self) -> None:
        """Something to show."""
        self.news += 1

    async def read_until(self, sample: EngineSample, holds: Callable[[], bool]) -> None:
        """Read the same figures until something holds."""
        deadline = time.monotonic() + 20
        while not holds():
            assert time.monotonic() < deadline
            self.vigil.see(sample, 1, 0.05)
            await asyncio.sleep(0)


class Unborn(Life):
    """A life whose process and token are the test's own."""

    number: int | None = 4711
    answer: Exception | None = None
    asked = 0

    @property
    def pid(self) -> int | None:
        """Return the number that the test gave it."""
        return self.number

    async def probe(self) -> bool:
        """Answer as the test says."""
        self.asked += 1
        if self.answer is not None:
            raise self.answer
        self.liveness.moved()
        return True


def _begin(tasks: asyncio.TaskGroup, work: Coroutine[None, None, None]) -> None:
    tasks.create_task(work)


@contextlib.asynccontextmanager
async def watched() -> AsyncIterator[Watched]:
    """Yield a vigil; what it began is over afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        log = LogKeeper(home / "log", clock=time.time, on_lines=lambda _lines, _dropped: None)
        life = Unborn(fake_launch(home, home), home=home, log=log, on_news=lambda: None)
        async with asyncio.timeout(30), asyncio.TaskGroup() as tasks:
            yield Watched(life, tasks)
        life.upstream.close()
        log.close()


async def test_a_standstill_is_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """And its end, too; every second of it is shown."""
    monkeypatch.setattr(liveness, "SHOWN_AFTER_S", 0.01)
    async with watched() as seen:
        await seen.read_until(BUSY, lambda: seen.stalled > 0)
        for _ in range(20):
            seen.vigil.see(BUSY, 1, 0.05)
        seen.vigil.see(EngineSample(running=2.0), 1, 0.05)

    assert (seen.stalled, seen.moving) == (1, 1)
    assert seen.news > 20


async def test_a_standstill_that_a_probe_found_ends_with_the_token() -> None:
    """The token comes between two readings; an error that stays for ever would be wrong."""
    async with watched() as seen:
        seen.vigil.see(IDLE, 0, 60.0)
        seen.life.liveness.probing()
        await seen.read_until(IDLE, lambda: seen.stalled > 0)

        seen.life.liveness.moved()
        seen.vigil.see(IDLE, 0, 60.0)

    assert (seen.stalled, seen.moving) == (1, 1)


async def test_an_engine_that_moved_during_the_look_is_not_told_of(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Looking for compilers takes a while."""
    loop = asyncio.get_running_loop()
    async with watched() as seen:
        looked = asyncio.Event()

        def is_compiling(_root: int) -> bool:
            asyncio.run_coroutine_threadsafe(moved(), loop).result(10)
            return False

        async def moved() -> None:
            seen.life.liveness.moved()
            looked.set()

        monkeypatch.setattr(processes, "is_compiling", is_compiling)
        await seen.read_until(BUSY, lambda: seen.life.liveness.pulse.is_stalled)
        await looked.wait()

    assert seen.stalled == 0


async def test_a_kernel_that_is_being_made_is_no_standstill(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Minutes on the first request of a new shape; not for ever, a compiler may hang too."""
    looks = 0

    def is_compiling(_root: int) -> bool:
        nonlocal looks
        looks += 1
        return True

    monkeypatch.setattr(processes, "is_compiling", is_compiling)
    monkeypatch.setattr(vigil, "COMPILE_LOOK_S", 0.001)
    async with watched() as seen:
        await seen.read_until(BUSY, lambda: looks > 2)
        early = seen.stalled
        await seen.read_until(BUSY, lambda: seen.stalled > 0)

    assert early == 0
    assert seen.life.liveness.pulse.still_s >= vigil.COMPILE_SHARE * 0.05


async def test_a_kernel_that_is_ready_ends_the_suspicion(monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine moves again before anybody was told."""
    looked = asyncio.Event()
    loop = asyncio.get_running_loop()

    def is_compiling(_root: int) -> bool:
        loop.call_soon_threadsafe(looked.set)
        return True

    monkeypatch.setattr(processes, "is_compiling", is_compiling)
    monkeypatch.setattr(vigil, "COMPILE_LOOK_S", 0.01)
    async with watched() as seen:
        await seen.read_until(BUSY, looked.is_set)
        seen.vigil.see(EngineSample(running=2.0), 1, 60.0)

    assert seen.stalled == 0


async def test_doubt_leads_to_one_question(monkeypatch: pytest.MonkeyPatch) -> None:
    """And an answer ends it."""
    monkeypatch.setattr(liveness, "SUSPICIOUS_S", 0.01)
    async with watched() as seen:
        await seen.read_until(IDLE, lambda: seen.life.asked > 0)

    assert (seen.life.asked, seen.dead) == (1, [])


@pytest.mark.parametrize(("pid", "deaths"), [(4711, 1), (None, 0)])
async def test_an_error_in_the_place_of_a_token_is_a_death(
    monkeypatch: pytest.MonkeyPatch, pid: int | None, deaths: int
) -> None:
    """Unless the engine has just gone by itself, which tells more."""
    monkeypatch.setattr(liveness, "SUSPICIOUS_S", 0.01)
    async with watched() as seen:
        seen.life.number = pid
        seen.life.answer = EngineFailed("engine-cannot-generate", "No.")
        await seen.read_until(IDLE, lambda: seen.life.asked > 0)

    assert len(seen.dead) == deaths
    await until_async(lambda: seen.life.asked == 1, "the only question")
