"""The weir: a basin whose water is the pool in use, and a channel for what spills."""

import itertools

from PySide6.QtCore import QLineF, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import (
    QBrush,
    QColor,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPen,
    QPolygonF,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from studio.ui.language import t
from studio.ui.theme import Look
from studio.ui.viewmodels.charts import SPAN_S, Points
from studio.ui.viewmodels.serve import GaugeView, gauge_moved
from studio.ui.viewmodels.words import GAUGE
from studio.ui.widgets.hatch import fill

_AXIS = 56
_CHANNEL = 64
_GAP = 10
_ABOVE_CREST = 34
_FOOT = 24
_NOW = 12
"""Width of the column that shows the requests of this moment."""
_EDGE = 2
"""Room for the outer wall's own width."""


class Gauge(QWidget):
    """The product's picture. It moves when a number moved, and never by itself."""

    def __init__(self, look: Look, name: str) -> None:
        super().__init__()
        self.setObjectName(name)
        self._look = look
        self._view: GaugeView | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumHeight(190)
        self.setAccessibleName(t(GAUGE))
        look.changed.connect(self.update)

    @property
    def view(self) -> GaugeView | None:
        """Return what is shown."""
        return self._view

    def show_gauge(self, view: GaugeView) -> None:
        """Show `view`."""
        moved = self._view is None or gauge_moved(self._view, view)
        self._view = view
        if moved:
            self.setAccessibleDescription(view.spoken)
            self.update()

    def sizeHint(self) -> QSize:
        """Return a comfortable size."""
        return QSize(560, 240)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw water, walls, crest, channel and their numbers."""
        view = self._view
        if view is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        basin, channel = self._basin(), self._channel()
        if view.share is not None:
            self._paint_water(painter, view, basin)
        self._paint_residents(painter, view, basin)
        self._paint_spill(painter, view, channel)
        self._paint_walls(painter, view, basin, channel)
        self._paint_words(painter, view, basin, channel)
        painter.end()

    def _basin(self) -> QRectF:
        width = self.width() - _AXIS - _CHANNEL - _GAP
        return QRectF(_AXIS, _ABOVE_CREST, width - _EDGE, self.height() - _ABOVE_CREST - _FOOT)

    def _channel(self) -> QRectF:
        basin = self._basin()
        return QRectF(basin.right() + _GAP, basin.top(), _CHANNEL, basin.height())

    def _surface(self, levels: Points, basin: QRectF) -> list[list[QPointF]]:
        """Return a surface as runs of points; a gap in the numbers is a gap."""
        runs: list[list[QPointF]] = [[]]
        for age_s, share in levels:
            if share is None:
                runs.append([])
            elif age_s <= SPAN_S:
                x = basin.right() - age_s / SPAN_S * basin.width()
                runs[-1].append(QPointF(x, basin.bottom() - share * basin.height()))
        return [run for run in runs if run]

    def _paint_water(self, painter: QPainter, view: GaugeView, basin: QRectF) -> None:
        """Draw the water in one tone, and darker from the ground up what stands for reuse."""
        painter.save()
        painter.setClipRect(basin)
        surface = self._surface(view.levels, basin)
        for run in surface:
            self._paint_body(painter, run, basin, self._look.colour("water", 0.92))
        for run in self._surface(view.reuse, basin):
            self._paint_body(painter, run, basin, self._look.colour("deep"))
        painter.setPen(QPen(self._look.colour("clear"), self._look.tokens.stroke["line"]))
        for run in surface:
            painter.drawLines([QLineF(a, b) for a, b in itertools.pairwise(run)])
        painter.restore()

    def _paint_body(
        self, painter: QPainter, run: list[QPointF], basin: QRectF, colour: QColor
    ) -> None:
        left, right = run[0].x(), max(run[-1].x(), run[0].x() + 1.0)
        body = QPolygonF([*run, QPointF(right, basin.bottom()), QPointF(left, basin.bottom())])
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QBrush(colour))
        painter.drawPolygon(body)

    def _paint_residents(self, painter: QPainter, view: GaugeView, basin: QRectF) -> None:
        """Draw what each request holds now, stacked at the crest's end, tone beside tone."""
        bottom = basin.bottom()
        for place, share in enumerate(view.tones):
            height = min(share * basin.height(), bottom - basin.top())
            band = QRectF(basin.right() - _NOW, bottom - height, _NOW, max(1.0, height - 1))
            painter.fillRect(band, self._look.colour("clear" if place % 2 else "ink", 0.55))
            bottom -= height

    def _paint_spill(self, painter: QPainter, view: GaugeView, channel: QRectF) -> None:
        bed = channel.adjusted(1, 0, -1, 0)
        painter.fillRect(bed, self._look.colour("ink", 0.03))
        fill(painter, bed, self._look.colour("ink", 0.10), hatched=True)
        if view.clear_share:
            deep = view.clear_share * channel.height()
            clear = QRectF(bed.left(), bed.bottom() - deep, bed.width(), deep)
            painter.fillRect(clear, self._look.colour("clear", 0.75))
        if view.spills:
            height = max(8.0, view.spill_share * channel.height())
            water = QRectF(bed.left(), bed.bottom() - height, bed.width(), height)
            painter.fillRect(water, self._look.colour("raised"))
            painter.fillRect(water, self._look.colour("harm", 0.9))

    def _paint_walls(
        self, painter: QPainter, view: GaugeView, basin: QRectF, channel: QRectF
    ) -> None:
        pen = QPen(self._look.colour("ink", 0.55), 2)
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        walls = QPainterPath(QPointF(basin.left(), basin.top() - 10))
        walls.lineTo(basin.bottomLeft())
        walls.lineTo(channel.bottomRight())
        walls.lineTo(channel.right(), basin.top() - 10)
        walls.moveTo(basin.right() + _GAP / 2, basin.bottom())
        walls.lineTo(basin.right() + _GAP / 2, basin.top())
        painter.drawPath(walls)
        dashed = view.share is None
        crest = QPen(self._look.colour("ink", 0.55), 1)
        crest.setStyle(Qt.PenStyle.DashLine if dashed else Qt.PenStyle.SolidLine)
        painter.setPen(crest)
        painter.drawLine(QLineF(basin.left(), basin.top(), basin.right(), basin.top()))

    def _paint_words(
        self, painter: QPainter, view: GaugeView, basin: QRectF, channel: QRectF
    ) -> None:
        align = Qt.AlignmentFlag
        painter.setFont(self._look.font("small", weight=500))
        painter.setPen(self._look.colour("ink"))
        crest = QRectF(basin.left() + 10, basin.top() - 24, basin.width() - 10, 18)
        painter.drawText(crest, align.AlignLeft | align.AlignVCenter, view.crest)
        foot = QRectF(channel.left() - 60, channel.bottom() + 6, channel.width() + 60, 18)
        painter.setPen(self._look.colour("harm" if view.spills else "quiet"))
        painter.drawText(foot, align.AlignRight | align.AlignVCenter, view.spill)
        painter.setPen(self._look.colour("quiet"))
        painter.setFont(self._look.font("small"))
        span = QRectF(basin.left(), basin.bottom() + 6, basin.width(), 18)
        painter.drawText(span, align.AlignLeft | align.AlignVCenter, view.past)
        self._paint_level(painter, view, basin)

    def _paint_level(self, painter: QPainter, view: GaugeView, basin: QRectF) -> None:
        align = Qt.AlignmentFlag
        painter.setPen(self._look.colour("quiet"))
        if view.share is None:
            painter.drawText(basin, align.AlignCenter | Qt.TextFlag.TextWordWrap, view.empty)
            return
        y = basin.bottom() - view.share * basin.height()
        box = QRectF(0, min(max(y, basin.top()), basin.bottom() - 8) - 9, _AXIS - 8, 18)
        painter.setPen(self._look.colour("ink"))
        painter.setFont(self._look.font("small", weight=600))
        painter.drawText(box, align.AlignRight | align.AlignVCenter, view.level)
        painter.setPen(QPen(self._look.colour("ink", 0.35), 1, Qt.PenStyle.DotLine))
        painter.drawLine(QLineF(basin.left() - 4, y, basin.right(), y))
