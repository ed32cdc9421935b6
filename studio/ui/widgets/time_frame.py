"""What stands around the lines of a chart: its card, title and scale, and the axis of times.

Charts of one size share the picture of their card; words are laid out once, and painted each time.
"""

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QColor, QPainter, QPen, QPixmap, QPixmapCache

from studio.ui.language import t
from studio.ui.lettering import Laid
from studio.ui.theme import Look
from studio.ui.viewmodels.chart_kinds import ChartKind
from studio.ui.viewmodels.moments import mark_places, mark_words
from studio.ui.viewmodels.monitor import axis_unit, marks_of
from studio.ui.widgets.time_plot import blank

HEAD_TOP, PAD = 10, 16
_TO_LINES = 8
"""Between a mark of the scale and the lines."""
_TO_AXIS = 6
_MARK_PX = 76
"""Room that a mark on the time axis wants."""


class Frame:
    """Asked in each `paintEvent` to be up to date, and to paint itself."""

    def __init__(self, look: Look, kind: ChartKind) -> None:
        self.title_right = 0.0
        """Where the room for the newest value begins."""
        self._look = look
        self._kind = kind
        self._key: tuple[object, ...] = ()
        self._card = QPixmap()
        self._title: Laid | None = None
        self._unit: Laid | None = None
        self._marks: list[tuple[float, Laid]] = []
        """Share of the height, and what stands there."""

    def forget(self) -> None:
        """Look at words and colours anew next time."""
        self._key = ()

    def bring_up(self, size: QSize, top: float, ratio: float, *, has_focus: bool) -> None:
        """Be the frame of a chart of `size` for values up to `top`."""
        key = (size, top, ratio, has_focus)
        if key == self._key:
            return
        self._key = key
        self._card = _card(self._look, size, ratio, has_focus=has_focus)
        lettering = self._look.lettering
        self._title = lettering.laid(t(self._kind.title), "body", weight=600)
        self._unit = lettering.laid(axis_unit(self._kind))
        self.title_right = self._unit_left() + round(self._unit.wide) + 12
        marks = marks_of(self._kind, top)
        self._marks = [(value / top, lettering.laid(words)) for value, words in marks]

    def paint(self, painter: QPainter, area: QRectF) -> None:
        """Paint all of it; the lines come into `area` later."""
        assert self._title is not None
        assert self._unit is not None
        painter.drawPixmap(0, 0, self._card)
        painter.setPen(self._look.colour("ink"))
        self._title.paint(painter, PAD, HEAD_TOP)
        painter.setPen(self._look.colour("quiet"))
        self._unit.paint(painter, self._unit_left(), HEAD_TOP + 1)
        grid = grid_colour(self._look)
        for share, mark in self._marks:
            y = round(area.bottom() - share * area.height())
            painter.fillRect(QRectF(area.left(), y, area.width(), 1), grid)
            mark.paint_in(painter, QRectF(0, y - 9, area.left() - _TO_LINES, 18), 1.0)

    def _unit_left(self) -> float:
        return PAD + (round(self._title.wide) if self._title is not None else 0) + 8


class TimeAxis:
    """Marks of round times under the lines, and a gridline for each."""

    def __init__(self, look: Look) -> None:
        self._look = look
        self._marks: dict[tuple[float, float], Laid] = {}
        """What stands at a moment, by it and by how far marks are apart: they stay for long."""

    def forget(self) -> None:
        """Look at words anew next time."""
        self._marks = {}

    def paint(
        self, painter: QPainter, area: QRectF, span: tuple[float, float], right: float
    ) -> None:
        """Paint the marks of a span; no word goes beyond `right`."""
        begin, end = span
        painter.setPen(self._look.colour("quiet"))
        grid = grid_colour(self._look)
        px_per_s = area.width() / max(1e-9, end - begin)
        step_s, places = mark_places(begin, end, int(area.width() / _MARK_PX))
        before, self._marks = self._marks, {}
        for at in places:
            key = (at, step_s)
            mark = before.get(key) or self._look.lettering.laid(mark_words(at, step_s))
            self._marks[key] = mark
            x = round(area.right() - (end - at) * px_per_s)
            painter.fillRect(QRectF(x, area.top(), 1, area.height()), grid)
            wide = round(mark.wide)
            left = min(max(area.left(), x - wide / 2), right - wide)
            mark.paint(painter, left, area.bottom() + _TO_AXIS)


def grid_colour(look: Look) -> QColor:
    """Return the colour of the lines that help to read."""
    return look.colour("ink", look.tokens.share["grid"])


def _card(look: Look, size: QSize, ratio: float, *, has_focus: bool) -> QPixmap:
    """Return the picture of an empty card; the one that another chart has, where it fits."""
    edge = look.colour("water" if has_focus else "ink")
    edge.setAlphaF(1.0 if has_focus else look.tokens.share["hairline"])
    fill, radius = look.colour("raised"), look.space("radius")
    key = f"card {size.width()}x{size.height()} {ratio} {edge.rgba()} {fill.rgba()} {radius}"
    made = QPixmap()
    if QPixmapCache.find(key, made):
        return made
    made = blank(made, size.toSizeF(), ratio)
    painter = QPainter(made)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(edge, 1))
    painter.setBrush(fill)
    box = QRectF(0.5, 0.5, size.width() - 1, size.height() - 1)
    painter.drawRoundedRect(box, radius, radius)
    painter.end()
    QPixmapCache.insert(key, made)
    return made
