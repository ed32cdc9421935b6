"""The card that says what was done."""

from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from studio.ui.theme import Look
from studio.ui.viewmodels.runtimes_done import DoneView
from studio.ui.widgets.done import DoneCard


def test_it_comes_with_words_and_goes_without(qtbot: QtBot, look: Look) -> None:
    """Details only where there are any."""
    card = DoneCard(look, "done")
    qtbot.addWidget(card)
    assert card.isHidden()

    card.show_view(DoneView(text="It is whole.", lines=("a", "b")))
    assert [one.text() for one in card.findChildren(QLabel) if one.isVisible()] == [
        "It is whole.", "a\nb",
    ]  # fmt: skip
    assert card.accessibleName() == "It is whole."
    card.show_view(DoneView(text="Nothing to do."))
    assert [one.text() for one in card.findChildren(QLabel) if one.isVisible()] == [
        "Nothing to do."
    ]
    card.show_view(None)
    assert card.isHidden()
