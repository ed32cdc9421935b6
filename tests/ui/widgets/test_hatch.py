"""Hatching."""

from itertools import pairwise

import pytest
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPainter

from studio.ui.widgets.hatch import fill

OUTSIDE = ((15, 20), (14, 48), (20, 15), (145, 20))
"""In dots of a picture at 200 %."""


def drawn(ratio: float, *, hatched: bool = True) -> QImage:
    """Return what lies in a row of an area of 64 by 16 px, 8 px from the edge of its picture."""
    image = QImage(round(80 * ratio), round(32 * ratio), QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(ratio)
    image.fill(Qt.GlobalColor.white)
    painter = QPainter(image)
    fill(painter, QRectF(8, 8, 64, 16), QColor("black"), hatched=hatched)
    painter.end()
    return image


def lines(image: QImage) -> int:
    """Return how many dark lines its middle row crosses."""
    row = [image.pixelColor(x, image.height() // 2).value() < 160 for x in range(image.width())]
    return sum(now and not before for before, now in pairwise(row))


@pytest.mark.parametrize("ratio", [1.0, 1.25, 1.5, 2.0, 3.0])
def test_hatching_is_as_wide_on_a_dense_screen(ratio: float) -> None:
    """At 200 % free memory was hatched so finely that it looked like a part in use."""
    assert lines(drawn(ratio)) in (10, 11)


def test_nothing_is_drawn_outside() -> None:
    """Lines begin left of the area, so that its corner is filled, too."""
    for hatched in (True, False):
        image = drawn(2.0, hatched=hatched)
        edges = [image.pixelColor(x, y).name() for x, y in OUTSIDE]
        assert edges == ["#ffffff"] * 4
    assert lines(drawn(2.0, hatched=False)) == 1
