"""What becomes of the engine when the machine sleeps, over the real facade and the fake engine."""

import asyncio
import dataclasses
import os
import signal
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from studio.app import sleep
from studio.app.service_life import is_working
from studio.app.settings import SettingsFile
from studio.app.sleep import Doings, Sleep
from studio.domain.control import UpRequest, UpResult
from studio.domain.errors import EngineFailed
from studio.domain.hardware import Gpu, HostSnapshot
from studio.domain.metrics import Tick
from studio.domain.server import AdoptedInfo, EngineSnapshot, EngineState
from studio.domain.service import SleepPolicy, SleepRequest
from studio.serving import supervisor
from tests.app.running import Running, fake_paths, running
from tests.fakes.catalogue import PRESET
from tests.fakes.logind import logind, private_bus
from tests.fakes.waiting import until_async

STOP = SleepRequest(policy=SleepPolicy.STOP)


@pytest.fixture
async def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Running]:
    """Return a Studio that serves; no bus of the machine is asked."""
    monkeypatch.setenv("DBUS_SYSTEM_BUS_ADDRESS", f"unix:path={tmp_path / 'none'}")
    with fake_paths(tmp_path, boot_s=0.05) as paths:
        async with asyncio.timeout(90), running(paths) as one:
            await one.studio.up(UpRequest())
            yield one


async def test_an_engine_that_answers_is_left_alone(made: Running) -> None:
    """The common case: memory was kept, and the clients go on."""
    before = made.studio.engine()

    await made.studio.life.sleep.heard(True)
    await made.studio.life.sleep.heard(False)

    info = made.studio.life.sleep.info()
    assert info.outcome == "The engine answers."
    assert info.slept_at is not None
    assert info.woke_at is not None
    assert info.slept_at <= info.woke_at
    assert made.studio.engine().pid == before.pid


async def test_an_engine_that_lost_its_card_is_started_again(
    made: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may hang for ever with its port open: nobody but a token can tell."""
    monkeypatch.setattr(sleep, "ANSWER_S", 0.5)
    monkeypatch.setattr(supervisor, "TERMINATE_S", 0.2)
    before = made.studio.engine().pid
    assert before is not None
    os.killpg(before, signal.SIGSTOP)

    await made.studio.life.sleep.heard(False)

    after = made.studio.engine()
    assert after.state is EngineState.READY
    assert after.pid != before
    outcome = made.studio.life.sleep.info().outcome or ""
    assert outcome == "The engine did not answer, and was started again."


async def test_a_busy_engine_is_not_taken_for_a_dead_one(
    made: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One more request waits behind a hundred others; tokens that come are proof enough."""
    monkeypatch.setattr(sleep, "ANSWER_S", 0.1)
    before = made.studio.engine().pid
    assert before is not None
    os.killpg(before, signal.SIGSTOP)
    watch = made.studio.life.sleep
    watch._doings = dataclasses.replace(watch._doings, is_working=lambda: True)

    await watch.heard(False)

    os.killpg(before, signal.SIGCONT)
    assert watch.info().outcome == "The engine answers."
    assert made.studio.engine().pid == before


async def test_with_the_policy_stop_it_is_stopped_and_comes_back(made: Running) -> None:
    """For cards whose driver does not keep their memory."""
    made.studio.life.sleep.choose(STOP)
    overrides = made.studio.engine().overrides

    await made.studio.life.sleep.heard(True)
    assert made.studio.engine().state is EngineState.STOPPED
    await made.studio.life.sleep.heard(False)

    after = made.studio.engine()
    assert after.state is EngineState.READY
    assert (after.preset, after.overrides) == (PRESET, overrides)
    assert "started again" in (made.studio.life.sleep.info().outcome or "")


async def test_the_policy_is_kept(made: Running) -> None:
    """It is a matter of the machine, not of one run."""
    made.studio.life.sleep.choose(STOP)

    assert SettingsFile(made.paths.settings_file).now.on_sleep is SleepPolicy.STOP


async def test_an_engine_that_was_stopped_stays_stopped(made: Running) -> None:
    """Sleep must not start what a person ended."""
    made.studio.life.sleep.choose(STOP)
    await made.studio.stop()

    await made.studio.life.sleep.heard(True)
    await made.studio.life.sleep.heard(False)

    assert made.studio.engine().state is EngineState.STOPPED
    assert made.studio.life.sleep.info().outcome == "No engine was serving."


async def test_the_whole_way_over_the_bus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """logind says so, the engine ends, only then the machine may sleep; and back."""
    with (
        private_bus(tmp_path, monkeypatch),
        logind() as system,
        fake_paths(tmp_path, boot_s=0.05) as paths,
    ):
        async with asyncio.timeout(90), running(paths) as one:
            await one.studio.up(UpRequest())
            one.studio.life.sleep.choose(STOP)
            await until_async(lambda: system.held == 1, "the lock")
            assert one.studio.status().sleep.is_announced

            system.announce(is_before=True)
            await until_async(lambda: system.held == 0, "the lock's end")
            assert one.studio.engine().state is EngineState.STOPPED

            system.announce(is_before=False)
            await until_async(
                lambda: one.studio.engine().state is EngineState.READY, "the engine's return"
            )
            await until_async(lambda: one.studio.status().sleep.outcome is not None, "the outcome")


# With a machine of the test's own


class Machine:
    """What sleep sees of the service."""

    def __init__(self, path: Path) -> None:
        self.engine = EngineSnapshot()
        self.asleep_s = 0.0
        self.cards = ("A", "B")
        self.did: list[str] = []
        self.up_error: EngineFailed | None = None
        doings = Doings(
            engine=lambda: self.engine,
            target=lambda: None,
            is_working=lambda: False,
            host=self.host,
            seen=lambda: host_with(("A", "B")),
            stop=self.stop,
            up=self.up,
        )
        self.made = Sleep(SettingsFile(path), doings, asleep_s=lambda: self.asleep_s)

    async def host(self) -> HostSnapshot:
        """Return the machine with the cards that are there now."""
        return host_with(self.cards)

    async def stop(self) -> None:
        """Note it."""
        self.did.append("stop")

    async def up(self, request: UpRequest) -> UpResult:
        """Note it, or fail."""
        self.did.append(f"up {request.preset}")
        if self.up_error is not None:
            raise self.up_error
        return UpResult(
            base_url="http://x/v1", preset="p", served_name="p", runtime="r", runtime_id="i"
        )


def host_with(cards: tuple[str, ...]) -> HostSnapshot:
    """Return a machine with cards of these names."""
    gpus = tuple(Gpu(index=index, name=name) for index, name in enumerate(cards))
    return HostSnapshot(system="linux", machine="x86_64", os_name="x", gpus=gpus)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """Return a machine whose waits are short."""
    monkeypatch.setenv("DBUS_SYSTEM_BUS_ADDRESS", f"unix:path={tmp_path / 'none'}")
    monkeypatch.setattr(sleep, "CARDS_S", 0.05)
    monkeypatch.setattr(sleep, "_CARDS_LOOK_S", 0.01)
    monkeypatch.setattr(sleep, "LOOK_S", 0.01)
    return Machine(tmp_path / "settings.json")


READY = EngineSnapshot(state=EngineState.READY, preset="p", pid=1)


async def test_the_clocks_tell_where_nobody_announces(machine: Machine) -> None:
    """Containers and WSL hear nothing of sleep, and wake all the same."""
    machine.engine = READY
    async with asyncio.timeout(30), asyncio.TaskGroup() as tasks:
        task = tasks.create_task(machine.made.run())
        await until_async(lambda: machine.made.info().is_announced is False, "the bus's silence")
        assert machine.did == []

        machine.asleep_s = 3600.0

        await until_async(lambda: machine.made.info().outcome is not None, "the look")
        task.cancel()
    assert machine.did == ["stop", "up p"]
    info = machine.made.info()
    assert info.slept_at is not None
    assert info.woke_at is not None
    assert info.woke_at - info.slept_at == pytest.approx(3600.0, abs=5)


async def test_one_sleep_is_looked_at_once(machine: Machine) -> None:
    """Both witnesses tell of the same sleep."""
    machine.asleep_s = 3600.0
    await machine.made.heard(False)
    woke = machine.made.info().woke_at

    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(machine.made.run())
        await until_async(lambda: machine.made.info().is_announced is False, "some looks")
        task.cancel()

    assert machine.made.info().woke_at == woke


async def test_cards_that_stay_away_are_named(machine: Machine) -> None:
    """Then the start fails for a reason that a person can understand."""
    machine.engine, machine.cards = READY, ("B",)
    machine.up_error = EngineFailed("gpu-missing", "Card A is missing.")

    await machine.made.heard(False)

    assert machine.made.info().outcome == (
        "The engine did not answer (the driver no longer shows A), and could not be started "
        "again: Card A is missing."
    )


async def test_an_engine_on_its_way_goes_on_by_itself(machine: Machine) -> None:
    """A boot that sleep interrupted ends in a token or in a failure, both of which are seen."""
    machine.engine = EngineSnapshot(state=EngineState.STARTING, preset="p")

    await machine.made.heard(False)

    assert machine.did == []
    assert machine.made.info().outcome == "The engine is starting; it goes on by itself."


async def test_an_adopted_engine_is_not_touched(machine: Machine) -> None:
    """It is not ours to start."""
    adopted = AdoptedInfo(name="x", url="http://x")
    machine.engine = EngineSnapshot(state=EngineState.ADOPTED, adopted=adopted)

    await machine.made.heard(False)

    assert machine.did == []


@pytest.mark.parametrize(
    ("tick", "expected"),
    [
        (None, False),
        (Tick(at=0.0), False),
        (Tick(at=0.0, decode_tokens_per_s=0.0), False),
        (Tick(at=0.0, decode_tokens_per_s=3.0), True),
        (Tick(at=0.0, prefill_tokens_per_s=3.0), True),
    ],
)
def test_tokens_within_the_last_second_are_work(tick: Tick | None, expected: bool) -> None:
    """Unknown is not zero, and neither is proof."""
    assert is_working(tick) is expected


def test_the_time_asleep_never_shrinks() -> None:
    """It is the difference of two clocks that never go back."""
    first = sleep.total_sleep_s()
    second = sleep.total_sleep_s()

    assert first is not None
    assert second is not None
    assert abs(second - first) < 1.0


def test_a_machine_without_the_clock_knows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only Linux has it."""
    monkeypatch.delattr(time, "CLOCK_BOOTTIME")

    assert sleep.total_sleep_s() is None
