"""Names with their values."""

from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from studio.ui.theme import Look
from studio.ui.viewmodels.words import Text
from studio.ui.widgets.facts import Facts


def test_long_values_go_on_in_the_next_line_and_fewer_facts_hide_rows(
    qtbot: QtBot, look: Look
) -> None:
    """Requirements of an engine are a sentence, not a word."""
    facts = Facts(look, "facts")
    qtbot.addWidget(facts)
    facts.resize(300, 200)
    facts.show_facts((("Needs", Text(text="glibc 2.31 or newer, " * 9)), ("Size", Text(text="1"))))
    facts.show()
    labels = [one for one in facts.findChildren(QLabel) if one.isVisible()]
    assert len(labels) == 4
    assert max(one.height() for one in labels) > 2 * min(one.height() for one in labels)

    facts.show_facts((("Size", Text(text="2")),))

    assert [one.text() for one in facts.findChildren(QLabel) if one.isVisible()] == ["Size", "2"]
    facts.show_facts(())
    assert facts.isHidden()
