"""Where the window was: kept for the next one, also where that place is gone."""

from pathlib import Path

from PySide6.QtCore import QByteArray, QPoint
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from studio.ui.bridge import Bridge
from studio.ui.session import Session
from studio.ui.settings import WindowSettings
from studio.ui.theme import Look
from studio.ui.window import FIRST_SIZE, SMALLEST, MainWindow


def opened(
    qtbot: QtBot, look: Look, session: Session, bridge: Bridge, settings: WindowSettings
) -> MainWindow:
    """Return a window that is shown."""
    window = MainWindow(look, session, bridge, settings)
    qtbot.addWidget(window)
    with qtbot.waitSignal(window.painted):
        window.show()
    return window


def test_a_window_that_was_on_a_monitor_which_is_gone_comes_back_in_sight(
    qtbot: QtBot, look: Look, session: Session, bridge: Bridge, tmp_path: Path
) -> None:
    """A title bar outside of every screen cannot be dragged back."""
    settings = WindowSettings(tmp_path)
    first = opened(qtbot, look, session, bridge, settings)
    first.move(QPoint(9_000, 7_000))
    first.remember()
    first.hide()

    again = opened(qtbot, look, session, bridge, settings)

    screen = QGuiApplication.primaryScreen().availableGeometry()
    assert screen.contains(again.pos())
    assert again.width() <= max(screen.width(), SMALLEST[0])


def test_a_frame_that_cannot_be_read_is_none(
    qtbot: QtBot, look: Look, session: Session, bridge: Bridge, tmp_path: Path
) -> None:
    """A file that another version wrote, or that a disk spoilt."""
    settings = WindowSettings(tmp_path)
    settings.geometry = QByteArray(b"\x01\xd9\xd0\xcb broken")

    window = opened(qtbot, look, session, bridge, settings)

    assert (window.width(), window.height()) == FIRST_SIZE
