"""Lines over the last minutes, painted by us: light, still when nothing moves.

`drawLines` with a thin pen: a wide antialiased polyline costs five times as much (measured).
"""

import itertools

from PySide6.QtCore import QEvent, QLineF, QRectF, QSize, Qt
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from studio.ui.language import t
from studio.ui.theme import Look
from studio.ui.viewmodels.charts import ChartView, LineView, chart_moved, moment_text, unit_words
from studio.ui.viewmodels.decimate import stretches
from studio.ui.viewmodels.words import Role

_HEAD = 30
_FOOT = 22
_SIDE = 68
_PAD = 16
_LONE = 4
"""Width of a value that has no neighbour to draw a line to."""


class Chart(QWidget):
    """A card with one chart; mouse and arrow keys move its crosshair."""

    def __init__(self, look: Look, name: str) -> None:
        super().__init__()
        self.setObjectName(name)
        self._look = look
        self._view: ChartView | None = None
        self._age_s: float | None = None
        self._drawn: dict[str, list[QLineF]] = {}
        self._drawn_view: ChartView | None = None
        self._drawn_area = QRectF()
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumHeight(168)
        look.changed.connect(self.update)

    @property
    def view(self) -> ChartView | None:
        """Return what is shown."""
        return self._view

    def show_chart(self, view: ChartView) -> None:
        """Show `view`; a flat line that stays flat is not painted again."""
        moved = self._view is None or chart_moved(self._view, view)
        self._view = view
        self.setAccessibleName(f"{view.title}, {view.now or view.empty or '–'}")
        if moved:
            self.update()

    def sizeHint(self) -> QSize:
        """Return a comfortable size."""
        return QSize(360, 190)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Put the crosshair under the mouse."""
        area = self._plot()
        if self._view is None or not area.contains(event.position()):
            self._move_to(None)
            return
        share = (area.right() - event.position().x()) / area.width()
        self._move_to(share * self._view.span_s)

    def leaveEvent(self, _event: QEvent) -> None:
        """Take the crosshair away."""
        self._move_to(None)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move the crosshair by one second, by ten with Shift."""
        steps = {Qt.Key.Key_Left: 1.0, Qt.Key.Key_Right: -1.0}
        key = Qt.Key(event.key())
        if self._view is None or key not in steps:
            if key is Qt.Key.Key_Escape and self._age_s is not None:
                self._move_to(None)
                return
            super().keyPressEvent(event)
            return
        step = steps[key]
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            step *= 10
        self._move_to(min(self._view.span_s, max(0.0, (self._age_s or 0.0) + step)))

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw card, grid, lines and crosshair."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_card(painter)
        if self._view is not None:
            area = self._plot()
            self._paint_head(painter, self._view)
            self._paint_grid(painter, self._view, area)
            for line in self._view.lines:
                self._paint_line(painter, self._view, line, area)
            if self._age_s is not None:
                self._paint_crosshair(painter, self._view, area, self._age_s)
        painter.end()

    def _plot(self) -> QRectF:
        return QRectF(self.rect()).adjusted(_SIDE, _HEAD + 12, -_PAD, -_FOOT - 8)

    def _move_to(self, age_s: float | None) -> None:
        if age_s != self._age_s:
            self._age_s = age_s
            self.update()

    def _paint_card(self, painter: QPainter) -> None:
        hairline = self._look.tokens.share["hairline"]
        edge = self._look.colour(Role.WATER if self.hasFocus() else Role.INK)
        edge.setAlphaF(1.0 if self.hasFocus() else hairline)
        painter.setPen(QPen(edge, 1))
        painter.setBrush(self._look.colour("raised"))
        radius = self._look.space("radius")
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), radius, radius)

    def _paint_head(self, painter: QPainter, view: ChartView) -> None:
        head = QRectF(self.rect()).adjusted(_PAD, 10, -_PAD, 0)
        head.setHeight(_HEAD - 8)
        painter.setFont(self._look.font("body", weight=600))
        painter.setPen(self._look.colour("ink"))
        painter.drawText(head, Qt.AlignmentFlag.AlignLeft, view.title)
        left = painter.fontMetrics().horizontalAdvance(view.title) + 8
        painter.setFont(self._look.font("small"))
        painter.setPen(self._look.colour("quiet"))
        unit = unit_words(view.unit)
        painter.drawText(head.adjusted(left, 1, 0, 0), Qt.AlignmentFlag.AlignLeft, unit)
        self._paint_now(painter, view, head)

    def _paint_now(self, painter: QPainter, view: ChartView, head: QRectF) -> None:
        shown = view.now
        if self._age_s is not None:
            shown = moment_text(view, self._age_s)
        painter.setPen(self._look.colour("ink"))
        painter.drawText(head.adjusted(0, 1, 0, 0), Qt.AlignmentFlag.AlignRight, shown)
        if len(view.lines) < 2:
            return
        right = head.right() - painter.fontMetrics().horizontalAdvance(shown) - 12
        for line in reversed(view.lines):
            painter.setPen(QPen(self._look.colour(line.role), 2))
            painter.drawLine(QLineF(right - 10, head.top() + 9, right, head.top() + 9))
            right -= 16

    def _paint_grid(self, painter: QPainter, view: ChartView, area: QRectF) -> None:
        painter.setFont(self._look.font("small"))
        for value, text in view.marks:
            y = round(area.bottom() - value / view.top * area.height()) + 0.5
            painter.setPen(QPen(self._look.colour("ink", self._look.tokens.share["grid"]), 1))
            painter.drawLine(QLineF(area.left(), y, area.right(), y))
            painter.setPen(self._look.colour("quiet"))
            box = QRectF(0, y - 9, _SIDE - 8, 18)
            painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, text)
        foot = QRectF(area.left(), area.bottom() + 4, area.width(), 18)
        painter.drawText(foot, Qt.AlignmentFlag.AlignLeft, view.past)
        painter.drawText(foot, Qt.AlignmentFlag.AlignRight, t("Now"))
        if view.empty:
            upper = area.adjusted(0, 0, 0, -area.height() / 2)  # between two gridlines
            painter.drawText(upper, Qt.AlignmentFlag.AlignCenter, view.empty)

    def _paint_line(self, painter: QPainter, view: ChartView, line: LineView, area: QRectF) -> None:
        strokes = self._segments_of(view, line, area)
        is_dense = len(strokes) > area.width()  # a filled band: smooth edges show nothing, cost all
        width = 1.0 if is_dense else self._look.tokens.stroke["line"]
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, not is_dense)
        painter.setPen(QPen(self._look.colour(line.role), width))
        painter.drawLines(strokes)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)

    def _segments_of(self, view: ChartView, line: LineView, area: QRectF) -> list[QLineF]:
        """Return what to draw; a crosshair that moves over the same picture asks for no new one."""
        if self._drawn_view is not view or self._drawn_area != area:
            self._drawn_view, self._drawn_area, self._drawn = view, area, {}
        if line.name not in self._drawn:
            self._drawn[line.name] = segments(view, line, area)
        return self._drawn[line.name]

    def _paint_crosshair(
        self, painter: QPainter, view: ChartView, area: QRectF, age_s: float
    ) -> None:
        x = area.right() - age_s / view.span_s * area.width()
        painter.setPen(QPen(self._look.colour("quiet"), 1))
        painter.drawLine(QLineF(x, area.top(), x, area.bottom()))


def segments(view: ChartView, line: LineView, area: QRectF) -> list[QLineF]:
    """Return the strokes of one line in `area`; a value without a neighbour is a dash."""
    across, up = area.width() / view.span_s, area.height() / view.top
    right, bottom = area.right(), area.bottom()
    strokes: list[QLineF] = []
    for known in stretches(line.points, view.span_s, max(1, round(area.width()))):
        spots = [
            (right - age_s * across, bottom - min(value, view.top) * up) for age_s, value in known
        ]
        if len(spots) == 1:
            ((x, y),) = spots
            strokes.append(QLineF(x - _LONE / 2, y, x + _LONE / 2, y))
        strokes.extend(QLineF(*start, *end) for start, end in itertools.pairwise(spots))
    return strokes
