"""Sentences one below the other."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPushButton
from pytestqt.qtbot import QtBot

from studio.ui.theme import Look
from studio.ui.widgets.note_list import NoteList

NOTES = tuple(f"Card {number} has too little room." for number in range(8))


def parts(made: NoteList) -> tuple[QLabel, QPushButton]:
    """Return its words and its button."""
    words, more = made.findChild(QLabel, "notes"), made.findChild(QPushButton, "notes-more")
    assert words is not None
    assert more is not None
    return words, more


def test_many_sentences_are_folded_until_they_are_asked_for(qtbot: QtBot, look: Look) -> None:
    """Eight cards said sixteen sentences, and the bars lay below the edge of the window."""
    made = NoteList(look, "notes", bullet="• ")
    qtbot.addWidget(made)
    made.show_notes(NOTES)
    words, more = parts(made)
    assert words.text().splitlines() == [f"• {one}" for one in NOTES[:3]]
    assert more.text() == "5 more"

    qtbot.mouseClick(more, Qt.MouseButton.LeftButton)
    made.show_notes(NOTES)
    assert len(words.text().splitlines()) == 8
    assert more.text() == "Fewer"

    made.show_notes(NOTES[1:])
    assert len(words.text().splitlines()) == 3


def test_few_sentences_all_stand_there(qtbot: QtBot, look: Look) -> None:
    """A button for one line is longer than the line."""
    made = NoteList(look, "notes")
    qtbot.addWidget(made)
    made.show_notes(NOTES[:4])
    words, more = parts(made)
    assert len(words.text().splitlines()) == 4
    assert more.isHidden()

    made.show_notes(())
    assert made.isHidden()
