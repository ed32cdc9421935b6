"""The list of chat clients."""

import msgspec
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from studio.ui.theme import Look
from studio.ui.viewmodels.connect import ChoiceView
from studio.ui.widgets.client_list import ClientList

VIEWS = tuple(
    ChoiceView(id=name, text=name, tooltip="", spoken=name, is_found=name == "a")
    for name in ("a", "b")
)


def test_a_press_chooses_and_the_mark_follows(qtbot: QtBot, look: Look) -> None:
    """Only one is marked."""
    made = ClientList(look)
    qtbot.addWidget(made)
    made.show_choices(VIEWS, "a")
    a, b = (made.findChild(QPushButton, f"client-{name}") for name in ("a", "b"))
    assert a is not None
    assert b is not None
    assert a.isChecked()

    with qtbot.waitSignal(made.chosen) as heard:
        qtbot.mouseClick(b, Qt.MouseButton.LeftButton)

    assert heard.args == ["b"]
    assert not a.isChecked()


def test_no_name_is_cut(qtbot: QtBot, look: Look) -> None:
    """“VS Code（Copilot，自带密钥） ✓” is wider than the list that most names need."""
    name = "VS Code（Copilot，自带密钥） with a sign ✓"
    made = ClientList(look)
    qtbot.addWidget(made)
    made.show_choices((VIEWS[0], msgspec.structs.replace(VIEWS[1], text=name)), "a")
    made.show()
    made.grab()

    assert made.horizontalScrollBar().maximum() == 0
