"""The steps of an installation."""

from pytestqt.qtbot import QtBot

from studio.ui.theme import Look
from studio.ui.viewmodels.runtimes_beside import trail
from studio.ui.widgets.trail import Trail
from tests.ui.fake_runtimes import INSTALLING


def test_the_step_under_way_is_told_and_no_steps_take_no_room(qtbot: QtBot, look: Look) -> None:
    """A screen reader hears the number and the word."""
    line = Trail(look, "trail")
    qtbot.addWidget(line)
    assert line.isHidden()

    line.show_steps(trail(INSTALLING))

    assert line.isVisible()
    assert line.accessibleName() == "Step 3 of 10: Fetch"
    assert not line.grab().isNull()
    line.show_steps(())
    assert line.isHidden()
