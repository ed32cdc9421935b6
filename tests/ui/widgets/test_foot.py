"""The foot of a page: words that give way, a button that does not."""

from pytestqt.qtbot import QtBot

from studio.ui.theme import Look
from studio.ui.viewmodels.words import ButtonView
from studio.ui.widgets.foot import Foot


def test_a_long_path_takes_no_room_from_the_button(qtbot: QtBot, look: Look) -> None:
    """The button is why the foot is there."""
    foot = Foot(look, "first", "first-go")
    qtbot.addWidget(foot)
    foot.show_lines(("/mnt/" + "a_name_without_a_blank" * 40,), ButtonView(text="Go on"))
    foot.resize(400, foot.heightForWidth(400))
    with qtbot.waitExposed(foot):
        foot.show()

    assert foot.button.width() >= foot.button.sizeHint().width()
    assert foot.rect().contains(foot.button.geometry())
    assert foot.minimumSizeHint().width() <= 400
