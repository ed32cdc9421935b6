"""A choice that opens."""

from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QStyleOptionComboBox
from pytestqt.qtbot import QtBot

from studio.ui.widgets.box import Box

WORDS = ("Key “Claude Code on the laptop”, made when needed", "None")


def made(qtbot: QtBot, width: int) -> Box:
    """Return a box with a long and a short text."""
    box = Box()
    qtbot.addWidget(box)
    box.addItems(WORDS)
    box.resize(width, 32)
    return box


def drawn(box: Box) -> str:
    """Return what stands in the closed box."""
    option = QStyleOptionComboBox()
    box.initStyleOption(option)
    return option.currentText


def test_a_text_without_room_ends_in_dots_and_stays_what_it_is(qtbot: QtBot) -> None:
    """Half a letter at the arrow looks broken; screen readers and code see the whole."""
    box = made(qtbot, 160)

    assert drawn(box).endswith("…")
    assert box.currentText() == WORDS[0]
    assert drawn(made(qtbot, 900)) == WORDS[0]
    box.setCurrentIndex(1)
    assert drawn(box) == "None"


def test_the_wheel_scrolls_the_page_and_changes_nothing(qtbot: QtBot) -> None:
    """Else a preset changes because somebody read on."""
    box = made(qtbot, 160)
    turned = QWheelEvent(
        QPointF(9, 9), QPointF(9, 9), QPoint(), QPoint(0, -120), Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip

    box.wheelEvent(turned)

    assert box.currentIndex() == 0
    assert not turned.isAccepted()
