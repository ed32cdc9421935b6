"""The plan beside the chooser."""

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QAbstractButton, QWidget
from pytestqt.qtbot import QtBot

from studio.domain.hardware import Gpu
from studio.ui.theme import Look
from studio.ui.viewmodels.plan import plan_view
from studio.ui.widgets.plan_card import PlanCard
from tests.ui.fake_serving import recorded_plan


def test_a_plan_that_is_gone_leaves_no_ledger_behind(qtbot: QtBot, look: Look) -> None:
    """The bar of the preset before would pass for that of the one marked now."""
    card = PlanCard(look, "plan")
    qtbot.addWidget(card)
    card.show_plan(plan_view(recorded_plan("card-wsl2"), None, is_planning=False))
    with qtbot.waitExposed(card):
        card.show()
    ledger = card.findChild(QWidget, "ledger-0")
    assert ledger.isVisible()

    card.show_plan(plan_view(None, None, is_planning=True))

    assert not ledger.isVisible()


def test_eight_cards_stand_side_by_side_with_their_numbers_readable(
    qtbot: QtBot, look: Look
) -> None:
    """In the width that the card has beside the chooser; they were eight colons once."""
    card = PlanCard(look, "plan")
    qtbot.addWidget(card)
    card.setFixedWidth(292)
    cards = tuple(Gpu(index=index, name="NVIDIA H200") for index in range(8))
    card.cards.show_cards(cards, (0,))
    with qtbot.waitExposed(card):
        card.show()

    buttons = [card.findChild(QAbstractButton, f"card-{index}") for index in range(8)]
    rights = [one.mapTo(card, QPoint(one.width(), 0)).x() for one in buttons]
    assert max(rights) <= card.width()
    room = buttons[0].contentsRect().width()
    assert room >= buttons[0].fontMetrics().horizontalAdvance("0") + 8
    assert len({one.y() for one in buttons}) == 1
