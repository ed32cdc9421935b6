"""Signs for states."""

from pytestqt.qtbot import QtBot

from studio.ui.theme import Look
from studio.ui.viewmodels.words import Role, Shape
from studio.ui.widgets.sign import Sign


def test_every_shape_can_be_told_from_every_other_without_colour(qtbot: QtBot, look: Look) -> None:
    """One man in twelve does not see the difference of red and green."""
    sign = Sign(look)
    qtbot.addWidget(sign)
    pictures = []
    for shape in Shape:
        sign.show_sign(shape, Role.INK)
        pictures.append(sign.grab().toImage())

    assert all(a != b for place, a in enumerate(pictures) for b in pictures[:place])
