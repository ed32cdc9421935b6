"""A second of spill over a real process, a stand-in for Windows and a stand-in V100 engine."""

import asyncio
import contextlib
import dataclasses
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec

from studio.app.spill import Spill, watch_of
from studio.domain.metrics import EngineSample, Tick
from studio.domain.server import EngineSnapshot, EngineState
from studio.domain.spill import SpillKind
from studio.host.adapter_watch import AdapterWatch
from studio.monitor.alarm_file import load
from tests.app.test_slow_paths import launch
from tests.fakes.waiting import until_async
from tests.host.test_adapter_watch import GOOD, USE, stand_in
from tests.monitor.scenes import CARD, FILE

PATTERNS = load(FILE).intended
CALM = GOOD.replace(USE.format(shared=1_886_000_000), USE.format(shared=86_000_000))


class Engine:
    """An engine whose state a test chooses."""

    def __init__(self) -> None:
        self.now = EngineSnapshot()
        self.answers: list[tuple[int, bytes]] = []
        self.asked = 0
        self.key = "one"

    def serve(self) -> None:
        """Let it serve, as this very process."""
        self.now = EngineSnapshot(state=EngineState.READY, pid=os.getpid())

    @property
    def target(self) -> Any:
        """Return how it is reached."""
        return dataclasses.replace(_TARGET, upstream=self, key=self.key)

    async def fetch(self, *_call: object, **_more: object) -> tuple[int, list[Any], bytes]:
        """Answer as told."""
        self.asked += 1
        status, body = self.answers[min(self.asked, len(self.answers)) - 1]
        return status, [], body


@dataclasses.dataclass(frozen=True)
class _Reached:
    upstream: Any = None
    key: str = ""


_TARGET = _Reached()


def spill(engine: Engine, file: Path, adapters: AdapterWatch | None = None) -> Spill:
    """Return the spill of that engine."""
    return Spill(
        file, PATTERNS, engine=lambda: engine.now, target=lambda: engine.target, adapters=adapters
    )


@contextlib.asynccontextmanager
async def running(made: Spill) -> AsyncIterator[None]:
    """Let it run."""
    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(made.run())
        try:
            yield
        finally:
            task.cancel()


def of(tick: Tick, kind: SpillKind) -> Any:
    """Return the flow of a kind."""
    return next((one for one in tick.spill if one.kind is kind), None)


async def test_a_second_of_a_real_process_is_complete(tmp_path: Path) -> None:
    """What the kernel says of it, and no row for what cannot be here."""
    engine = Engine()
    engine.serve()
    made = spill(engine, tmp_path / "kept.json")

    tick = await made.complete(Tick(at=1.0), EngineSample())

    assert of(tick, SpillKind.SWAP).bytes is not None
    assert tick.spill_bytes == of(tick, SpillKind.SWAP).bytes
    assert of(tick, SpillKind.WDDM_SHARED) is None
    assert made.last is not None
    assert made.last.engine is not None
    assert os.getpid() in made.last.engine.pids


async def test_without_an_engine_nothing_is_spilled_and_nothing_zero(tmp_path: Path) -> None:
    """Unknown, with its reason."""
    tick = await spill(Engine(), tmp_path / "kept.json").complete(Tick(at=1.0), None)

    assert tick.spill_bytes is None
    assert of(tick, SpillKind.SWAP).note == "No engine runs."


async def test_a_tier_is_read_from_the_engines_own_counters(tmp_path: Path) -> None:
    """Stored and loaded, and the size from the command line."""
    engine = Engine()
    engine.serve()
    made = spill(engine, tmp_path / "kept.json")
    made.begin(launch(argv=("vllm", "serve", "--kv-offloading-size", "2")))

    tick = await made.complete(
        Tick(at=1.0),
        EngineSample(kv_store_bytes_total=1e9, kv_load_bytes_total=0.0),
    )

    assert of(tick, SpillKind.CPU_KV_TIER).bytes == 1_000_000_000
    assert of(tick, SpillKind.CPU_KV_TIER).where == "of 2.00 GiB"


async def test_windows_is_learnt_before_the_engine_and_kept(tmp_path: Path) -> None:
    """From the first line of a PowerShell to the excess of a card, and to the next service."""
    file = tmp_path / "kept.json"
    engine = Engine()
    folder = tmp_path / "bin"
    folder.mkdir()
    watch = AdapterWatch(environ=stand_in(folder, CALM))
    made = spill(engine, file, watch)
    async with running(made):
        await until_async(lambda: bool(watch.now.adapters), "a reading")
        for _ in range(3):
            await made.complete(Tick(at=1.0), None)
        stand_in(folder, GOOD)  # the next round of it
    assert CARD.name in file.read_text(encoding="utf-8")

    again = AdapterWatch(environ=stand_in(folder, GOOD))
    after = spill(engine, file, again)
    engine.serve()
    async with running(after):
        await until_async(lambda: bool(again.now.adapters), "a reading")
        tick = await after.complete(Tick(at=2.0), EngineSample())

    flow = of(tick, SpillKind.WDDM_SHARED)
    assert (flow.bytes, flow.where, flow.note) == (1_800_000_000, CARD.name, None)
    assert tick.spill_bytes == 1_800_000_000 + of(tick, SpillKind.SWAP).bytes


async def test_a_damaged_record_of_what_is_normal_is_none(tmp_path: Path) -> None:
    """It is learnt again."""
    file = tmp_path / "kept.json"
    file.write_bytes(b"\xff{")

    assert await spill(Engine(), file, AdapterWatch(argv=["x"])).complete(Tick(at=1.0), None)


async def test_the_v100_engine_is_asked_for_its_fast_paths(tmp_path: Path) -> None:
    """Once it serves; what it says is in the next second."""
    engine = Engine()
    engine.serve()
    told = {
        "expected_acceleration": ["batch_gemm"],
        "paths": {"batch_gemm": {"enabled": False, "reason": "library missing"}},
    }
    engine.answers = [(200, msgspec.json.encode(told))]
    made = spill(engine, tmp_path / "kept.json")
    made.begin(dataclasses.replace(launch("0"), runtime="sm70-1cat-1.5.2"))

    async with running(made):
        await until_async(lambda: engine.asked > 0, "the question")
        await asyncio.sleep(0)
        tick = await made.complete(Tick(at=1.0), EngineSample())

    flow = of(tick, SpillKind.SLOW_PATH)
    assert (flow.where, flow.note) == ("batch_gemm", "library missing")


async def test_an_engine_without_such_paths_is_asked_once(tmp_path: Path) -> None:
    """Older ones answer 404: the row is left out."""
    engine = Engine()
    engine.serve()
    engine.answers = [(404, b"")]
    made = spill(engine, tmp_path / "kept.json")
    made.begin(dataclasses.replace(launch("0"), runtime="sm70-1cat-1.5.0"))

    async with running(made):
        await until_async(lambda: engine.asked > 0, "the question")
        await asyncio.sleep(0)
        tick = await made.complete(Tick(at=1.0), EngineSample())

    assert of(tick, SpillKind.SLOW_PATH) is None
    assert engine.asked == 1


def test_windows_is_watched_where_there_is_one() -> None:
    """And nowhere else is a PowerShell looked for."""
    assert watch_of({"PATH": "/usr/bin", "WSL_DISTRO_NAME": "Ubuntu"}) is not None
