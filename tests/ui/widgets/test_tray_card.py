"""The card about the tray."""

import pytest
from pytestqt.qtbot import QtBot

from studio.ui.theme import Look
from studio.ui.widgets.tray_card import TrayCard
from tests.ui.test_window import click


@pytest.mark.parametrize(("press", "into_tray"), [("tray", True), ("close", False)])
def test_both_answers_are_told(qtbot: QtBot, look: Look, press: str, *, into_tray: bool) -> None:
    """Either is a choice that holds from then on."""
    card = TrayCard(look)
    qtbot.addWidget(card)
    card.begin()

    with qtbot.waitSignal(card.answered) as answered:
        click(qtbot, card, f"tray-card-{press}")

    assert answered.args == [into_tray]
    assert card.isHidden()
