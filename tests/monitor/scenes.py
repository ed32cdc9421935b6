"""Seconds of a monitor for tests of alarms: a film of scenes, judged by the rules that ship."""

import dataclasses
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from studio.domain.alarms import Alarm
from studio.domain.cards import CardSample
from studio.domain.hardware import GpuProcess
from studio.domain.metrics import Tick
from studio.domain.readings import (
    AdapterReading,
    AdapterReadings,
    EngineReading,
    GroupReading,
    HostReading,
    Intent,
    PathReport,
    Pressure,
    SpillLook,
)
from studio.domain.units import GIB
from studio.monitor.alarm_file import load
from studio.monitor.alarms import Judge
from studio.monitor.baseline import Baselines
from studio.monitor.scene import Scene
from studio.monitor.spill import SpillMeter, total_bytes

FILE = Path(__file__).resolve().parents[2] / "runtimes" / "alarms.toml"
RULES = load(FILE).rules
AT = 1_790_000_000.0
CARD = CardSample(
    index=0,
    uuid="GPU-0",
    name="NVIDIA GeForce RTX 4090",
    memory_total_bytes=24 * GIB,
    memory_used_bytes=22 * GIB,
    utilisation_share=0.97,
    controller_share=0.6,
    power_w=240.0,
    power_limit_w=250.0,
    sm_clock_mhz=2_100,
    temperature_c=70,
    throttle=(),
    ecc_uncorrected=0,
    processes=(GpuProcess(pid=100, name="VLLM::EngineCore", bytes=22 * GIB),),
)
TICK = Tick(
    at=AT,
    pool_tokens=60_000,
    pool_used_tokens=30_000,
    pool_used_share=0.5,
    running=2,
    waiting=0,
    prefill_tokens_per_s=500.0,
    decode_tokens_per_s=120.0,
    preemptions=0,
    memory_used_bytes=12 * GIB,
    memory_bytes=32 * GIB,
    cards=(CARD,),
)
HOST = HostReading(
    available_bytes=20 * GIB,
    swapped_in_bytes=0,
    swapped_out_bytes=0,
    swap_bytes=8 * GIB,
    refault_bytes=0,
    pressure=Pressure(some=0.0, full=0.0),
)
ENGINE = EngineReading(
    pids=frozenset((100, 101)),
    swap_bytes=0,
    shared_bytes=0,
    major_faults=50,
    disk_read_bytes=GIB,
)
GROUP = GroupReading(path="/engine", limit_bytes=16 * GIB, used_bytes=8 * GIB, refault_bytes=0)
ADAPTER = AdapterReading(
    luid="0x00000000_0x0000d3f5",
    name=CARD.name,
    shared_bytes=86_000_000,
    dedicated_bytes=22 * GIB,
    total_bytes=24 * GIB,
    is_nvidia=True,
)
INTENT = Intent(uses_cards=True)


@dataclasses.dataclass(slots=True)
class Second:
    """What one second shows; tests change what they are about."""

    tick: Tick = TICK
    host: HostReading = HOST
    engine: EngineReading | None = ENGINE
    adapters: AdapterReadings | None = None
    intent: Intent = INTENT
    paths: PathReport | None = None
    stored_bytes: float | None = None
    loaded_bytes: float | None = None
    more: dict[str, object] = dataclasses.field(default_factory=dict)
    """Fields of the scene itself."""

    def card(self, **changes: object) -> None:
        """Change the card."""
        self.tick = msgspec.structs.replace(
            self.tick, cards=(msgspec.structs.replace(CARD, **changes),)
        )


Change = Callable[[Second, int], None]


class Film:
    """Plays seconds through the real meter and the real judge."""

    def __init__(self, *, idle_s: int = 0, adapters: AdapterReadings | None = None) -> None:
        """`idle_s`: seconds without an engine first, in which `adapters` are seen."""
        self.baselines = Baselines()
        self.meter = SpillMeter(self.baselines)
        self.judge = Judge(RULES)
        self.now = 1000.0
        self.told: list[Alarm] = []
        self.since_s: float | None = None
        self.last = Second()
        for _ in range(idle_s):
            assert adapters is not None
            self._step(Second(adapters=adapters, engine=None), is_serving=False)

    def play(self, seconds: int, change: Change | None = None, *, is_serving: bool = True) -> None:
        """Play seconds; `change` gets each, and how many of this call came before it."""
        for number in range(seconds):
            second = Second()
            if change is not None:
                change(second, number)
            self._step(second, is_serving=is_serving)

    def _step(self, second: Second, *, is_serving: bool) -> None:
        self.now += 1.0
        at = AT + self.now
        if not is_serving:
            self.since_s = None
        elif self.since_s is None:
            self.since_s = self.now
        look = SpillLook(
            at=at,
            monotonic_s=self.now,
            is_running=second.engine is not None,
            host=second.host,
            engine=second.engine,
            adapters=second.adapters,
            intent=second.intent,
            paths=second.paths,
            stored_bytes=second.stored_bytes,
            loaded_bytes=second.loaded_bytes,
        )
        if second.adapters is not None:
            self.baselines.learn(second.adapters, self.now, is_running=second.engine is not None)
        flows = self.meter.flows(look)
        tick = msgspec.structs.replace(
            second.tick, at=at, spill=flows, spill_bytes=total_bytes(flows)
        )
        fields: dict[str, object] = {
            "engine_cards": frozenset((0,)),
            "max_num_seqs": 4,
            **second.more,
        }
        scene = Scene(
            at=at,
            monotonic_s=self.now,
            tick=tick,
            look=look,
            is_serving=is_serving,
            serving_since_s=self.since_s,
            **fields,
        )
        self.told += self.judge.judge(scene)

    @property
    def codes(self) -> list[str]:
        """Return the codes of what holds."""
        return [one.code for one in self.judge.active]

    def raised(self, code: str) -> list[Alarm]:
        """Return what was told of one alarm while it held."""
        return [one for one in self.told if one.code == code and one.ended_at is None]

    def ended(self, code: str) -> list[Alarm]:
        """Return the ends of one alarm."""
        return [one for one in self.told if one.code == code and one.ended_at is not None]


def windows(shared_bytes: int, dedicated_bytes: int = 22 * GIB) -> AdapterReadings:
    """Return what Windows says of the one card."""
    adapter = msgspec.structs.replace(
        ADAPTER, shared_bytes=shared_bytes, dedicated_bytes=dedicated_bytes
    )
    return AdapterReadings(at_s=0.0, adapters=(adapter,))


def all_codes() -> Iterable[str]:
    """Return every alarm's code."""
    return [rule.code for rule in RULES]
