"""The calm card."""

from pytestqt.qtbot import QtBot

from studio.ui.theme import Look
from studio.ui.widgets.calm import CalmCard
from tests.ui.test_window import click


def test_an_answer_closes_it_and_is_told(qtbot: QtBot, look: Look) -> None:
    """It never blocks, and it never stays when it has been answered."""
    card = CalmCard(look, "card", "Title", "Text.", (("yes", "Yes"), ("no", "No")))
    qtbot.addWidget(card)
    assert card.isHidden()
    card.begin()

    with qtbot.waitSignal(card.chosen) as chosen:
        click(qtbot, card, "card-no")

    assert chosen.args == ["no"]
    assert card.isHidden()
    assert card.buttons["yes"].property("kind") == "primary"
