"""The window without a mouse."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QEvent, QObject, QPoint, QRect, Qt
from PySide6.QtGui import QImage, QKeyEvent, QShortcut
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSpinBox,
    QApplication,
    QLineEdit,
    QScrollArea,
    QWidget,
)
from pytestqt.qtbot import QtBot

from studio.ui.controllers.table import CONTROLLERS
from studio.ui.focus import FocusKeeper
from studio.ui.sight import holder
from studio.ui.viewmodels.frame import PageId
from studio.ui.viewmodels.keyboard import key_groups
from studio.ui.window import SMALLEST, MainWindow
from tests.ui.fake_service import FakeService
from tests.ui.screenshots import ready
from tests.ui.visits import PLACES, places, visit

MOST = 200


@pytest.fixture
def served(
    qtbot: QtBot, qapp: QApplication, service: FakeService, window: MainWindow
) -> MainWindow:
    """Return a window with everything that there is to show, in front, and little room for it."""
    ready(service)
    FocusKeeper(qapp, window)
    window.resize(*SMALLEST)
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    return window


class Stop:
    """A widget that the tabulator stops at, with its picture and whether it was in sight."""

    def __init__(self, widget: QWidget) -> None:
        self.widget = widget
        self.picture = picture(widget)
        self.is_seen = is_seen(widget)


def is_seen(widget: QWidget) -> bool:
    """Tell whether no scroll area around a widget hides any of it that has room there."""
    area = holder(widget)
    while area is not None:
        port = area.viewport()
        lies = QRect(widget.mapTo(port, QPoint()), widget.size())
        seen = lies.intersected(port.rect())
        if seen.height() < min(lies.height(), port.height()):
            return False
        area = holder(area)
    return widget.isVisible()


def picture(widget: QWidget) -> QImage:
    """Return what a widget looks like now."""
    return widget.grab().toImage()


def name(widget: QWidget) -> str:
    """Return what a widget is called."""
    return widget.objectName() or type(widget).__name__


def begin(window: MainWindow) -> QAbstractButton:
    """Put the focus on the rail's entry of the page in front."""
    entry = window.findChild(QAbstractButton, f"rail-{window.front.value}")
    assert entry is not None
    entry.setFocus()
    return entry


def walk(window: MainWindow, key: Qt.Key) -> Iterator[Stop]:
    """Press a key until the focus is back where it was, and yield each stop."""
    first = begin(window)
    for _ in range(MOST):
        yield Stop(focused())
        QTest.keyClick(focused(), key)
        if focused() is first:
            return
    raise AssertionError(f"{key} does not come back")


def focused() -> QWidget:
    """Return what has the focus."""
    found = QApplication.focusWidget()
    assert found is not None
    return found


def wants_focus(one: QWidget) -> bool:
    """Tell whether the tabulator has to stop there."""
    is_inside = isinstance(one, QLineEdit) and isinstance(one.parent(), QAbstractSpinBox)
    return (
        one.isVisible()
        and one.isEnabled()
        and bool(one.focusPolicy() & Qt.FocusPolicy.TabFocus)
        and one.focusProxy() is None
        and not isinstance(one, QScrollArea)
        and not is_inside
    )


@pytest.mark.parametrize("page", list(CONTROLLERS))
def test_the_tabulator_goes_around_in_both_directions_and_is_seen_at_every_stop(
    qtbot: QtBot, served: MainWindow, page: PageId
) -> None:
    """Nothing is left out, nothing traps, nothing is reached out of sight or without a ring; and
    what it reached is pressed by Enter, which Qt knows in dialogs only, and the space bar.
    """
    for place in places(page):
        visit(qtbot, served, place)
        there = list(walk(served, Qt.Key.Key_Tab))
        return_way = list(walk(served, Qt.Key.Key_Backtab))
        back = [one.widget for one in return_way]

        stops = [one.widget for one in there]
        assert [name(one) for one in back] == [name(one) for one in (stops[0], *stops[:0:-1])]
        missed = {one for one in served.findChildren(QWidget) if wants_focus(one)} - set(stops)
        assert [name(one) for one in missed] == []
        assert [name(one.widget) for one in (*there, *return_way) if not one.is_seen] == []
        served.setFocus()
        assert [name(one.widget) for one in there if picture(one.widget) == one.picture] == []
        assert [
            name(one) for one in stops if isinstance(one, QAbstractButton) and is_deaf(one)
        ] == []


def is_deaf(button: QAbstractButton) -> bool:
    """Tell whether a button hears Enter or the space bar not; what it does is not done."""
    silenced = [one for one in (button, button.group()) if one is not None]
    for one in silenced:
        one.blockSignals(True)
    button.setFocus()
    enter = QKeyEvent(QEvent.Type.KeyPress, Qt.Key.Key_Return, Qt.KeyboardModifier.NoModifier)
    before = button.isChecked()
    QApplication.sendEvent(button, enter)
    QTest.keyPress(button, Qt.Key.Key_Space)
    is_deaf = not (enter.isAccepted() and button.isDown())
    button.setDown(False)
    button.setChecked(before)
    for one in silenced:
        one.blockSignals(False)
    return is_deaf


def test_enter_brings_a_page_to_the_front(qtbot: QtBot, window: MainWindow) -> None:
    """The whole way, once."""
    entry = window.findChild(QAbstractButton, "rail-keys")
    assert entry is not None
    entry.setFocus()

    qtbot.keyClick(entry, Qt.Key.Key_Return)

    assert window.front is PageId.KEYS


def test_the_focus_goes_with_the_page_in_the_rail(qtbot: QtBot, window: MainWindow) -> None:
    """Else the mark lies on one page and the ring on another."""
    entry = window.findChild(QAbstractButton, "rail-serve")
    now = window.findChild(QAbstractButton, "rail-connect")
    assert entry is not None
    assert now is not None
    entry.setFocus()

    window.show_page(PageId.CONNECT)

    assert window.focusWidget() is now


class Windows(QObject):
    """Hears of every window that is shown."""

    def __init__(self) -> None:
        super().__init__()
        self.shown: list[str] = []

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keep its name."""
        if event.type() == QEvent.Type.Show and isinstance(watched, QWidget) and watched.isWindow():
            self.shown.append(name(watched))
        return False


def test_no_part_of_a_page_is_a_window_for_a_moment_and_every_shortcut_is_listed_once(
    qtbot: QtBot, qapp: QApplication, served: MainWindow
) -> None:
    """What is shown before it lies somewhere flashes on the screen and takes the keyboard away; a
    key that is nowhere written is nobody's, and of two that are the same Qt takes neither.
    """
    windows = Windows()
    qapp.installEventFilter(windows)
    for place in PLACES:
        visit(qtbot, served, place)
    qapp.removeEventFilter(windows)
    keys = [one.key().toString() for one in served.findChildren(QShortcut)]
    keys += [
        one.shortcut().toString()
        for one in served.findChildren(QAbstractButton)
        if not one.shortcut().isEmpty()
    ]
    listed = {
        part for group in key_groups(tuple(PageId)) for words, _does in group.keys
        for part in words.split(" / ")
    }  # fmt: skip

    assert windows.shown == []
    assert served.isActiveWindow()
    assert len(keys) == len(set(keys))
    assert set(keys) <= listed
