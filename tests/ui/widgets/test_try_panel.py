"""The panel that streams one answer."""

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QFocusEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from studio.domain.clients import TryPiece
from studio.ui.theme import Look
from studio.ui.viewmodels.connect import TryState, try_view
from studio.ui.widgets.try_panel import TryPanel

TAB = Qt.FocusReason.TabFocusReason


def test_enter_asks_and_pieces_are_appended(qtbot: QtBot, look: Look) -> None:
    """A long answer is not written anew with each piece."""
    made = TryPanel(look)
    qtbot.addWidget(made)
    made.show_view(try_view(TryState.IDLE, (), is_serving=True))

    with qtbot.waitSignal(made.asked):
        qtbot.keyClick(made.field, Qt.Key.Key_Return)
    pieces = (TryPiece(text="One"),)
    made.show_view(try_view(TryState.STREAMS, pieces, is_serving=True))
    document = made.answer.document()
    revision = document.revision()
    pieces += (TryPiece(text=" two\nthree"),)
    made.show_view(try_view(TryState.STREAMS, pieces, is_serving=True))

    assert made.answer.toPlainText() == "One two\nthree"
    assert document.revision() - revision <= 2


def test_an_empty_prompt_asks_nothing(qtbot: QtBot, look: Look) -> None:
    """Neither does one while an answer comes."""
    made = TryPanel(look)
    qtbot.addWidget(made)
    made.show_view(try_view(TryState.IDLE, (), is_serving=True))
    made.field.setText("  ")
    with qtbot.assertNotEmitted(made.asked):
        qtbot.keyClick(made.field, Qt.Key.Key_Return)


def test_the_prompt_shows_its_beginning_until_somebody_writes(qtbot: QtBot, look: Look) -> None:
    """In the smallest window it stood there as “…s what a weir does in a river.”"""
    made = TryPanel(look)
    qtbot.addWidget(made)
    assert made.field.cursorPosition() == 0

    QApplication.sendEvent(made.field, QFocusEvent(QEvent.Type.FocusIn, TAB))
    assert made.field.cursorPosition() == len(made.field.text())
    QApplication.sendEvent(made.field, QFocusEvent(QEvent.Type.FocusOut, TAB))

    assert made.field.cursorPosition() == 0
