"""Whoever is killed: nothing survives, nobody restarts for nothing, and it is soon shown."""

import statistics
import sys
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import psutil
import pytest

from studio.domain.control import UpRequest
from studio.serving import machine
from tests.app.running import Running, fake_paths, running
from tests.conftest import Serving
from tests.fakes import deaths
from tests.fakes.deaths import PARTS, Round
from tests.fakes.waiting import LIMIT_S, is_alive, until_async
from tests.fakes.weir import Weir

SEED = 20261129
FEW, MANY, REAL = 3, 100, 3
SHOWN_S = 2.0
OVER_BOOT_S = 1.0
CYCLES, MANY_CYCLES, REAL_CYCLES = 10, 1000, 5
WARM, REAL_WARM = 5, 1
"""Cycles until pools of threads and caches are as large as they get."""
REAL_LIMIT_S = 900.0
"""For a command that boots the real engine, which takes minutes beside seven other builds."""
MOST_GROWTH_BYTES = 24 << 20
"""The log's ring and the history fill up; a leak of a kilobyte a cycle is twice as much a day."""

Tell = Callable[[str], None]


@pytest.fixture
def tell(capsys: pytest.CaptureFixture[str]) -> Tell:
    """Return a function that prints figures past the capture."""

    def write(text: str) -> None:
        with capsys.disabled():
            sys.stdout.write(f"\n{text}\n")

    return write


@pytest.fixture
async def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Running]:
    """Return a Studio over an engine of two workers, whose brake is out."""
    monkeypatch.setattr(machine, "CRASH_LIMIT", 10_000)
    monkeypatch.setattr(machine, "CRASH_WINDOW_S", 0.0)  # each death is the first
    with fake_paths(tmp_path, boot_s=0.1, workers=2) as paths:
        async with running(paths) as one:
            yield one


def check(rounds: list[Round], *, over_boot_s: float) -> None:
    """Hold rounds against the figures that were promised.

    By their median: half of a restart is the start of processes, for which a busy machine takes
    its time. Of many rounds one in twenty may be shown late.
    """
    assert statistics.median(one.down_s for one in rounds) <= SHOWN_S, deaths.table(rounds)
    if len(rounds) >= MANY:
        late = [one for one in rounds if one.down_s > SHOWN_S]
        assert len(late) <= len(rounds) // 20, late
    assert statistics.median(one.over_boot_s for one in rounds) <= over_boot_s, deaths.table(rounds)


async def test_parts_of_the_engine_killed_a_few_times(made: Running) -> None:
    """The sample that every run takes: API server, EngineCore, one of two workers."""
    rounds = await deaths.kill_parts(made.studio, PARTS, FEW, SEED)

    assert len(rounds) == FEW * len(PARTS)
    check(rounds, over_boot_s=3 * OVER_BOOT_S)  # on a machine that has other things to do


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("part", PARTS)
async def test_parts_of_the_engine_killed_100_times(made: Running, part: str, tell: Tell) -> None:
    """Zero survivors, zero restarts that nobody caused."""
    rounds = await deaths.kill_parts(made.studio, (part,), MANY, SEED)

    tell(deaths.table(rounds))
    check(rounds, over_boot_s=OVER_BOOT_S)


def test_a_service_and_then_a_terminal_are_killed(weir: Weir) -> None:
    """The kernel's memory killer takes either; nothing of an engine stays."""
    assert deaths.kill_service(weir) < LIMIT_S
    assert deaths.kill_terminal(weir) < LIMIT_S

    assert weir.engine_pids() == []


@pytest.mark.soak
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("victim", ["service", "terminal"])
def test_a_service_and_a_terminal_killed_100_times(weir: Weir, victim: str, tell: Tell) -> None:
    """Zero survivors."""
    kill = deaths.kill_service if victim == "service" else deaths.kill_terminal
    took_s = sorted(kill(weir) for _ in range(MANY))

    tell(f"{victim}: nothing left after {took_s[MANY // 2]:.2f} s (worst {took_s[-1]:.2f} s)")
    assert weir.engine_pids() == []


def test_what_two_kills_in_one_instant_leave_is_ended_by_the_next_start(weir: Weir) -> None:
    """Nobody is left to end the engine then; whoever starts the next one does, and says so."""
    left = deaths.kill_service_and_guard(weir)
    assert len(left) == 2, "EngineCore and its worker, which nobody ended"

    weir.json("up", "--detach")

    assert not any(is_alive(pid) for pid in left)
    log = weir.run("logs", "-n", "500").stdout
    assert "Ended 2 processes that an earlier run left" in log
    assert all(f"({pid})" in log for pid in left)


def children() -> set[int]:
    """Return the processes below this one; other tests of the run may have some of their own."""
    return {one.pid for one in psutil.Process().children(recursive=True)}


class Census:
    """What this process and its children hold."""

    def __init__(self) -> None:
        me = psutil.Process()
        self.fds = me.num_fds()
        # The loop's pool grows to its limit as it is used, and stays there.
        self.threads = sum(not one.name.startswith("asyncio_") for one in threading.enumerate())
        self.children = children()
        self.rss_bytes = me.memory_info().rss

    def __str__(self) -> str:
        """Return it for a table."""
        return (
            f"{self.fds} handles, {self.threads} threads, {len(self.children)} children, "
            f"{self.rss_bytes / 2**20:.1f} MiB"
        )


async def cycle(made: Running, count: int, *, warm: int = WARM) -> tuple[Census, Census]:
    """Start and stop the engine so many times; return what was held before and after."""
    before = Census()
    others = before.children
    for number in range(count + warm):
        if number == warm:
            await until_async(lambda: children() <= others, "the end of all children")
            before = Census()
        await made.studio.up(UpRequest())
        await made.studio.stop()
        made.heard.clear()
    await until_async(lambda: children() <= others, "the end of all children")
    return before, Census()


def check_census(before: Census, after: Census) -> None:
    """Nothing may have grown."""
    assert after.fds <= before.fds, (str(before), str(after))
    assert after.threads <= before.threads, (str(before), str(after))
    assert after.children <= before.children
    assert after.rss_bytes - before.rss_bytes < MOST_GROWTH_BYTES, (str(before), str(after))


async def test_10_starts_and_stops_leak_nothing(made: Running) -> None:
    """The sample that every run takes."""
    check_census(*await cycle(made, CYCLES))


@pytest.mark.soak
@pytest.mark.timeout(7200)
async def test_1000_starts_and_stops_leak_nothing(made: Running, tell: Tell) -> None:
    """Handles, threads, processes, memory."""
    before, after = await cycle(made, MANY_CYCLES)

    tell(f"after {WARM} cycles: {before}\nafter {MANY_CYCLES + WARM}: {after}")
    check_census(before, after)


@pytest.fixture
async def real_made(
    serving: Serving, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[tuple[Running, UpRequest]]:
    """Return a Studio in this process over the real engine's home, whose brake is out.

    Afterwards the service of that home serves again, for whoever shares it.
    """
    monkeypatch.setattr(machine, "CRASH_LIMIT", 10_000)
    monkeypatch.setattr(machine, "CRASH_WINDOW_S", 0.0)
    serving.weir.run("down", limit_s=REAL_LIMIT_S)
    async with running(serving.weir.paths) as one:
        yield one, UpRequest(preset=str(serving.result["preset"]))
    serving.weir.json("up", "--detach", limit_s=REAL_LIMIT_S)


@pytest.mark.real
@pytest.mark.soak
@pytest.mark.timeout(7200)
async def test_parts_of_the_real_engine_killed_3_times(
    real_made: tuple[Running, UpRequest], tell: Tell
) -> None:
    """As the fake one, whose deaths were recorded from it."""
    made, request = real_made
    rounds = await deaths.kill_parts(
        made.studio, PARTS, REAL, SEED, request=request, limit_s=REAL_LIMIT_S
    )

    tell(deaths.table(rounds))
    check(rounds, over_boot_s=OVER_BOOT_S)


@pytest.mark.real
@pytest.mark.soak
@pytest.mark.timeout(3600)
async def test_5_starts_and_stops_of_the_real_engine_leak_nothing(
    real_made: tuple[Running, UpRequest], tell: Tell
) -> None:
    """Handles, threads, processes, memory of the Studio."""
    before, after = await cycle(real_made[0], REAL_CYCLES, warm=REAL_WARM)

    tell(f"after {REAL_WARM} cycle: {before}\nafter {REAL_CYCLES + REAL_WARM}: {after}")
    check_census(before, after)


@pytest.mark.real
@pytest.mark.soak
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("victim", ["service", "terminal"])
def test_a_service_and_a_terminal_of_the_real_engine_killed_3_times(
    serving: Serving, victim: str, tell: Tell
) -> None:
    """Worker and EngineCore of the real one hold gigabytes."""
    weir = serving.weir
    weir.run("down", limit_s=REAL_LIMIT_S)
    kill = deaths.kill_service if victim == "service" else deaths.kill_terminal
    took_s = sorted(kill(weir, limit_s=REAL_LIMIT_S) for _ in range(REAL))

    tell(f"{victim}: nothing left after {took_s[REAL // 2]:.2f} s (worst {took_s[-1]:.2f} s)")
    assert weir.engine_pids() == []
    weir.json("up", "--detach", limit_s=REAL_LIMIT_S)  # for whoever shares the engine
