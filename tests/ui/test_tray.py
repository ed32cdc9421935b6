"""The tray's sign and menu; the desktop's own part of it is not there offscreen."""

import msgspec
import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QSystemTrayIcon
from pytestqt.qtbot import QtBot

from studio.domain.control import GatewayInfo
from studio.ui.state import Known, Link
from studio.ui.theme import Look, ThemeChoice
from studio.ui.tray import Tray
from studio.ui.viewmodels.frame import frame_view
from studio.ui.viewmodels.tray import tray_view
from tests.ui.fake_service import BASE_URL, DEMO, READY

SERVING = Known(
    link=Link.LIVE, presets=(DEMO,), engine=READY, gateway=GatewayInfo(base_url=BASE_URL)
)


@pytest.fixture
def tray(look: Look) -> Tray:
    """Return a tray that shows a serving engine."""
    made = Tray(look)
    show(made, SERVING)
    return made


def show(tray: Tray, known: Known) -> None:
    """Show what is known."""
    frame = frame_view(known, 0.0, chosen=DEMO.id, choosing=False)
    tray.show_view(tray_view(known, frame))


def test_the_menu_does_what_it_says(qtbot: QtBot, tray: Tray) -> None:
    """Without opening the window."""
    for action, signal in (
        (tray.open, tray.open_asked),
        (tray.stop, tray.stop_asked),
        (tray.quit, tray.quit_asked),
    ):
        with qtbot.waitSignal(signal):
            action.trigger()
    tray.copy.trigger()

    assert QGuiApplication.clipboard().text() == BASE_URL
    assert tray.state.text() == "Try it, on any machine · Ready, booted in 49.8 s"
    assert not tray.state.isEnabled()
    assert not tray.start.isVisible()


def test_the_menu_follows_the_engine_and_the_sign_the_theme(
    qtbot: QtBot, look: Look, tray: Tray
) -> None:
    """An entry that stops nothing is worse than none."""
    icon = tray.icon.icon().cacheKey()
    show(tray, msgspec.structs.replace(SERVING, engine=msgspec.structs.replace(READY)))
    assert tray.icon.icon().cacheKey() == icon

    look.choose(ThemeChoice.LIGHT)
    assert tray.icon.icon().cacheKey() != icon
    show(tray, Known(link=Link.LIVE, presets=(DEMO,)))
    assert tray.start.isVisible()
    assert not tray.stop.isVisible()
    with qtbot.waitSignal(tray.start_asked):
        tray.start.trigger()


def test_a_press_on_the_sign_opens_the_window_and_a_menu_does_not(qtbot: QtBot, tray: Tray) -> None:
    """A right press wants the menu alone."""
    reason = QSystemTrayIcon.ActivationReason
    with qtbot.assertNotEmitted(tray.open_asked):
        tray.icon.activated.emit(reason.Context)
    with qtbot.waitSignal(tray.open_asked):
        tray.icon.activated.emit(reason.Trigger)


def test_without_a_tray_it_says_that_it_is_not_there(tray: Tray) -> None:
    """Offscreen there is none, as on plain GNOME."""
    assert not tray.appear()
    assert not tray.is_there
