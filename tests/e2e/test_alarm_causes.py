"""Alarms from their real causes: a kernel that swaps, throws out and limits; a disk that is full.

Real readings, the real judge and the rules that ship; only the engine is a stand-in, but for the
last test, which limits the real one.
"""

import asyncio
import contextlib
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import msgspec
import psutil
import pytest

from studio.app.alarms import Alarms
from studio.app.run_facts import RunFacts
from studio.app.spill import Spill
from studio.domain.alarms import Alarm
from studio.domain.errors import NotFound
from studio.domain.manifests import Preset
from studio.domain.metrics import EngineSample, Tick
from studio.domain.server import EngineSnapshot, EngineState
from studio.domain.spill import SpillKind
from studio.monitor.alarm_file import load
from tests.conftest import INSTALL_LIMIT_S, Serving
from tests.fakes.memory_groups import Group, group, small_disk, swap_file
from tests.fakes.waiting import LIMIT_S, until, until_async
from tests.monitor.scenes import FILE

HOG = Path(__file__).resolve().parents[1] / "fakes" / "memory_hog.py"
MIB = 1 << 20
SETTLE_S = 5.0
LATENCY_S = 5.0
SECOND_S = 0.25
"""A monitor's second, made shorter: the judge counts seconds of the clock, not ticks."""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="causes of Linux")


def no_preset(_name: str) -> Preset:
    """Say that there is none."""
    raise NotFound("preset-unknown", "There is none.")


class Monitor:
    """The Studio's monitor over one process that stands in for an engine."""

    def __init__(self, folder: Path, pid: int | None, disks: dict[str, Path]) -> None:
        self.engine = EngineSnapshot()
        if pid is not None:
            self.engine = EngineSnapshot(state=EngineState.READY, pid=pid)
        self.told: list[tuple[float, Alarm]] = []
        self.ticks: list[Tick] = []
        file = load(FILE)
        self.spill = Spill(
            folder / "kept.json", file.intended, engine=lambda: self.engine, target=lambda: None
        )
        self.alarms = Alarms(
            rules=file.rules,
            mutes=folder / "alarms.json",
            folders=disks,
            spill=self.spill,
            facts=RunFacts(no_preset, is_wsl=False),
            engine=lambda: self.engine,
            publish=lambda alarm: self.told.append((time.monotonic(), alarm)),
        )

    async def run(self) -> None:
        """Look and judge, until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self.spill.run())
            tasks.create_task(self.alarms.run())
            tasks.create_task(self._tick())

    async def _tick(self) -> None:
        while True:
            memory = psutil.virtual_memory()
            tick = Tick(at=time.time(), running=1, memory_bytes=memory.total)
            tick = await self.spill.complete(tick, EngineSample())
            self.ticks.append(tick)
            self.alarms.hear(tick)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(SECOND_S):
                    await asyncio.Event().wait()

    async def raised(self, code: str) -> Alarm:
        """Return an alarm as soon as it holds."""
        await until_async(lambda: self.find(code) is not None, f"the alarm {code}", limit_s=LIMIT_S)
        found = self.find(code)
        assert found is not None
        return found

    def find(self, code: str) -> Alarm | None:
        """Return an alarm that holds."""
        return next((one for one in self.alarms.active if one.code == code), None)


@contextlib.asynccontextmanager
async def monitor(
    folder: Path,
    pid: int | None,
    disks: dict[str, Path] | None = None,
    *,
    settles: bool = True,
) -> AsyncIterator[Monitor]:
    """Yield a monitor that runs, and whose engine has settled where that counts."""
    made = Monitor(folder, pid, disks or {})
    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(made.run())
        try:
            if settles:
                began = time.monotonic()
                await until_async(lambda: time.monotonic() - began > SETTLE_S, "the settling")
            yield made
        finally:
            task.cancel()


@contextlib.contextmanager
def hog(how: str, what: str, within: Group | None = None) -> Iterator[int]:
    """Yield the process id of a hog that is ready; it begins its life in `within`."""
    enter = f'echo $$ > "{within.folder}/cgroup.procs"; ' if within is not None else ""
    command = f'{enter}exec "$0" "$@"'
    with subprocess.Popen(
        ["/bin/sh", "-c", command, sys.executable, "-S", str(HOG), how, what],
        stdout=subprocess.PIPE,
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            yield process.pid
        finally:
            process.kill()


@pytest.fixture
def limited(request: pytest.FixtureRequest) -> Iterator[Group]:
    """Yield a control group of this test's own."""
    with group(f"weir-test-{os.getpid()}") as made:
        yield made


@pytest.mark.soak
async def test_a_real_swap_file_raises_the_alarm_of_swap(tmp_path: Path, limited: Group) -> None:
    """Swap is switched on, a limit pushes the engine into it, and the alarm says how much."""
    with swap_file(tmp_path, 320 * MIB), hog("cycle", str(220 * MIB), limited) as pid:
        async with monitor(tmp_path, pid) as seen:
            assert seen.find("spill-swap") is None, "the healthy twin: nothing is swapped yet"

            await asyncio.to_thread(limited.limit, 100 * MIB)
            alarm = await seen.raised("spill-swap")
            pressed = await seen.raised("memory-pressure")
            found = {one.kind: one for one in seen.ticks[-1].spill}

    assert "of the engine in swap" in alarm.title
    assert alarm.raised_at - alarm.since <= LATENCY_S
    assert (found[SpillKind.SWAP].bytes or 0) > 64 * MIB
    assert (found[SpillKind.SWAP].bytes_per_s or 0) > MIB
    assert (seen.ticks[-1].spill_bytes or 0) > 64 * MIB
    assert pressed.where is not None


async def test_a_real_limit_raises_the_alarm_of_limits(tmp_path: Path, limited: Group) -> None:
    """A container that is nearly full of what cannot be given back."""
    limited.limit(400 * MIB)
    with hog("hold", str(150 * MIB), limited) as pid:
        async with monitor(tmp_path, pid, settles=False) as seen:
            await until_async(lambda: len(seen.ticks) > 5, "some seconds")
            assert seen.find("memory-limit-near") is None, "a third of it is in use"

            limit = round(held(limited) / 0.97)
            await asyncio.to_thread(limited.limit, limit)
            alarm = await seen.raised("memory-limit-near")
            assert alarm.raised_at - alarm.since <= LATENCY_S

    assert alarm.where == f"/{limited.folder.name}"
    assert "that the container allows" in alarm.title


@pytest.mark.soak
@pytest.mark.parametrize("how", ["walk", "once"])
async def test_mapped_weights_that_do_not_fit_raise_the_alarm(
    tmp_path: Path, limited: Group, how: str
) -> None:
    """Read again and again under a limit it thrashes; read once it is only loaded."""
    weights = tmp_path / "wéights.bin"
    with weights.open("wb") as file:
        for _ in range(160):
            file.write(os.urandom(MIB))
        file.flush()
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    limited.limit(80 * MIB)
    with hog(how, str(weights), limited) as pid:
        async with monitor(tmp_path, pid) as seen:
            if how == "once":
                assert seen.find("page-thrash") is None
                return
            alarm = await seen.raised("page-thrash")

    assert "read from disk again and again" in alarm.title
    assert alarm.raised_at - alarm.since <= LATENCY_S


@pytest.mark.soak
async def test_a_machine_whose_memory_is_taken_raises_the_alarm(tmp_path: Path) -> None:
    """The next that asks for some is ended by the kernel, and that is most likely the engine."""
    memory = psutil.virtual_memory()
    least = min(2 << 30, memory.total // 20)
    taken = memory.available - least * 3 // 4
    async with monitor(tmp_path, None, settles=False) as seen:
        await until_async(lambda: bool(seen.ticks), "a second")
        assert seen.find("host-memory-low") is None

        with hog("hold", str(taken)):
            alarm = await seen.raised("host-memory-low")

    assert "of memory left" in alarm.title
    assert alarm.raised_at - alarm.since <= LATENCY_S


async def test_a_disk_that_fills_up_raises_the_alarm(tmp_path: Path) -> None:
    """A real file system, filled and emptied."""
    with small_disk(tmp_path / "models", 16 * MIB) as models:
        async with monitor(tmp_path, None, {"models": models}, settles=False) as seen:
            await until_async(lambda: bool(seen.ticks), "a second")
            assert seen.find("disk-nearly-full") is None

            (models / "shard").write_bytes(b"x" * (15 * MIB + 900_000))
            alarm = await seen.raised("disk-nearly-full")

    assert "models" in alarm.title
    assert str(models) in alarm.cause


@pytest.mark.real
def test_the_real_engine_under_a_limit_raises_its_alarms(serving: Serving, limited: Group) -> None:
    """The whole way: the kernel's limit, the service, and `weir alarms` with a remedy to take."""
    weir = serving.weir

    def codes() -> list[str]:
        return [one["code"] for one in weir.told("alarms")["active"]]

    service = next(row["pid"] for row in weir.json("ps") if row["role"] == "service")
    limited.take(service)  # what it starts from now on lies there, too
    weir.json("restart", limit_s=INSTALL_LIMIT_S)
    until(lambda: weir.told()["tick"] is not None, "a second")
    assert "memory-limit-near" not in codes()
    used = held(limited)

    limited.limit(round(used / 0.97))
    began = time.monotonic()
    until(lambda: "memory-limit-near" in codes(), "the alarm")
    passed_s = time.monotonic() - began
    alarm = next(one for one in weir.json("alarms")["active"] if one["code"] == "memory-limit-near")
    offered = weir.json("fix")["offered"]
    limited.limit(None)

    assert passed_s < LIMIT_S
    assert msgspec.convert(alarm, Alarm).where == f"/{limited.folder.name}"
    ways = [one for one in offered if one["about"] == "memory-limit-near"]
    assert any(one["remedy"]["settings"] == {"kv_cache_memory_bytes": "536870912"} for one in ways)
    until(lambda: "memory-limit-near" not in codes(), "its end")
    answer = weir.run("alarms")
    assert "Over at" in answer.stdout


def held(limited: Group) -> int:
    """Return what the group holds that cannot be given back."""
    stat = dict(
        line.split()[:2]
        for line in (limited.folder / "memory.stat").read_text(encoding="ascii").splitlines()
    )
    names = [name for name in ("usage_in_bytes", "current") if _file(limited, name).exists()]
    used = int(_file(limited, names[0]).read_text())
    prefix = "total_" if "total_inactive_file" in stat else ""
    return used - int(stat[f"{prefix}inactive_file"]) - int(stat[f"{prefix}active_file"])


def _file(limited: Group, name: str) -> Path:
    return limited.folder / f"memory.{name}"
