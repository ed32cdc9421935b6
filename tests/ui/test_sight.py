"""What has the keyboard's focus is in sight."""

from collections.abc import Sequence

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QHBoxLayout,
    QPlainTextEdit,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)
from pytestqt.qtbot import QtBot

from studio.ui.focus import FocusKeeper
from studio.ui.sight import bring_into_sight, holder


@pytest.fixture
def window(qtbot: QtBot, qapp: QApplication) -> QWidget:
    """Return a button beside an area that shows few of its buttons, in a window that is watched."""
    made = QWidget()
    row = QHBoxLayout(made)
    row.addWidget(button("beside"))
    row.addWidget(scrolled([button(f"b{number}") for number in range(40)]))
    FocusKeeper(qapp, made)
    made.resize(300, 200)
    qtbot.addWidget(made)
    with qtbot.waitExposed(made):
        made.show()
    made.activateWindow()
    named(made, "beside").setFocus()
    qtbot.waitUntil(lambda: QApplication.focusWidget() is named(made, "beside"))
    return made


def button(name: str) -> QPushButton:
    """Return a button."""
    made = QPushButton(name)
    made.setObjectName(name)
    return made


def scrolled(widgets: Sequence[QWidget]) -> QScrollArea:
    """Return an area with widgets one below the other."""
    content = QWidget()
    column = QVBoxLayout(content)
    for widget in widgets:
        column.addWidget(widget)
    area = QScrollArea()
    area.setWidgetResizable(True)
    area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    area.setWidget(content)
    return area


def named(window: QWidget, name: str) -> QPushButton:
    """Return a button."""
    found = window.findChild(QPushButton, name)
    assert found is not None
    return found


def is_whole(widget: QWidget) -> bool:
    """Tell whether every area around a widget shows all of it."""
    area = holder(widget)
    assert area is not None
    while area is not None:
        port = area.viewport()
        if not port.rect().contains(QRect(widget.mapTo(port, QPoint()), widget.size())):
            return False
        area = holder(area)
    return True


def test_what_is_reached_from_outside_of_an_area_is_scrolled_to(window: QWidget) -> None:
    """Qt does so only for steps within one area: Shift+Tab went to a button nobody could see."""
    assert not is_whole(named(window, "b39"))

    QTest.keyClick(named(window, "beside"), Qt.Key.Key_Backtab)

    assert QApplication.focusWidget() is named(window, "b39")
    assert is_whole(named(window, "b39"))


def test_a_press_of_the_mouse_moves_nothing(window: QWidget) -> None:
    """What moves below the pointer is missed by the second click."""
    area = holder(named(window, "b0"))
    assert area is not None
    area.verticalScrollBar().setValue(14)
    assert not is_whole(named(window, "b0"))

    at = named(window, "b0").mapTo(window, named(window, "b0").rect().center())
    QTest.mousePress(window.windowHandle(), Qt.MouseButton.LeftButton, pos=at)
    QTest.mouseRelease(window.windowHandle(), Qt.MouseButton.LeftButton, pos=at)

    assert QApplication.focusWidget() is named(window, "b0")
    assert area.verticalScrollBar().value() == 14


def test_a_button_that_rests_scrolls_nothing(window: QWidget) -> None:
    """Its neighbour has the focus meanwhile; a person may have scrolled on, and reads there."""
    named(window, "b5").setFocus()
    area = holder(named(window, "b5"))
    assert area is not None
    named(window, "b5").setEnabled(False)
    area.verticalScrollBar().setValue(area.verticalScrollBar().maximum())

    named(window, "b5").setEnabled(True)

    assert QApplication.focusWidget() is named(window, "b5")
    assert area.verticalScrollBar().value() == area.verticalScrollBar().maximum()


def test_areas_within_areas_scroll_too_and_what_is_larger_than_one_shows_where_one_writes(
    qtbot: QtBot,
) -> None:
    """The list of settings scrolls inside its page; a long text does not fit into either."""
    text = QPlainTextEdit("\n".join(str(number) for number in range(20)))
    text.setFixedHeight(900)
    inner = scrolled([button("a"), button("b"), text])
    inner.setFixedHeight(120)
    outer = scrolled([*(button(f"o{number}") for number in range(40)), inner])
    qtbot.addWidget(outer)
    outer.resize(200, 200)
    with qtbot.waitExposed(outer):
        outer.show()

    text.moveCursor(QTextCursor.MoveOperation.End)
    bring_into_sight(text)
    caret = text.cursorRect().translated(text.mapTo(inner.viewport(), QPoint()))
    assert inner.viewport().rect().contains(caret.center())

    bring_into_sight(named(outer, "b"))
    assert is_whole(named(outer, "b"))
