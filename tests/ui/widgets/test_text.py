"""Labels."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from studio.ui.theme import Look
from studio.ui.widgets.text import Elided, label, selectable, show_text

LONG = "A preset whose name somebody made much longer than any window is wide " * 3


def test_a_long_text_is_cut_and_stands_whole_in_the_tooltip(
    qtbot: QtBot, qapp: QApplication, look: Look
) -> None:
    """Names are made by people."""
    made = Elided()
    qtbot.addWidget(made)
    made.resize(120, 20)
    with qtbot.waitExposed(made):
        made.show()
    made.show_text(LONG)
    qtbot.waitUntil(lambda: made.toolTip() == LONG)

    made.show_text("short")
    qtbot.waitUntil(lambda: made.toolTip() == "")
    made.show_text("short", "a reason")
    assert made.toolTip() == "a reason"
    assert made.minimumSizeHint().width() <= 48


def test_text_is_never_read_as_markup(qtbot: QtBot, look: Look) -> None:
    """A model name or a log line may hold anything, a picture from afar included."""
    hostile = "<img src=file:///etc/passwd><b>x</b>"
    made = label("body", hostile)
    qtbot.addWidget(made)

    assert made.textFormat() is Qt.TextFormat.PlainText
    assert made.text() == hostile


def test_selectable_text_has_a_name_and_keyboard(qtbot: QtBot, look: Look) -> None:
    """Keys and errors are copied by hand where the clipboard fails."""
    made = selectable("mono", "The new key")
    qtbot.addWidget(made)
    show_text(made, "weir-key", "hint")

    flags = made.textInteractionFlags()
    assert flags & Qt.TextInteractionFlag.TextSelectableByKeyboard
    assert made.accessibleName() == "The new key"
    assert made.toolTip() == "hint"
