"""The switch."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from pytestqt.qtbot import QtBot

from studio.ui.theme import Look, ThemeChoice
from studio.ui.widgets.switch import Switch


def test_it_turns_by_mouse_and_keyboard_and_looks_different(qtbot: QtBot, look: Look) -> None:
    """The knob's place and the word say it, the colour only helps."""
    switch = Switch(look, "switch", "Offline")
    qtbot.addWidget(switch)
    switch.resize(switch.sizeHint())
    off = switch.grab().toImage()

    qtbot.mouseClick(switch, Qt.MouseButton.LeftButton, pos=switch.rect().center())
    assert switch.isChecked()
    on = switch.grab().toImage()
    assert on != off

    qtbot.keyClick(switch, Qt.Key.Key_Space)
    assert not switch.isChecked()
    look.choose(ThemeChoice.LIGHT)
    assert switch.grab().toImage() != off


def test_a_screen_reader_meets_a_check_box_with_its_name(qtbot: QtBot, look: Look) -> None:
    """Painting it ourselves must not take that away."""
    switch = Switch(look, "switch", "Offline")
    qtbot.addWidget(switch)
    heard = QAccessible.queryAccessibleInterface(switch)

    assert heard is not None
    assert heard.role() is QAccessible.Role.CheckBox
    assert heard.text(QAccessible.Text.Name) == "Offline"
