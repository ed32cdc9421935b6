"""Recorded runs of a real engine on a real card through the whole monitor: the recorded numbers.

The card is told by the real pynvml over the stand-in of NVIDIA's library, the engine by its
recorded text; reader, parser, meter and sampler are the service's own.
"""

import asyncio
import dataclasses
import re
from collections.abc import Iterator

import pytest

from studio.domain.cards import CardsReading
from studio.domain.metrics import Tick
from studio.monitor import sampler as sampler_module
from studio.monitor.history import History
from studio.monitor.sampler import Sampler
from tests.fakes.gpu_recordings import RUNS, Run
from tests.fakes.nvml_machines import MIB
from tests.fakes.nvml_stub import NvmlHost, nvml_host

R1, R2, R6 = RUNS


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NvmlHost]:
    """A machine whose cards can be changed."""
    with nvml_host(tmp_path_factory.mktemp("nvml")) as made:
        yield made


@dataclasses.dataclass
class Clock:
    """Time that stands until it is moved."""

    now: float = 1_796_000_000.0

    def time(self) -> float:
        """Return the seconds since the epoch."""
        return self.now

    def monotonic(self) -> float:
        """Return the seconds since the machine's start."""
        return self.now - 1_795_000_000.0


class Replay:
    """One run, moment by moment."""

    def __init__(self, host: NvmlHost, run: Run, patch: pytest.MonkeyPatch) -> None:
        self._host = host
        self._run = run
        self._clock = Clock()
        self._text = b""
        patch.setattr(sampler_module, "time", self._clock)
        host.put_in(run.at_rest())
        host.ask("fresh")
        self._sampler = Sampler(
            fetch=self._fetch,
            engine_pid=lambda: None,
            publish=lambda _tick: None,
            history=History(),
            cards=self._read,
        )

    async def idle(self) -> Tick:
        """Return the tick before any request."""
        return await self._tick("idle", 0.0)

    async def load(self, *, later_s: float, second: int = 0) -> Tick:
        """Return a tick under load."""
        self._host.put_in(self._run.at_work(second))
        return await self._tick("load", later_s)

    async def after(self, *, later_s: float) -> Tick:
        """Return the tick after the last answer."""
        self._host.put_in(self._run.at_rest())
        return await self._tick("after", later_s)

    async def _tick(self, moment: str, later_s: float) -> Tick:
        self._clock.now += later_s
        self._text = self._run.metrics(moment)
        return await self._sampler.tick()

    async def _fetch(self) -> bytes:
        return self._text

    async def _read(self, within_s: float) -> CardsReading:
        return await asyncio.to_thread(self._host.live, within_s=within_s)


@pytest.fixture(params=RUNS, ids=lambda run: run.name)
def replay(
    request: pytest.FixtureRequest, host: NvmlHost, monkeypatch: pytest.MonkeyPatch
) -> Replay:
    """Each recorded run."""
    return Replay(host, request.param, monkeypatch)


async def test_the_card_at_rest_is_what_nvidia_smi_printed(replay: Replay) -> None:
    """Memory with its holder, power with its limit, heat, load."""
    run = replay._run
    told = run.table()

    tick = await replay.idle()

    assert tick.cards is not None
    (card,) = tick.cards
    assert card.memory_used_bytes == told["used"] * MIB
    assert card.memory_total_bytes == told["total"] * MIB
    assert (card.power_w, card.power_limit_w) == (told["drawn"], told["limit"])
    assert card.temperature_c == told["heat"]
    assert card.utilisation_share == told["busy"] / 100
    assert card.processes is not None
    assert [(one.pid, one.bytes) for one in card.processes] == [
        (run.holder()[0], run.holder()[1] * MIB)
    ]


async def test_the_card_under_load_is_what_dmon_printed(replay: Replay) -> None:
    """Second by second."""
    await replay.idle()

    for second, told in enumerate(replay._run.seconds()):
        tick = await replay.load(later_s=1.0, second=second)
        assert tick.cards is not None
        (card,) = tick.cards
        assert card.power_w == told["drawn"]
        assert card.temperature_c == told["heat"]
        assert card.utilisation_share == told["busy"] / 100
        assert card.controller_share == told["bus"] / 100
        assert (card.sm_clock_mhz, card.memory_clock_mhz) == (told["clock"], told["memory_clock"])


@pytest.mark.parametrize(
    ("run", "pool", "used", "running", "waiting"),
    [
        (R1, 491_134, 16_204, 8, {"capacity": 0, "deferred": 0}),
        (R2, 81_727, 16_268, 8, {"capacity": 0, "deferred": 0}),
        (R6, 81_727, 27_888, 8, {"capacity": 0, "deferred": 0}),
    ],
    ids=lambda value: value.name if isinstance(value, Run) else None,
)
async def test_the_pool_is_what_the_engine_printed(
    host: NvmlHost,
    monkeypatch: pytest.MonkeyPatch,
    run: Run,
    pool: int,
    used: int,
    running: int,
    waiting: dict[str, int],
) -> None:
    """Tokens of its boot log, and the share of them that is taken."""
    replay = Replay(host, run, monkeypatch)

    before = await replay.idle()
    tick = await replay.load(later_s=1.0)

    assert (before.pool_tokens, before.pool_used_tokens, before.running) == (pool, 0, 0)
    assert (tick.pool_tokens, tick.pool_used_tokens) == (pool, used)
    assert (tick.running, tick.waiting, tick.waiting_by_reason) == (running, 0, waiting)


@pytest.mark.parametrize("run", [R2, R6], ids=lambda run: run.name)
async def test_tokens_a_second_are_those_that_clients_counted(
    host: NvmlHost, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    """Eight clients at once, each with its own watch; the engine knows nothing of them.

    How long the recording lasted between its two texts is not written down: it is the engine's
    steps times the mean time between two tokens, which is the same as a step here.
    """
    replay = Replay(host, run, monkeypatch)
    await replay.idle()
    await replay.load(later_s=5.0)

    tick = await replay.after(later_s=between_s(run))

    # The first client's answer began while the others' prompts were read, which held it up.
    paces = [(pieces - 1) / (all_s - first_s) for first_s, pieces, all_s in run.clients()[1:]]
    assert tick.decode_tokens_per_s == pytest.approx(8 * sum(paces) / len(paces), rel=0.03)


def between_s(run: Run) -> float:
    """Return how long it was from the text under load to the one after it."""
    load, after = (
        {
            name: float(value)
            for name, value in re.findall(r"^(vllm:\w+)\{[^}]*\} (\S+)$", text, re.MULTILINE)
        }
        for text in (run.metrics("load").decode(), run.metrics("after").decode())
    )
    grown = {name: after[name] - load[name] for name in load}
    pauses = grown["vllm:inter_token_latency_seconds_count"]
    step_s = grown["vllm:inter_token_latency_seconds_sum"] / pauses
    return step_s * grown["vllm:iteration_tokens_total_count"]


async def test_first_tokens_and_pauses_are_those_that_clients_saw(
    host: NvmlHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The median lies in the bucket of what the first clients measured themselves."""
    replay = Replay(host, R1, monkeypatch)
    await replay.idle()

    tick = await replay.load(later_s=1.0)

    first_s, pieces, all_s = R1.clients()[0]
    pause_s = (all_s - first_s) / (pieces - 2)
    assert tick.ttft_p95_s is not None
    assert tick.itl_p50_s is not None
    assert 1.0 < tick.ttft_p95_s <= 2.5
    assert 1.0 < first_s - 0.1 <= 2.5
    assert 0.01 < tick.itl_p50_s <= 0.025
    assert 0.01 < pause_s <= 0.025


async def test_a_tier_in_host_memory_shows_what_was_stored(
    host: NvmlHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    """419,037,184 bytes over two seconds, none back, and nothing found there."""
    replay = Replay(host, R1, monkeypatch)
    await replay.idle()

    tick = await replay.load(later_s=2.0)

    # Before the first transfer the engine prints the older family only, with its zero.
    assert tick.kv_store_bytes_per_s == 419_037_184 / 2
    assert tick.kv_load_bytes_per_s == 0
    assert tick.external_hit_share == 0
    assert tick.prefix_hit_share == pytest.approx(78_000 / 94_120)


async def test_a_run_without_a_tier_knows_none(
    host: NvmlHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No tier is not an empty one."""
    replay = Replay(host, R2, monkeypatch)
    await replay.idle()

    tick = await replay.load(later_s=2.0)

    assert (tick.kv_store_bytes_per_s, tick.kv_load_bytes_per_s) == (None, None)
