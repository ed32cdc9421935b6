"""Layouts carried out at once."""

from PySide6.QtWidgets import QLabel, QScrollArea, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from studio.ui.layouts import settle


def test_words_that_came_late_have_their_height_before_the_event_loop_turns(
    qtbot: QtBot,
) -> None:
    """Whoever paints next finds them whole."""
    content = QWidget()
    column = QVBoxLayout(content)
    words = QLabel("Short.")
    words.setWordWrap(True)
    column.addWidget(words)
    area = QScrollArea()
    area.setWidgetResizable(True)
    area.setWidget(content)
    area.resize(300, 100)
    qtbot.addWidget(area)
    with qtbot.waitExposed(area):
        area.show()

    words.setText("Some words. " * 60)
    assert words.height() < words.heightForWidth(words.width())
    settle()

    assert words.height() >= words.heightForWidth(words.width())
