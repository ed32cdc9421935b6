"""The weir in the tray."""

import itertools

import pytest
from PySide6.QtGui import QColor

from studio.ui.theme import Look
from studio.ui.viewmodels.tray import TraySign
from studio.ui.viewmodels.words import Role, Shape
from studio.ui.widgets.tray_sign import tray_icon
from tests.ui.test_theme import contrast

SIGNS = (
    TraySign(),
    TraySign(level=0.0, shape=Shape.DOT, role=Role.OK),
    TraySign(level=0.9, shape=Shape.DOT, role=Role.OK),
    TraySign(level=0.9, spills=True, shape=Shape.DOT, role=Role.OK),
    TraySign(shape=Shape.HALF, role=Role.WATER),
    TraySign(shape=Shape.CROSS, role=Role.HARM),
    TraySign(shape=Shape.TRIANGLE, role=Role.WARN),
)


@pytest.mark.parametrize("size", [16, 22, 48])
def test_every_state_is_another_picture_in_every_size(look: Look, size: int) -> None:
    """Sixteen pixels are what most trays have."""
    pictures = [tray_icon(look, sign).pixmap(size, size).toImage() for sign in SIGNS]

    assert all(one != other for one, other in itertools.combinations(pictures, 2))


@pytest.mark.parametrize("size", [16, 22, 24, 32, 48])
def test_walls_fill_whole_pixels_and_stand_out_on_any_tray(look: Look, size: int) -> None:
    """Half pixels are a grey haze in a picture of sixteen; a panel may be white or black."""
    image = tray_icon(look, TraySign()).pixmap(size, size).toImage()
    places = itertools.product(range(size), range(size))
    colours = {image.pixelColor(x, y).name(QColor.NameFormat.HexArgb) for x, y in places}

    (wall,) = colours - {"#00000000"}
    assert wall.startswith("#ff")
    for panel in ("#FFFFFF", "#000000"):
        assert contrast(f"#{wall[3:]}", panel) >= 3.0
