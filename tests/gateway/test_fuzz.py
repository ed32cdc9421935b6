"""Thousands of requests that no client should send: no fault of ours, no hang, no leak."""

import asyncio
import contextlib
import gc
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import psutil
import pytest
import uvloop
from hypothesis import HealthCheck, given, settings

from studio.gateway.engine import EngineTarget
from studio.gateway.keys import KeyStore
from studio.gateway.service import Gateway
from studio.host.http_client import Upstream
from studio.host.http_server import Limits
from tests.fakes.waiting import until_async
from tests.gateway.engine_support import ENGINE_KEY, Engine, Setup
from tests.gateway.fuzz import Attack, Mood, answers, attacks, behave, send

SAMPLE = 120
ALL = 10_000
REPEATED, ROUNDS = 500, 6
MOST_GROWTH_BYTES = 8 << 20
ENGINES_FAULT = {"engine-cut-off", "engine-nonsense", "engine-unreachable", "engine-error"}
HTTP_VERSION = 505


class Ground:
    """A gateway before an engine, on a loop that runs while something is sent."""

    def __init__(self, folder: Path) -> None:
        self.runner = asyncio.Runner(loop_factory=uvloop.new_event_loop)
        self._stack = contextlib.AsyncExitStack()
        self.setup: Setup = self.runner.run(self._stack.enter_async_context(_open(folder)))

    def attack(self, attack: Attack) -> None:
        """Send an attack and judge what comes back."""
        setup = self.setup
        behave(setup.engine, attack.mood)
        seen = self.runner.run(send(setup.port, setup.key, attack))
        for status, code in answers(seen):
            assert status < 600
            is_theirs = attack.mood is not Mood.WELL and code in ENGINES_FAULT
            assert status < 500 or status == HTTP_VERSION or is_theirs, (status, code)

    def at_rest(self) -> "tuple[int, int]":
        """Return open files and tasks once all have left; checks that no count is left over."""
        return self.runner.run(self._rest())

    async def _rest(self) -> tuple[int, int]:
        gateway = self.setup.gateway
        assert gateway._server is not None
        server = gateway._server
        await until_async(lambda: not server.connections, "the last connection to end")
        await gateway.wait_idle()
        await asyncio.sleep(0)
        (key,) = self.setup.keys._keys.values()
        assert key.in_flight == 0
        assert not key.running
        assert gateway._body_room.held_bytes == 0
        assert self.setup.target is not None
        assert not self.setup.target.upstream.calls
        self.setup.target.upstream.close()  # how many are warm is a matter of chance
        self.setup.target.upstream._is_closed = False
        engine = self.setup.engine._server
        assert engine is not None
        await until_async(lambda: not engine.connections, "the engine's connections to end")
        gc.collect()
        return psutil.Process().num_fds(), len(asyncio.all_tasks())

    def close(self) -> None:
        """End everything."""
        self.runner.run(self._stack.aclose())
        self.runner.close()


@contextlib.asynccontextmanager
async def _open(folder: Path) -> AsyncIterator[Setup]:
    keys = KeyStore(folder / "studio.db")
    await keys.open()
    engine = Engine(folder / "engine.sock")
    await engine.open()
    target = EngineTarget(
        upstream=Upstream(socket_path=engine.socket), key=ENGINE_KEY, served_name="smollm2"
    )
    made = Setup(keys=keys, engine=engine, target=target, key=(await keys.create("test")).key)
    limits = Limits(header_timeout_s=5, body_timeout_s=5, linger_s=0.05)
    made.gateway = Gateway(keys, upstream=lambda: target, body_limit_bytes=256 << 10, limits=limits)
    await made.gateway.open()
    try:
        yield made
    finally:
        await made.gateway.close()
        target.upstream.close()
        await engine.close()
        await keys.close()


@pytest.fixture
def ground(tmp_path: Path) -> Iterator[Ground]:
    """Return it, warmed up by one request of each kind."""
    made = Ground(tmp_path)
    yield made
    made.close()


def fuzz(ground: Ground, count: int) -> list[Attack]:
    """Send `count` attacks, after which nothing may be left over; return them."""
    before = ground.at_rest()
    sent: list[Attack] = []

    @settings(
        max_examples=count,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(attacks())
    def attack_all(attack: Attack) -> None:
        sent.append(attack)
        ground.attack(attack)
        ground.setup.engine.received.clear()

    attack_all()

    assert len(sent) >= count * 0.9, "hypothesis drew what was asked for"
    files, tasks = ground.at_rest()
    assert files <= before[0]  # one of an earlier test may have ended meanwhile
    assert tasks <= before[1]
    return sent


def test_a_sample_of_hostile_requests_is_survived(ground: Ground) -> None:
    """The same ones each time, so that a failure is the change's."""
    fuzz(ground, SAMPLE)


@pytest.mark.soak
def test_ten_thousand_hostile_requests_are_survived(ground: Ground) -> None:
    """Five minutes. Hypothesis itself keeps what it drew, so memory is watched on repetitions."""
    sent = fuzz(ground, ALL)[:REPEATED]
    process = psutil.Process()
    held = []
    for _ in range(ROUNDS):
        for attack in sent:
            ground.attack(attack)
            ground.setup.engine.received.clear()
            ground.setup.records.clear()
        ground.at_rest()
        held.append(process.memory_info().rss)

    assert held[-1] - held[1] < MOST_GROWTH_BYTES
