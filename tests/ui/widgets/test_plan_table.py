"""The card of one plan or two."""

from pytestqt.qtbot import QtBot

from studio.ui.theme import Look
from studio.ui.viewmodels.compare import Side, compare_view
from studio.ui.widgets.plan_table import PlanTable
from tests.ui.fake_serving import recorded_plan
from tests.ui.tree import tree_text

BEFORE = recorded_plan("card-wsl2")
AFTER = recorded_plan("changed-wsl2")


def test_two_plans_show_two_bars_and_one_table(qtbot: QtBot, look: Look) -> None:
    """And the second goes when only one is left."""
    card = PlanTable(look, "plan")
    qtbot.addWidget(card)
    card.show_view(
        compare_view([Side(title="Before", plan=BEFORE), Side(title="After", plan=AFTER)])
    )
    card.show()
    two = tree_text(card)

    card.show_view(compare_view([Side(title="After", plan=AFTER)]))

    one = tree_text(card)
    assert two.count("LedgerBar #plan-side-") == 2
    assert '"Pool, tokens  ≠"' in two
    assert one.count("LedgerBar #plan-side-") == 1
    assert "≠" not in one
    assert '"55,864"' in one
    assert '"68,605"' not in one
