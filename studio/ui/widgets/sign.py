"""A small sign for a state: its shape says what its colour says."""

import itertools

from PySide6.QtCore import QLineF, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from studio.ui.theme import Look
from studio.ui.viewmodels.words import Role, Shape

_SIZE = 14
_STROKE = 1.75


class Sign(QWidget):
    """A dot, a ring, a half-filled ring, a tick, a cross or a triangle."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self._role = Role.QUIET
        self._shape = Shape.RING
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        look.changed.connect(self.update)

    def show_sign(self, shape: Shape, role: Role) -> None:
        """Show `shape` in the colour `role`."""
        if (shape, role) != (self._shape, self._role):
            self._shape, self._role = shape, role
            self.update()

    def sizeHint(self) -> QSize:
        """Return the sign's size."""
        return QSize(_SIZE, _SIZE)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the sign."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area = QRectF(self.rect()).adjusted(2, 2, -2, -2)
        paint_sign(painter, area, self._shape, self._look.colour(self._role), _STROKE)
        painter.end()


def paint_sign(
    painter: QPainter, area: QRectF, shape: Shape, colour: QColor, stroke: float
) -> None:
    """Draw `shape` into `area`."""
    pen = QPen(colour, stroke)
    pen.setCapStyle(Qt.PenCapStyle.RoundCap)
    pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    painter.setPen(pen)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    match shape:
        case Shape.DOT:
            painter.setBrush(colour)
            painter.drawEllipse(area.adjusted(1, 1, -1, -1))
        case Shape.RING:
            painter.drawEllipse(area.adjusted(1, 1, -1, -1))
        case Shape.HALF:
            painter.drawEllipse(area)
            painter.setBrush(colour)
            painter.drawChord(area, 180 * 16, 180 * 16)
        case Shape.TICK:
            _lines(painter, area, ((0.05, 0.55), (0.38, 0.88), (0.95, 0.15)))
        case Shape.CROSS:
            _lines(painter, area, ((0.1, 0.1), (0.9, 0.9)))
            _lines(painter, area, ((0.9, 0.1), (0.1, 0.9)))
        case Shape.TRIANGLE:
            corners = [QPointF(area.center().x(), area.top()), area.bottomRight()]
            painter.drawPolygon(QPolygonF([*corners, area.bottomLeft()]))


def _lines(painter: QPainter, area: QRectF, points: tuple[tuple[float, float], ...]) -> None:
    places = [
        QPointF(area.left() + x * area.width(), area.top() + y * area.height()) for x, y in points
    ]
    painter.drawLines([QLineF(a, b) for a, b in itertools.pairwise(places)])
