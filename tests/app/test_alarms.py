"""Alarms of a running Studio: announced, listed, offered, muted."""

import asyncio
import dataclasses
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from studio.app.alarms import rooms
from studio.domain.alarms import MuteRequest
from studio.domain.control import UpRequest
from studio.domain.diagnosis import FixRequest
from studio.domain.errors import StudioError
from studio.domain.events import AlarmChanged
from studio.domain.metrics import Tick
from studio.domain.server import EngineState
from studio.monitor.alarm_file import load
from studio.monitor.alarms import Judge
from studio.monitor.scene import DiskRoom
from tests.app.running import Running, fake_paths, running
from tests.fakes.catalogue import PRESET
from tests.fakes.waiting import until_async
from tests.monitor.scenes import FILE

FULL = (DiskRoom(holds="models", mount="/data", free_bytes=1, total_bytes=1 << 40),)


@pytest.fixture
async def made(tmp_path: Path) -> AsyncIterator[Running]:
    """Return a running Studio."""
    with fake_paths(tmp_path, boot_s=0.05) as paths:
        async with running(paths) as one:
            yield one


async def fill_disk(made: Running) -> None:
    """Let the disk of the models look full, and a second pass."""
    made.parts.alarms._bounded._work = lambda: FULL
    made.parts.alarms._disks = FULL
    await until_async(lambda: bool(made.parts.alarms.active), "the alarm")


async def refused(code: str, made: Running, request: MuteRequest) -> StudioError:
    """Return what muting is refused with."""
    with pytest.raises(StudioError) as caught:
        made.studio.alarms.mute(code, request)
    return caught.value


async def test_an_alarm_is_announced_and_stands_in_the_status(made: Running) -> None:
    """Whoever looks, by whatever way, sees it."""
    await fill_disk(made)
    await until_async(lambda: bool(made.of(AlarmChanged)), "the event")

    (event,) = made.of(AlarmChanged)
    assert event.alarm.code == "disk-nearly-full"
    assert made.studio.status().alarms[0].code == "disk-nearly-full"
    assert made.studio.alarms.list().is_watched
    assert [one.code for one in made.studio.insight.past._alarms.values()] == [event.alarm.code]
    assert AlarmChanged in {type(one) for one in made.studio.present()}


async def test_remedies_of_alarms_are_offered_unless_muted(made: Running) -> None:
    """`weir fix` is the one list."""
    await fill_disk(made)
    offered = await made.studio.remedies.offered()
    assert "disk-nearly-full" in {one.about for one in offered.offered}

    made.studio.alarms.mute("disk-nearly-full", MuteRequest(is_once=True))

    offered = await made.studio.remedies.offered()
    assert "disk-nearly-full" not in {one.about for one in offered.offered}


async def test_a_muted_alarm_is_shown_as_such_and_told_once_more(made: Running) -> None:
    """Every window learns that it is silent."""
    await fill_disk(made)

    listed = made.studio.alarms.mute("disk-nearly-full", MuteRequest(for_s=60.0))
    await until_async(lambda: len(made.of(AlarmChanged)) == 2, "the second event")

    assert listed.active[0].is_muted
    assert listed.mutes[0].until is not None
    assert made.of(AlarmChanged)[-1].alarm.is_muted
    assert not made.studio.alarms.unmute("disk-nearly-full").active[0].is_muted


@pytest.mark.parametrize(
    ("code", "request_", "said"),
    [
        ("spill-lava", MuteRequest(), "alarm-unknown"),
        ("spill-swap", MuteRequest(is_once=True), "alarm-not-active"),
        ("spill-swap", MuteRequest(for_s=0.0), "request-invalid"),
        ("spill-swap", MuteRequest(for_s=float("inf")), "request-invalid"),
        ("spill-swap", MuteRequest(for_s=float("nan")), "request-invalid"),
    ],
)
async def test_what_cannot_be_muted_is_said(
    made: Running, code: str, request_: MuteRequest, said: str
) -> None:
    """A slip in a code must not look like silence."""
    assert (await refused(code, made, request_)).code == said


async def test_a_killed_engine_is_an_alarm_until_it_serves_again(made: Running) -> None:
    """A real death: SIGKILL, and the Studio's own restart."""
    await made.studio.up(UpRequest(preset=PRESET, overrides={"boot_s": "2.5"}))
    await until_async(lambda: made.parts.facts.serving_since_s is not None, "a second of serving")
    pid = made.studio.engine().pid
    assert pid is not None

    os.kill(pid, signal.SIGKILL)
    await until_async(
        lambda: (
            any(
                one.alarm.code == "engine-died" and one.alarm.ended_at is None
                for one in made.of(AlarmChanged)
            )
            or made.studio.engine().restarts > 0
        ),
        "the alarm",
    )
    await until_async(lambda: made.studio.engine().state is EngineState.READY, "the next one")
    await until_async(
        lambda: "engine-died" not in {one.code for one in made.studio.alarms.active}, "its end"
    )


async def test_a_remedy_of_an_alarm_is_taken_by_its_number(made: Running) -> None:
    """From evidence to the restart with the value of this case."""
    await made.studio.up(UpRequest(preset=PRESET))
    alarms = made.parts.alarms
    rules = [
        dataclasses.replace(rule, settle_s=0.0, raise_after_s=0.0)
        for rule in load(FILE).rules
        if rule.code == "pool-too-small"
    ]
    alarms._judge = Judge(rules)
    await until_async(lambda: made.parts.facts.serving_since_s is not None, "a second of serving")
    for count in (1_000, 1_020):
        alarms.hear(Tick(at=1.0, preemptions=count, running=16, pool_used_share=1.0))

    offered = await made.studio.remedies.offered()
    chosen = next(one for one in offered.offered if one.about == "pool-too-small")
    assert chosen.remedy.text.startswith("Take 8 requests at a time")
    assert chosen.number is not None
    await made.studio.remedies.fix(FixRequest(number=chosen.number, about=chosen.about))

    engine = made.studio.engine()
    assert engine.state is EngineState.READY
    assert engine.overrides == {"max_num_seqs": "8"}


async def test_a_figure_of_a_second_goes_to_the_judge_once(made: Running) -> None:
    """Ticks that come late are not evidence twice."""
    before = len(made.of(AlarmChanged))
    for _ in range(5):
        made.parts.alarms.hear(Tick(at=1.0))
    await asyncio.sleep(0)

    assert len(made.of(AlarmChanged)) == before


def test_folders_on_one_disk_are_one_room(tmp_path: Path) -> None:
    """They fill up together; a folder need not exist yet."""
    (room,) = rooms({"models": tmp_path / "models", "logs": tmp_path / "logs"})

    assert room.holds == "models and logs"
    assert room.total_bytes >= room.free_bytes > 0
