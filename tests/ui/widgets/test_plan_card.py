"""The plan beside the chooser."""

from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

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
