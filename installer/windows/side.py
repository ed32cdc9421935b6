"""The picture beside the first and the last page of the setup program, in the Studio's colours.

NSIS takes a bitmap; its own is a drawing of 1998. Twice as large as at 100 %, because most screens
scale.
"""

from pathlib import Path

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPainterPath
from PySide6.QtSvg import QSvgRenderer

_WIDTH, _HEIGHT = 328, 628
"""Twice the 164 by 314 of MUI's welcome page."""
_ICON = 176
_GROUND = "#0F1418"
_WAVES = (("#1F6F8B", 372, 26), ("#39A7C9", 420, 22), ("#1F6F8B", 496, 18))
"""Colour, height of the surface, and how far it swings; the colours are those of the icon."""


def write(picture: Path, target: Path) -> None:
    """Draw it; the same bytes each time. Raises: OSError."""
    image = QImage(_WIDTH, _HEIGHT, QImage.Format.Format_RGB888)
    image.fill(QColor(_GROUND))
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    for number, (colour, height, swing) in enumerate(_WAVES):
        painter.setBrush(QColor(colour))
        painter.drawPath(_wave(height, -swing if number % 2 else swing))
    place = QRectF((_WIDTH - _ICON) / 2, 96, _ICON, _ICON)
    QSvgRenderer(str(picture)).render(painter, place)
    painter.end()
    if not image.save(str(target), "BMP"):
        raise OSError(f"{target} could not be written")


def _wave(height: int, swing: int) -> QPainterPath:
    path = QPainterPath()
    path.moveTo(0, _HEIGHT)
    path.lineTo(0, height)
    half = _WIDTH / 2
    path.cubicTo(half / 3, height - swing, half * 2 / 3, height - swing, half, height)
    path.cubicTo(half * 4 / 3, height + swing, half * 5 / 3, height + swing, _WIDTH, height)
    path.lineTo(_WIDTH, _HEIGHT)
    path.closeSubpath()
    return path
