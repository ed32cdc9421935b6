"""The small signs of slow paths."""

from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from studio.ui.theme import Look
from studio.ui.viewmodels.badges import BadgesView, badges_view
from studio.ui.widgets.badges import BadgeSigns
from studio.ui.widgets.sign import Sign
from tests.ui.viewmodels.test_badges import badge


def test_as_many_signs_as_slow_paths_each_with_its_words(qtbot: QtBot, look: Look) -> None:
    """Colour is never the only sign: shape, words and tooltip say the same."""
    signs = BadgeSigns(look)
    qtbot.addWidget(signs)

    signs.show_badges(badges_view([badge(0), badge(1)]))

    shown = [one for one in signs.findChildren(Sign) if not one.isHidden()]
    assert [one.accessibleName() for one in shown] == ["Slow path: Sign 0", "Slow path: Sign 1"]
    assert all("Do this." in one.toolTip() for one in shown)
    text = signs.findChild(QLabel, "badges-text")
    assert text is not None
    assert text.text() == "Sign 0 +1"
    assert not signs.isHidden()


def test_they_go_when_the_next_boot_shows_none(qtbot: QtBot, look: Look) -> None:
    """A sign that stays teaches people to look past it."""
    signs = BadgeSigns(look)
    qtbot.addWidget(signs)
    signs.show_badges(badges_view([badge(0)]))

    signs.show_badges(BadgesView())

    assert signs.isHidden()
