"""A newer version of the Studio is seen wherever one is in the window, and said once."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from studio.domain.self_update import UpdateState
from studio.domain.settings import CareSettings
from studio.ui.bridge import Bridge
from studio.ui.controllers.settings import SettingsController
from studio.ui.daily_look import DailyLook
from studio.ui.newer import Newer
from studio.ui.session import Session
from studio.ui.settings import WindowSettings
from studio.ui.shell import Shell
from studio.ui.state import Link
from studio.ui.theme import Look
from studio.ui.viewmodels.frame import PageId
from studio.ui.viewmodels.settings import Section
from tests.ui.conftest import ASSETS
from tests.ui.fake_service import FakeService
from tests.ui.fake_settings import FakeSettings
from tests.ui.opened import opened
from tests.ui.test_daily_look import PATIENCE_MS, Here
from tests.ui.test_shell import Desktop
from tests.ui.test_window import button, click, shown, text


@pytest.fixture
def settings(service: FakeService) -> FakeSettings:
    """Return what the service keeps: it has looked, and found 1.1.0."""
    made = FakeSettings(service)
    made.care = CareSettings(check_updates=True)
    found = msgspec.structs.replace(made.more.program, state=UpdateState.OFFERED, offered="1.1.0")
    made.more.program = found
    return made


@pytest.fixture
def kept(tmp_path: Path) -> WindowSettings:
    """Return what the window remembers."""
    return WindowSettings(tmp_path)


@pytest.fixture
def shell(
    qapp: QApplication, look: Look, session: Session, bridge: Bridge, kept: WindowSettings,
    settings: FakeSettings, monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Shell]:  # fmt: skip
    """Return a shell with a tray, whose window nobody looks at; it has not begun."""
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere/bus")
    made = Shell(qapp, look, session, bridge, kept, ASSETS, tray=Desktop(look))
    made.tray.appear()
    yield made
    made.quit()
    made.window.deleteLater()
    qapp.setQuitOnLastWindowClosed(True)


def test_what_the_service_found_is_in_the_window_and_said_once(
    qtbot: QtBot, shell: Shell, session: Session, kept: WindowSettings, bridge: Bridge,
    service: FakeService,
) -> None:  # fmt: skip
    """Nobody opens the settings every day; a press leads to what is new."""
    desktop = shell.tray
    assert isinstance(desktop, Desktop)
    session.begin()
    qtbot.waitUntil(lambda: len(desktop.said) == 1)
    assert desktop.said[0].title == "Version 1.1.0 is there"
    entry = button(shell.window, "rail-newer")
    assert entry.text().strip() == "1.1.0 is there"
    assert kept.told_version == "1.1.0"

    shell.newer.version = None  # as the next window begins
    with qtbot.waitSignal(shell.newer.changed):
        shell.newer.read()
    shell.window.show()
    click(qtbot, shell.window, "rail-newer")

    assert shell.window.front is PageId.SETTINGS
    qtbot.waitUntil(lambda: text(shell.window, "value-program.check") == "Version 1.1.0 is there.")
    assert len(desktop.said) == 1


def test_a_look_by_hand_and_the_step_after_it_are_seen_at_once(
    qtbot: QtBot, shell: Shell, session: Session, settings: FakeSettings
) -> None:
    """What the settings have read, the rail knows; one that was chosen is no news any more."""
    settings.more.program = msgspec.structs.replace(
        settings.more.program, state=UpdateState.NEWEST, offered=None
    )
    session.begin()
    qtbot.waitUntil(lambda: session.known.link is Link.LIVE)
    shell.window.show()
    page = opened(shell.window, PageId.SETTINGS, SettingsController)
    page.choose(Section.UPDATES)
    qtbot.waitUntil(lambda: shown(shell.window, "do-program.check"))
    assert button(shell.window, "rail-newer").isHidden()

    click(qtbot, shell.window, "do-program.check")
    qtbot.waitUntil(lambda: not button(shell.window, "rail-newer").isHidden())

    waiting = msgspec.structs.replace(
        settings.more.program, state=UpdateState.WAITING, waiting="1.1.0"
    )
    shell.newer.take(waiting)
    assert button(shell.window, "rail-newer").isHidden()


def test_on_windows_what_the_window_found_is_known_without_the_settings(
    qtbot: QtBot, service: FakeService, settings: FakeSettings, tmp_path: Path
) -> None:
    """There the service is another program, and this side looks."""
    here = Here(tmp_path)
    here.windows.offer()
    bridge = Bridge(service.connect, None, here.client)
    daily = DailyLook(bridge)
    newer = Newer(bridge, daily)
    try:
        bridge.start()
        qtbot.waitUntil(lambda: newer.version is not None, timeout=PATIENCE_MS)
        assert newer.version == "1.1.0"
        assert not any(route.startswith("/update") for route, _ in service.asked)
    finally:
        bridge.close()
