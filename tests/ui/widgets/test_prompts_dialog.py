"""Kept prompts."""

from PySide6.QtWidgets import QPlainTextEdit, QPushButton
from pytestqt.qtbot import QtBot

from studio.ui.theme import Look
from studio.ui.widgets.prompts_dialog import PromptsDialog
from tests.ui.fake_keys import PROMPT


def test_prompts_are_shown_as_they_came_and_deleting_is_asked_for(qtbot: QtBot, look: Look) -> None:
    """Text, never markup: people write anything."""
    dialog = PromptsDialog(look, "Zed")
    qtbot.addWidget(dialog)
    dialog.show()
    text = dialog.findChild(QPlainTextEdit, "prompts-text")
    assert isinstance(text, QPlainTextEdit)

    dialog.show_entries((PROMPT,))
    assert PROMPT.body in text.toPlainText()
    assert "/v1/chat/completions" in text.toPlainText()
    button = dialog.findChild(QPushButton, "prompts-clear")
    assert isinstance(button, QPushButton)
    with qtbot.waitSignal(dialog.clear_asked):
        button.click()
    dialog.show_entries(())

    assert text.toPlainText() == "Nothing was kept yet."
