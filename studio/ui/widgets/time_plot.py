"""The lines of a chart as a picture that is kept.

A second that passes moves it by whole pixels and draws its end; all of it is drawn anew only for
another span, size, scale or theme.
"""

import itertools
import math

from PySide6.QtCore import QLineF, QRectF, QSizeF, Qt
from PySide6.QtGui import QPainter, QPen, QPixmap, QRegion, QTransform

from studio.ui.theme import Look, blend
from studio.ui.viewmodels.monitor import Line
from studio.ui.viewmodels.track import Scale, Stretch, Track
from studio.ui.widgets.strokes import polyline, uprights

_BAND = 0.34
"""Opacity of the span between the extremes, on the card."""
_LONE = 4.0
"""Width of a value that has no neighbour to draw a line to."""
_WIDEST = 12.0
_DENSE = 4
"""From so many values in a pixel column on a line is thin."""
_MOST_BANDS = 2


def blank(before: QPixmap, size: QSizeF, ratio: float) -> QPixmap:
    """Return an empty picture of a size in logical pixels: the one from before, where it fits.

    A new one would be memory that the system has to hand out and to clear each time.
    """
    wide, high = math.ceil(size.width() * ratio), math.ceil(size.height() * ratio)
    made = before if (before.width(), before.height()) == (wide, high) else QPixmap(wide, high)
    made.setDevicePixelRatio(ratio)
    made.fill(Qt.GlobalColor.transparent)
    return made


class Plot:
    """Asked in each `paintEvent` to be up to date."""

    def __init__(self, look: Look) -> None:
        self.picture = QPixmap()
        self._look = look
        self._lines: tuple[Line, ...] = ()
        self._tracks: tuple[Track, ...] = ()
        self._scale: Scale | None = None
        self._key: tuple[float, ...] = ()
        self._size = QSizeF()
        self._top = 1.0
        self._place = QTransform()
        """From pixels across and values to places in the picture."""
        self._until = -math.inf
        """What is newer than this is not drawn yet."""

    def take(self, lines: tuple[Line, ...], tracks: tuple[Track, ...]) -> None:
        """Draw other series from now on."""
        self._lines, self._tracks = lines, tracks
        self.forget()

    def forget(self) -> None:
        """Draw everything anew next time."""
        self._scale = None

    def bring_up(self, size: QSizeF, span: tuple[float, float], top: float, ratio: float) -> None:
        """Make the picture show `span`, values up to `top`."""
        begin, end = span
        width = math.floor(size.width())
        per_s = width / max(1e-9, end - begin)
        scale = Scale((math.ceil(end * per_s) - width) / per_s, per_s, width)
        key: tuple[float, ...] = (width, size.height(), top, ratio, round(end - begin, 6))
        before = self._scale
        self._scale = scale
        moved_px = 0 if before is None else round((scale.begin - before.begin) * per_s)
        is_same = before is not None and key == self._key and 0 <= moved_px < width
        self._key, self._size, self._top = key, size, top
        self._place = QTransform(1, 0, 0, -size.height() / top, 0, size.height())
        if is_same:
            self._draw_end(scale, moved_px, ratio)
            return
        self.picture = blank(self.picture, size, ratio)
        painter = QPainter(self.picture)
        self._draw_lines(painter, scale, None)
        painter.end()

    def _draw_end(self, scale: Scale, moved_px: int, ratio: float) -> None:
        """Move the picture, and draw only what came since."""
        if moved_px:
            shift = -round(moved_px * ratio)
            self.picture.scroll(shift, 0, self.picture.rect(), QRegion())
        elif self._newest() <= self._until:
            return
        newly = math.floor(scale.x_of(self._until)) if math.isfinite(self._until) else 0
        left = max(0, min(newly, scale.width_px - moved_px) - 2)
        stale = QRectF(left, 0, self._size.width() - left + 1, self._size.height())
        painter = QPainter(self.picture)
        painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_Clear)
        painter.fillRect(stale, Qt.GlobalColor.transparent)
        painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_SourceOver)
        painter.setClipRect(stale)
        self._draw_lines(painter, scale, scale.begin + (left - 1) / scale.px_per_s)
        painter.end()

    def _newest(self) -> float:
        return max((track.newest_at or -math.inf for track in self._tracks), default=-math.inf)

    def _draw_lines(self, painter: QPainter, scale: Scale, since: float | None) -> None:
        drawn = [
            (line, track.drawn(scale, since))
            for line, track in zip(self._lines, self._tracks, strict=True)
        ]
        if len(drawn) <= _MOST_BANDS:  # of many lines the bands would hide the lines
            for line, stretches in drawn:
                self._draw_band(painter, line, stretches)
        most = max((track.count(scale.begin, scale.end) for track in self._tracks), default=0)
        for line, stretches in reversed(drawn):
            self._draw_line(painter, line, stretches, is_dense=most > _DENSE * scale.width_px)
        self._until = self._newest()

    def _draw_band(self, painter: QPainter, line: Line, stretches: list[Stretch]) -> None:
        """Draw the span between the extremes of one line."""
        least = self._top / self._size.height()
        colour = blend(self._look.colour(line.role), self._look.colour("raised"), _BAND)
        pen = QPen(colour, _spacing(stretches))
        pen.setCapStyle(Qt.PenCapStyle.FlatCap)
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        for some in stretches:
            if some.is_flat:
                continue
            x, low, high = some.x, some.low, some.high
            is_tall = [most - least_of > least for least_of, most in zip(low, high, strict=True)]
            if not all(is_tall):
                x, low, high = (list(itertools.compress(one, is_tall)) for one in (x, low, high))
            if x:
                painter.drawPath(self._place.map(uprights(x, low, high)))

    def _draw_line(
        self, painter: QPainter, line: Line, stretches: list[Stretch], *, is_dense: bool
    ) -> None:
        height, up = self._size.height(), self._size.height() / self._top
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        # A wide line of many points in one piece costs fifty times a thin one (measured).
        wide = 1.0 if is_dense else self._look.tokens.stroke["line"]
        painter.setPen(QPen(self._look.colour(line.role), wide))
        for some in stretches:
            if len(some.x) == 1:
                (x,), y = some.x, height - some.mean[0] * up
                painter.drawLine(QLineF(x - _LONE / 2, y, x + _LONE / 2, y))
            elif is_dense:
                painter.drawPolyline(self._place.map(polyline(some.x, some.mean)))
            else:
                ys = [height - mean * up for mean in some.mean]
                painter.drawLines(list(map(QLineF, some.x, ys, some.x[1:], ys[1:])))


def _spacing(stretches: list[Stretch]) -> float:
    """Return how far spots are apart, so that their extremes touch."""
    apart = next((some.x[1] - some.x[0] for some in stretches if len(some.x) > 1), 1.0)
    return float(math.ceil(min(_WIDEST, max(1.0, apart))))
