"""Shapes of many points, made from columns of numbers."""

from PySide6.QtCore import QPointF
from PySide6.QtGui import QPainterPath, QPolygonF

from studio.ui.widgets.strokes import polyline, uprights

XS, LOWS, HIGHS = [0.5, 1.5, 1e9], [3.25, -4.0, 1e-9], [5.0, 6.125, 1e12]


def test_a_line_is_the_one_that_qt_makes_point_by_point() -> None:
    """It is read from Qt's own format, which could be another one in another Qt."""
    assert polyline(XS, LOWS) == QPolygonF(list(map(QPointF, XS, LOWS)))


def test_uprights_are_the_ones_that_qt_makes_one_by_one() -> None:
    """And each stands alone: a path that is drawn on has no stroke between two of them."""
    path = QPainterPath()
    for x, low, high in zip(XS, LOWS, HIGHS, strict=True):
        path.moveTo(x, low)
        path.lineTo(x, high)

    made = uprights(XS, LOWS, HIGHS)

    assert made == path
    made.lineTo(7.0, 8.0)
    path.lineTo(7.0, 8.0)
    assert made == path


def test_nothing_is_a_shape_without_points() -> None:
    """A chart of which nothing is known yet."""
    assert polyline([], []).isEmpty()
    assert uprights([], [], []).isEmpty()
