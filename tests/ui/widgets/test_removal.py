"""The question before something is removed."""

from PySide6.QtWidgets import QAbstractButton, QApplication
from pytestqt.qtbot import QtBot

from studio.ui.theme import Look
from studio.ui.viewmodels.words import ButtonView, RemovalView
from studio.ui.widgets.removal import RemovalCard


def test_the_careful_answer_has_the_focus_and_each_answer_is_heard(
    qtbot: QtBot, look: Look
) -> None:
    """Enter, pressed a moment too early, must remove nothing."""
    card = RemovalCard(look, "x", "Keep it")
    qtbot.addWidget(card)
    view = RemovalView(
        title="Remove x?",
        lines=("1 GiB", "2 files"),
        button=ButtonView(text="Remove"),
    )
    with qtbot.waitExposed(card):
        card.show_view(view)
    card.activateWindow()
    keep = card.findChild(QAbstractButton, "x-no")
    remove = card.findChild(QAbstractButton, "x-yes")
    assert keep is not None
    assert remove is not None
    qtbot.waitUntil(lambda: QApplication.focusWidget() is keep)

    with qtbot.waitSignal(card.kept):
        keep.click()
    with qtbot.waitSignal(card.removed):
        remove.click()
    card.show_view(None)
    assert card.isHidden()
