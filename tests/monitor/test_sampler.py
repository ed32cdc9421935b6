"""Once a second, whatever the engine does: what it does not answer is unknown, never zero."""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio.domain.cards import CardSample, CardsReading
from studio.domain.errors import EngineNotReady
from studio.domain.metrics import Tick
from studio.monitor import sampler as sampler_module
from studio.monitor.history import History
from studio.monitor.sampler import Sampler, next_mark
from tests.fakes.running import Running, fake

METRICS = b"""\
vllm:num_requests_running{engine="0"} 2.0
vllm:kv_cache_usage_perc{engine="0"} 0.5
vllm:generation_tokens_total{engine="0"} %d.0
vllm:cache_config_info{block_size="128",num_gpu_blocks="182",engine="0"} 1.0
"""
ENGINE_FIELDS = (
    "pool_tokens", "pool_used_tokens", "pool_used_share", "running", "waiting",
    "prefill_tokens_per_s", "decode_tokens_per_s", "ttft_s", "tokens_per_step",
    "prefix_hit_share", "preemptions", "requests_total", "ttft_p50_s", "ttft_p95_s", "itl_p50_s",
    "itl_p95_s", "end_to_end_p50_s", "end_to_end_p95_s", "acceptance", "draft_accepted_share",
    "step_s", "waiting_by_reason", "external_hit_share", "kv_load_bytes_per_s",
    "kv_store_bytes_per_s",
)  # fmt: skip


class Engine:
    """Answers `/metrics` as told, and counts."""

    def __init__(self) -> None:
        self.asked = 0
        self.tokens = 0
        self.under_way = 0
        self.most_under_way = 0
        self.pid: int | None = None
        self.hangs = False
        self.error: Exception | None = None
        self.raw: bytes | None = None
        self.published: list[Tick] = []
        self.history = History()
        self.changed = asyncio.Event()

    async def fetch(self) -> bytes | None:
        """Answer, or not."""
        self.asked += 1
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        try:
            if self.hangs:
                await asyncio.Event().wait()
            if self.error is not None:
                raise self.error
            self.tokens += 100
            return METRICS % self.tokens if self.raw is None else self.raw
        finally:
            self.under_way -= 1

    def publish(self, tick: Tick) -> None:
        """Keep what is announced."""
        self.published.append(tick)
        self.changed.set()

    def sampler(self) -> Sampler:
        """Return a sampler of this engine."""
        return Sampler(
            fetch=self.fetch,
            engine_pid=lambda: self.pid,
            publish=self.publish,
            history=self.history,
        )


def unknown(tick: Tick) -> bool:
    """Return whether all that comes from the engine is unknown."""
    return all(getattr(tick, name) is None for name in ENGINE_FIELDS)


async def test_a_tick_is_kept_announced_and_remembered() -> None:
    """A window that opens later, a chart and `weir status` show the same."""
    engine = Engine()
    sampler = engine.sampler()

    tick = await sampler.tick()

    assert tick.pool_tokens == 182 * 128
    assert tick.pool_used_tokens == 91 * 128
    assert tick.running == 2
    assert sampler.last == engine.history.last == engine.published[0] == tick


async def test_a_rate_needs_two_readings() -> None:
    """The first reading of a counter says nothing about the last second."""
    engine = Engine()
    sampler = engine.sampler()

    first, second = await sampler.tick(), await sampler.tick()

    assert first.decode_tokens_per_s is None
    assert second.decode_tokens_per_s is not None
    assert second.decode_tokens_per_s > 0


@pytest.mark.parametrize("raw", [b"", b"\xff\xfe\x00", b"<html>not found</html>", b"x" * 1_000_000])
async def test_an_answer_that_is_none_is_unknown(raw: bytes) -> None:
    """A proxy's page, half an answer, another program."""
    engine = Engine()
    engine.raw = raw

    assert unknown(await engine.sampler().tick())


async def test_an_engine_that_refuses_is_unknown() -> None:
    """It is just dying."""
    engine = Engine()
    engine.error = EngineNotReady("engine-unreachable", "The engine cannot be reached.")

    tick = await engine.sampler().tick()

    assert unknown(tick)
    assert tick.memory_bytes is not None


async def test_a_stalled_engine_is_unknown_and_the_host_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Zero tokens a second would say that it is idle; it may be computing a long prompt."""
    monkeypatch.setattr(sampler_module, "DEADLINE_S", 0.05)
    engine = Engine()
    sampler = engine.sampler()
    await sampler.tick()
    engine.hangs = True

    stalled = await sampler.tick()
    engine.hangs = False
    after = await sampler.tick()

    assert unknown(stalled)
    assert stalled.memory_used_bytes is not None
    assert engine.under_way == 0
    assert after.running == 2
    assert after.decode_tokens_per_s is None, "a rate over the gap would be a guess"


async def test_ticks_come_by_the_clock_and_never_overlap(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reading that hangs is given up before the next one begins."""
    monkeypatch.setattr(sampler_module, "INTERVAL_S", 0.1)
    monkeypatch.setattr(sampler_module, "DEADLINE_S", 0.09)
    engine = Engine()
    engine.hangs = True
    sampler = engine.sampler()

    async with running(sampler):
        while len(engine.published) < 4:
            engine.changed.clear()
            await asyncio.wait_for(engine.changed.wait(), 20)

    assert engine.most_under_way == 1
    times = [tick.at for tick in engine.published]
    assert times == sorted(times)
    assert len({int(at / 0.1) for at in times}) == len(times)


async def test_memory_of_the_engine_is_read_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    """It walks all processes of the machine; and without an engine there is none."""
    engine = Engine()
    sampler = engine.sampler()

    without = await sampler.tick()
    engine.pid = os.getpid()
    first = await sampler.tick()
    looked: list[int] = []
    monkeypatch.setattr(
        sampler_module.processes, "group_memory", lambda pid: (looked.append(pid), (1, 2))[1]
    )
    kept = [await sampler.tick() for _ in range(4)]
    monkeypatch.setattr(sampler_module, "_RSS_S", 0.0)
    fresh = await sampler.tick()
    engine.pid = None
    gone = await sampler.tick()

    assert without.engine_rss_bytes is None
    assert first.engine_rss_bytes is not None
    assert first.engine_rss_bytes > 1 << 20
    assert {tick.engine_rss_bytes for tick in kept} == {first.engine_rss_bytes}
    assert looked == [os.getpid()]
    assert (fresh.engine_rss_bytes, fresh.spill_bytes) == (1, 2)
    assert (gone.engine_rss_bytes, gone.spill_bytes) == (None, None)


async def test_a_real_engine_s_numbers_arrive(tmp_path: Path) -> None:
    """The fake's metrics are held against the real engine's elsewhere."""
    with fake(tokens_per_s=0) as engine:
        target = await asyncio.to_thread(_metrics_after_an_answer, engine)

    made = Engine()
    made.raw = target
    tick = await made.sampler().tick()

    assert tick.pool_tokens == 23_296
    assert tick.running == 0
    assert tick.requests_total == 1


def _metrics_after_an_answer(engine: Running) -> bytes:
    engine.engine.call("POST", "/v1/completions", {"model": "smollm2", "prompt": "x"})
    return engine.engine.call("GET", "/metrics").body


# Cards


CARD = CardSample(index=0, name="NVIDIA H200", temperature_c=47)


async def test_engine_and_cards_are_read_at_the_same_time() -> None:
    """One after the other, a slow engine would make the cards late."""
    engine = Engine()
    asked = asyncio.Event()

    async def read(_within_s: float) -> CardsReading:
        asked.set()
        return CardsReading(cards=(CARD,), source="nvml")

    async def fetch() -> bytes:
        await asyncio.wait_for(asked.wait(), 20)
        return METRICS % 1

    sampler = Sampler(
        fetch=fetch,
        engine_pid=lambda: None,
        publish=engine.publish,
        history=engine.history,
        cards=read,
    )

    tick = await sampler.tick()

    assert tick.cards == (CARD,)
    assert tick.running == 2
    assert sampler.info().cards_source == "nvml"


async def test_without_anybody_to_ask_cards_are_not_known() -> None:
    """Not: there are none."""
    assert (await Engine().sampler().tick()).cards is None


# The clock


@pytest.mark.parametrize(
    ("now", "last", "mark", "wait_s"),
    [
        (10.25, 10, 11, 0.75),
        (10.0, 10, 11, 1.0),
        (9.9998, 10, 11, 1.0002),
        (12.5, 10, 13, 0.5),
        (3.5, 10, 4, 0.5),
        (10.25, None, 11, 0.75),
    ],
    ids=["in-time", "on-the-mark", "woke-early", "took-long", "clock-set-back", "first"],
)
def test_the_next_tick_is_at_the_clocks_next_mark(
    now: float, last: int | None, mark: int, wait_s: float
) -> None:
    """Never twice for one mark, never a burst for those that went by, whatever the clock does."""
    assert next_mark(now, 1.0, last) == (mark, pytest.approx(wait_s))


@given(
    st.lists(st.floats(-3600, 3600), max_size=30),
    st.sampled_from([0.2, 1.0, 10.0]),
)
def test_no_clock_brings_two_ticks_at_once_or_none(steps: list[float], interval_s: float) -> None:
    """Set forward, set back, by an hour or a moment."""
    now, last = 1_700_000_000.0, None
    for step in steps:
        now += step
        mark, wait_s = next_mark(now, interval_s, last)
        assert mark != last
        assert 0 <= wait_s <= 2 * interval_s + 1e-6
        last = mark
        now += wait_s


async def test_a_new_interval_holds_at_once() -> None:
    """Ten seconds would have to go by before the wish for 0.2 s is heard."""
    engine = Engine()
    chosen = [1000.0]
    sampler = Sampler(
        fetch=engine.fetch,
        engine_pid=lambda: None,
        publish=engine.publish,
        history=engine.history,
        interval_s=lambda: chosen[0],
    )

    async with running(sampler):
        await asyncio.sleep(0)
        chosen[0] = 0.05
        sampler.interval_changed()
        while len(engine.published) < 3:
            engine.changed.clear()
            await asyncio.wait_for(engine.changed.wait(), 20)

    info = sampler.info()
    assert info.interval_s == 0.05
    assert info.tick_s is not None


@contextlib.asynccontextmanager
async def running(sampler: Sampler) -> AsyncIterator[None]:
    """Let a sampler run."""
    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(sampler.run())
        yield
        task.cancel()
