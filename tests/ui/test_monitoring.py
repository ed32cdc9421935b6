"""What the monitor page asks of the service."""

import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from studio.ui.bridge import Bridge
from studio.ui.monitoring import MonitorArea, Wanted, csv_of
from studio.ui.viewmodels.chart_kinds import KINDS
from tests.ui.fake_monitor import FakeMonitor
from tests.ui.fake_service import START, FakeService, tick


@pytest.fixture
def fake(service: FakeService) -> FakeMonitor:
    """Return the fake's history; eight cards, which is more than one question takes."""
    service.be_ready(seconds=301)
    return FakeMonitor(service, cards=8)


@pytest.fixture
def area(qtbot: QtBot, bridge: Bridge, fake: FakeMonitor) -> MonitorArea:
    """Return an area whose bridge has found the service."""
    assert isinstance(bridge, QObject)
    made = MonitorArea(bridge)
    with qtbot.waitSignal(bridge.opened):
        bridge.start()
    return made


def wanted(seconds: float) -> Wanted:
    """Return a question about all charts."""
    return Wanted(START + 300 - seconds, START + 300, KINDS)


def test_all_that_is_known_is_asked_for_in_one_question(
    qtbot: QtBot, area: MonitorArea, fake: FakeMonitor
) -> None:
    """By patterns: eight cards are 62 series, and one question names 64 at most."""
    area.read(wanted(900))
    qtbot.waitUntil(lambda: area.reads == 1)

    assert set(area.tracks) == set(fake.known)
    assert len(fake.asked) == 2
    assert len(fake.asked[1][1]["series"].split(",")) < 40
    assert len(area.events) == 6


def test_what_is_wanted_while_a_question_is_under_way_is_asked_afterwards(
    qtbot: QtBot, area: MonitorArea
) -> None:
    """Quick clicks on four spans end at the last one."""
    for seconds in (60, 900, 3_600, 86_400):
        area.read(wanted(seconds))

    qtbot.waitUntil(lambda: area.step_s > 60 and not area.is_reading)
    assert area.reads == 2


def test_seconds_are_added_once_and_old_ones_let_go(qtbot: QtBot, area: MonitorArea) -> None:
    """The window hands over its last five minutes each time."""
    area.read(wanted(60))
    qtbot.waitUntil(lambda: area.reads == 1)
    track = area.tracks["decode_tokens_per_s"]
    before = len(track)
    ticks = [tick(second) for second in range(301, 2_000)]

    area.hear(ticks[:10], START)
    area.hear(ticks[:12], START)
    assert len(track) == before + 12

    area.hear(ticks, START + 1_900)
    assert len(track) < 700


def test_csv_has_every_part_and_one_heading(
    qtbot: QtBot, bridge: Bridge, area: MonitorArea, fake: FakeMonitor
) -> None:
    """Parts are what the service makes of a long span; a person gets one file."""
    made: list[str] = []
    area.ask("export", lambda client: csv_of(client, wanted(900), 10.0), made.append)
    qtbot.waitUntil(lambda: bool(made))

    lines = made[0].splitlines()
    assert lines[0].startswith("at,epoch_s,pool_used_tokens.min,pool_used_tokens.mean")
    assert len(lines) == 1 + 3 + 3
    assert len({line.split(",")[1] for line in lines[1:]}) == 6
