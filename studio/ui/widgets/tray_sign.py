"""The weir in small, for the tray: basin, water, channel, and the state's shape in the corner."""

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPixmap

from studio.ui.theme import Look, blend
from studio.ui.viewmodels.tray import TraySign
from studio.ui.viewmodels.words import Role, Shape
from studio.ui.widgets.sign import paint_sign

_GRID = 22.0
_SIZES = (16, 22, 24, 32, 44, 48, 64)
_LEFT, _CREST, _RIGHT = 2.0, 13.0, 18.0
_TOP, _RIM, _EDGE, _FLOOR = 4.0, 9.0, 11.0, 18.0
_CORNER = QRectF(11.5, 0.5, 10.0, 10.0)


def tray_icon(look: Look, sign: TraySign) -> QIcon:
    """Return the sign in the sizes that trays ask for.

    A tray may be dark or light whatever the theme is: walls are of a grey between the quiet ones
    of both themes, and the corner stands out by its shape. Walls and water begin and end with
    whole pixels: half ones would make most of so small a picture.
    """
    icon = QIcon()
    for size in _SIZES:
        icon.addPixmap(_pixmap(look, sign, size))
    return icon


def _pixmap(look: Look, sign: TraySign, size: int) -> QPixmap:
    pixmap = QPixmap(QSize(size, size))
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    _paint_weir(painter, look, sign, size / _GRID)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.scale(size / _GRID, size / _GRID)
    _paint_corner(painter, look, sign)
    painter.end()
    return pixmap


def _paint_weir(painter: QPainter, look: Look, sign: TraySign, scale: float) -> None:
    """Draw the basin and its channel, in pixels."""
    wide = max(1, round(1.6 * scale))
    left, crest, right = (round(x * scale) for x in (_LEFT, _CREST, _RIGHT))
    top, rim, edge, floor = (round(y * scale) for y in (_TOP, _RIM, _EDGE, _FLOOR))
    if sign.level is not None:
        high = max(wide, round(sign.level * (floor - rim)))
        painter.fillRect(left + wide, floor - high, crest - left - wide, high, look.colour("water"))
    if sign.spills:
        high = round((floor - edge) * 0.8)
        painter.fillRect(
            crest + wide, floor - high, right - crest - wide, high, look.colour("harm")
        )
    tokens = look.tokens
    grey = blend(QColor(tokens.dark["quiet"]), QColor(tokens.light["quiet"]), 0.5)
    for x, y in ((left, top), (crest, rim), (right, edge)):
        painter.fillRect(x, y, wide, floor - y, grey)
    painter.fillRect(left, floor, right + wide - left, wide, grey)


def _paint_corner(painter: QPainter, look: Look, sign: TraySign) -> None:
    """Draw the state's shape where nothing else is; a resting engine needs none."""
    if sign.shape is Shape.RING and sign.role is Role.QUIET:
        return
    painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_Clear)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(Qt.GlobalColor.black)
    painter.drawEllipse(_CORNER.adjusted(-0.5, -0.5, 0.5, 0.5))
    painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_SourceOver)
    paint_sign(painter, _CORNER.adjusted(1, 1, -1, -1), sign.shape, look.colour(sign.role), 2.0)
