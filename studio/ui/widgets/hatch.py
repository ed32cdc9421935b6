"""Fills with colour or with hatching, which is as wide on a dense screen as on any other.

Qt's own patterns are made of the screen's dots: on a screen of 200 % they are half as wide, and
look like a plain grey.
"""

from math import ceil

from PySide6.QtCore import QLineF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

_APART = 6.0
"""From one line to the next, along the edge, in px."""


def fill(painter: QPainter, area: QRectF, colour: QColor, *, hatched: bool) -> None:
    """Fill `area`, inside whatever the painter is clipped to."""
    if not hatched:
        painter.fillRect(area, colour)
        return
    painter.save()
    painter.setClipRect(area, Qt.ClipOperation.IntersectClip)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(colour, 1))
    count = ceil((area.width() + area.height()) / _APART)
    painter.drawLines(
        [
            QLineF(left, area.bottom(), left + area.height(), area.top())
            for left in (area.left() - area.height() + _APART * place for place in range(count))
        ]
    )
    painter.restore()
