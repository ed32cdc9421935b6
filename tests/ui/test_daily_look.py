"""On Windows the window looks for a newer version, once a day and only where that is allowed."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from pytestqt.qtbot import QtBot

from studio.control import launcher
from studio.control.calls import answered
from studio.control.client import ControlClient
from studio.control.updating import UpdateRoutes
from studio.domain.self_update import UpdateState
from studio.domain.settings import CareSettings
from studio.ui.bridge import Bridge
from studio.ui.daily_look import DailyLook
from tests.app.test_staging import Windows
from tests.ui.fake_service import FakeService
from tests.ui.fake_settings import FakeSettings

PATIENCE_MS = 15_000


class Here:
    """This side of a PC: it knows the versions, and counts what it is asked."""

    def __init__(self, folder: Path) -> None:
        self.windows = Windows(folder)
        self.asked: list[str] = []
        self._updates = UpdateRoutes(self.windows.updates)

    async def answer(self, method: str, path: str, query: str, body: bytes) -> tuple[int, bytes]:
        """Answer what needs no service."""
        self.asked.append(path.rpartition("/")[2])
        return await answered(self._updates.routes(), method, path, query, body)

    def client(self) -> ControlClient:
        """Return a client of this side."""

        async def nothing() -> None:
            return

        return launcher.in_process(self, nothing)


@pytest.fixture
def here(tmp_path: Path) -> Here:
    """Return that side; 1.1.0 is published."""
    made = Here(tmp_path)
    made.windows.offer()
    return made


@pytest.fixture
def settings(service: FakeService) -> FakeSettings:
    """Return what the service keeps: the look is allowed."""
    made = FakeSettings(service)
    made.care = CareSettings(check_updates=True)
    return made


@pytest.fixture
def bridge(service: FakeService, here: Here) -> Iterator[Bridge]:
    """Return the way to both; the service is reached when it is started."""
    made = Bridge(service.connect, None, here.client)
    yield made
    made.close()


def test_it_looks_when_the_service_answers_and_not_again_that_day(
    qtbot: QtBot, bridge: Bridge, here: Here, settings: FakeSettings
) -> None:
    """Nothing is fetched; what was found is known from then on."""
    daily = DailyLook(bridge)
    with qtbot.waitSignal(daily.over, timeout=PATIENCE_MS) as found:
        bridge.start()
    assert found.args[0].state is UpdateState.OFFERED
    assert here.asked == ["update", "check"]

    again = DailyLook(bridge)
    with qtbot.waitSignal(again.over, timeout=PATIENCE_MS) as second:
        again.look_now()
    assert second.args == [None]
    assert here.asked == ["update", "check", "update"]


@pytest.mark.parametrize("why", ["not allowed", "offline"])
def test_without_leave_nobody_is_asked(
    qtbot: QtBot, bridge: Bridge, here: Here, settings: FakeSettings, why: str
) -> None:
    """The service inside the Linux keeps both, and this side asks it first."""
    if why == "not allowed":
        settings.care = CareSettings()
    else:
        settings.network = msgspec.structs.replace(settings.network, offline=True)
    daily = DailyLook(bridge)

    with qtbot.waitSignal(daily.over, timeout=PATIENCE_MS) as found:
        bridge.start()

    assert found.args == [None]
    assert here.asked == []


def test_a_look_in_vain_tells_nobody_and_waits_an_hour(
    qtbot: QtBot, bridge: Bridge, here: Here, settings: FakeSettings
) -> None:
    """A laptop without a network is no reason for a message."""
    for path in here.windows.published.iterdir():
        path.unlink()
    daily = DailyLook(bridge)
    with qtbot.waitSignal(daily.over, timeout=PATIENCE_MS) as found:
        bridge.start()
    assert found.args == [None]

    with qtbot.waitSignal(daily.over, timeout=PATIENCE_MS):
        daily.look_now()

    assert here.asked == ["update", "check", "update"]


def test_elsewhere_the_service_looks_itself(
    qtbot: QtBot, service: FakeService, settings: FakeSettings
) -> None:
    """Two looks a day would be one too many."""
    bridge = Bridge(service.connect)
    daily = DailyLook(bridge)
    told: list[object] = []
    daily.over.connect(told.append)
    try:
        with qtbot.waitSignal(bridge.opened, timeout=PATIENCE_MS):
            bridge.start()
        assert not daily.is_looking
    finally:
        bridge.close()
    assert told == []
