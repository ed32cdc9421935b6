"""One chart over a span of time: card, scales, events, crosshair; its lines are a `Plot`.

Nothing is drawn for a chart that is out of sight.
"""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QLineF, QPoint, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QFocusEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPolygonF,
    QResizeEvent,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from studio.ui.language import t
from studio.ui.theme import Look
from studio.ui.viewmodels.chart_kinds import ChartKind
from studio.ui.viewmodels.happened import EventMark, mark_near
from studio.ui.viewmodels.moments import second_words
from studio.ui.viewmodels.monitor import (
    Line,
    empty_words,
    head_of,
    spot_words,
    top_of,
)
from studio.ui.viewmodels.track import Track
from studio.ui.viewmodels.words import Role
from studio.ui.widgets.time_frame import HEAD_TOP, PAD, Frame, TimeAxis
from studio.ui.widgets.time_plot import Plot

_HEAD, _FOOT, _LEFT, _RIGHT = 38, 30, 64, 68
_EVENT_PX = 5.0
_APART_PX = 4.0
"""Of events nearer to one another only the first is drawn, and what does harm."""
_DRAG_PX = 6.0
_NAME_PX = 14.0


class TimeChart(QWidget):
    """Signals: `pointed` (moment or None), `zoomed` (begin, end), `back_asked`.

    The mouse points, and a drag zooms; Left and Right point (ten steps with Shift), `+` zooms to
    where that is, Escape and Backspace go back.
    """

    pointed = Signal(object)
    zoomed = Signal(float, float)
    back_asked = Signal()

    def __init__(self, look: Look, kind: ChartKind) -> None:
        super().__init__()
        self.setObjectName(f"chart-{kind.id}")
        self.kind = kind
        self._look = look
        self._lines: tuple[Line, ...] = ()
        self._tracks: tuple[Track, ...] = ()
        self._events: tuple[EventMark, ...] = ()
        self._span = (0.0, 1.0)
        self._step_s = 1.0
        self._now = ""
        self._empty = ""
        self._cross: float | None = None
        self._drag: tuple[float, float] | None = None
        self._top = top_of(kind, None)
        self._plot = Plot(look)
        self._frame = Frame(look, kind)
        self._axis = TimeAxis(look)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setToolTipDuration(20_000)
        look.changed.connect(self.redraw)

    # -- what it is told -------------------------------------------------------------------

    def show_lines(self, lines: tuple[Line, ...], tracks: tuple[Track, ...], step_s: float) -> None:
        """Show other series, or the same ones read again; `step_s` is what one value stands for."""
        self._lines, self._tracks, self._step_s = lines, tracks, step_s
        self._plot.take(lines, tracks)
        self.update()

    def show_span(self, begin: float, end: float) -> None:
        """Look at another span, or at the same one a second later."""
        self._span = (begin, end)
        self.update()

    def show_events(self, events: tuple[EventMark, ...]) -> None:
        """Mark what happened."""
        if events != self._events:
            self._events = events
            self.update()

    def show_state(self, *, is_reading: bool, is_live: bool) -> None:
        """Say what the newest values are while somebody tells, or why there are none."""
        values = [track.last for track in self._tracks]
        now = head_of(self.kind, self._lines, values).now if self._lines and is_live else ""
        empty = empty_words(self._tracks, is_reading=is_reading, is_live=is_live)
        if (now, empty) != (self._now, self._empty):
            self._now, self._empty = now, empty
            self.setAccessibleName(f"{t(self.kind.title)}, {now or empty}")
            self.update()

    def point_at(self, at: float | None) -> None:
        """Put the crosshair at a moment; every chart of a page is told the same one."""
        if at != self._cross:
            self._cross = at
            self.update()

    def redraw(self) -> None:
        """Draw everything anew when it is seen next."""
        self._plot.forget()
        self._frame.forget()
        self._axis.forget()
        self.update()

    @property
    def now(self) -> str:
        """Return what stands above the chart when nothing is pointed at."""
        return self._now

    @property
    def empty(self) -> str:
        """Return why it is blank; empty: it is not."""
        return self._empty

    def values_at(self, at: float) -> tuple[tuple[str, str], ...]:
        """Return name and value of each line at a moment."""
        reach_s = max(self._step_s, 1.5, (self._span[1] - self._span[0]) / 400)
        return tuple(
            (line.name, spot_words(self.kind, track.near(at, reach_s)))
            for line, track in zip(self._lines, self._tracks, strict=True)
        )

    # -- mouse and keys --------------------------------------------------------------------

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Point where the mouse is, or draw the span that is being chosen."""
        at = self._at(event.position())
        if self._drag is not None:
            begin, end = self._span
            self._drag = (self._drag[0], min(end, max(begin, self._moment(event.position().x()))))
            self.update()
        self.pointed.emit(at)
        mark = None if at is None else mark_near(self._events, at, _EVENT_PX * self._s_per_px())
        words = "" if mark is None else f"{second_words(mark.at)}\n{mark.words}"
        if words != self.toolTip():
            self.setToolTip(words)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Begin to choose a span."""
        at = self._at(event.position())
        if event.button() is Qt.MouseButton.LeftButton and at is not None:
            self._drag = (at, at)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Zoom to the span that was chosen; a mere click chose none."""
        drag, self._drag = self._drag, None
        if event.button() is not Qt.MouseButton.LeftButton or drag is None:
            return
        self.update()
        begin, end = min(drag), max(drag)
        if (end - begin) / self._s_per_px() >= _DRAG_PX:
            self.zoomed.emit(begin, end)

    def mouseDoubleClickEvent(self, _event: QMouseEvent) -> None:
        """Go back to the span before."""
        self._drag = None
        self.back_asked.emit()

    def leaveEvent(self, _event: QEvent) -> None:
        """Take the crosshair away."""
        self.pointed.emit(None)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Take the crosshair away."""
        if self._cross is not None and not self.underMouse():
            self.pointed.emit(None)
        super().focusOutEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Point, zoom and go back without a mouse."""
        key = Qt.Key(event.key())
        begin, end = self._span
        is_far = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        at = end if self._cross is None else self._cross
        stride = max(self._step_s, self._s_per_px()) * (10 if is_far else 1)
        moves = {
            Qt.Key.Key_Left: at - stride,
            Qt.Key.Key_Right: at + stride,
            Qt.Key.Key_Home: begin,
            Qt.Key.Key_End: end,
        }
        if key in moves:
            self.pointed.emit(min(end, max(begin, moves[key])))
        elif key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal):
            quarter = (end - begin) / 4
            self.zoomed.emit(max(begin, at - quarter), min(end, at + quarter))
        elif key is Qt.Key.Key_Escape and self._cross is not None:
            self.pointed.emit(None)
        elif key in (Qt.Key.Key_Escape, Qt.Key.Key_Backspace, Qt.Key.Key_Minus):
            self.back_asked.emit()
        else:
            super().keyPressEvent(event)

    # -- places ----------------------------------------------------------------------------

    def sizeHint(self) -> QSize:
        """Return a comfortable size."""
        return QSize(420, 184)

    def _area(self) -> QRectF:
        return QRectF(self.rect()).adjusted(_LEFT, _HEAD, -_RIGHT, -_FOOT)

    def _s_per_px(self) -> float:
        return (self._span[1] - self._span[0]) / max(1.0, self._area().width())

    def _moment(self, x: float) -> float:
        return self._span[1] - (self._area().right() - x) * self._s_per_px()

    def _at(self, position: QPointF) -> float | None:
        area = self._area().adjusted(0, -_HEAD / 2, 0, _FOOT / 2)
        return self._moment(position.x()) if area.contains(position) else None

    def _x(self, at: float) -> float:
        return self._area().right() - (self._span[1] - at) / self._s_per_px()

    # -- painting --------------------------------------------------------------------------

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Draw everything anew."""
        self.redraw()
        super().resizeEvent(event)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Bring the pictures up to date and show them, with all that moves above."""
        area = self._area()
        if min(area.width(), area.height()) < 8:
            return
        self._bring_up(area)
        painter = QPainter(self)
        self._frame.paint(painter, area)
        self._axis.paint(painter, area, self._span, self.width() - PAD)
        painter.drawPixmap(area.topLeft(), self._plot.picture)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_events(painter, area)
        self._paint_names(painter, area)
        self._paint_head(painter)
        if self._empty:
            painter.setPen(self._look.colour("quiet"))
            painter.drawText(
                area.adjusted(0, 0, 0, -area.height() / 2),
                Qt.AlignmentFlag.AlignCenter,
                self._empty,
            )
        if self._drag is not None:
            self._paint_drag(painter, area)
        if self._cross is not None:
            self._paint_cross(painter, area, self._cross)
        painter.end()

    def _bring_up(self, area: QRectF) -> None:
        """Make both pictures what they should be, with as little drawing as will do."""
        begin, end = self._span
        known = [track.highest(begin, end) for track in self._tracks]
        top = top_of(self.kind, max((one for one in known if one is not None), default=None))
        self._top = top
        ratio = self.devicePixelRatioF()
        self._frame.bring_up(self.size(), top, ratio, has_focus=self.hasFocus())
        self._plot.bring_up(area.size(), self._span, top, ratio)

    def _paint_events(self, painter: QPainter, area: QRectF) -> None:
        begin, end = self._span
        before = -_APART_PX
        for mark in self._events:
            x = round(self._x(mark.at)) + 0.5
            is_hidden = x - before < _APART_PX and mark.role is not Role.HARM
            if not begin <= mark.at <= end or is_hidden:
                continue
            before = x
            colour = self._look.colour(mark.role)
            painter.setPen(QPen(colour, 1, Qt.PenStyle.DotLine))
            painter.drawLine(QLineF(x, area.top(), x, area.bottom()))
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colour)
            y = area.bottom() + 1
            painter.drawPolygon(
                QPolygonF([QPointF(x, y - 6), QPointF(x + 4, y), QPointF(x - 4, y)])
            )

    def _paint_names(self, painter: QPainter, area: QRectF) -> None:
        """Name each line at its end, so that colour is not the only sign."""
        if len(self._lines) < 2:
            return
        ends = []
        for line, track in zip(self._lines, self._tracks, strict=True):
            near = track.near(self._span[1], max(5.0, 2 * self._step_s, 4 * self._s_per_px()))
            if near is not None:
                y = area.bottom() - min(near.mean, self._top) / self._top * area.height()
                ends.append((y, line))
        ends.sort(key=lambda one: one[0])
        rows = spread([y for y, _line in ends], area.top(), area.bottom())
        for y, (_end, line) in zip(rows, ends, strict=True):
            painter.setPen(QPen(self._look.colour(line.role), 2))
            painter.drawLine(QLineF(area.right() + 5, y, area.right() + 11, y))
            painter.setPen(self._look.colour("quiet"))
            box = QRectF(area.right() + 15, y - 9, _RIGHT - 19, 18)
            name = self._look.lettering.fitted(line.name, box.width(), Qt.TextElideMode.ElideRight)
            name.paint_in(painter, box, 0.0)

    def _paint_head(self, painter: QPainter) -> None:
        shown = self._now
        if self._cross is not None and len(self._lines) == 1:
            shown = self.values_at(self._cross)[0][1]
        room = self.width() - PAD - self._frame.title_right
        words = self._look.lettering.fitted(shown, room, Qt.TextElideMode.ElideLeft)
        painter.setPen(self._look.colour("ink"))
        words.paint(painter, self.width() - PAD - words.wide, HEAD_TOP + 1)

    def _paint_drag(self, painter: QPainter, area: QRectF) -> None:
        assert self._drag is not None
        left, right = sorted((self._x(self._drag[0]), self._x(self._drag[1])))
        painter.setPen(QPen(self._look.colour("water"), 1))
        painter.setBrush(self._look.colour("water", 0.14))
        painter.drawRect(QRectF(left, area.top(), right - left, area.height()))

    def _paint_cross(self, painter: QPainter, area: QRectF, at: float) -> None:
        x = self._x(at)
        if not area.left() - 1 <= x <= area.right() + 1:
            return
        painter.fillRect(QRectF(x, area.top(), 1, area.height()), self._look.colour("quiet"))
        self._paint_chip(painter, QPointF(x, area.bottom() + 3), second_words(at))
        if len(self._lines) > 1:
            self._paint_readout(painter, area, x, self.values_at(at))

    def _paint_chip(self, painter: QPainter, spot: QPointF, text: str) -> None:
        """Write the moment over the axis."""
        painter.setFont(self._look.font("small"))
        wide = painter.fontMetrics().horizontalAdvance(text) + 12
        left = min(max(4.0, spot.x() - wide / 2), self.width() - wide - 4.0)
        box = QRectF(left, spot.y(), wide, 20)
        painter.setPen(QPen(self._look.colour("ink", self._look.tokens.share["hairline"]), 1))
        painter.setBrush(self._look.colour("ground"))
        painter.drawRoundedRect(box, 4, 4)
        painter.setPen(self._look.colour("ink"))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)

    def _paint_readout(
        self, painter: QPainter, area: QRectF, x: float, values: Sequence[tuple[str, str]]
    ) -> None:
        """Write every line's name and value beside the crosshair."""
        painter.setFont(self._look.font("small"))
        metrics = painter.fontMetrics()
        names = max(metrics.horizontalAdvance(name) for name, _ in values)
        texts = max(metrics.horizontalAdvance(text) for _, text in values)
        rows = -(-len(values) // (1 + (len(values) * 16 + 12 > area.height())))
        columns = -(-len(values) // rows)
        wide = columns * (names + texts + 34)
        left = x + 8 if x + 8 + wide < self.width() - 4 else max(4.0, x - 8 - wide)
        box = QRectF(left, area.top() - 2, wide, rows * 16 + 10)
        painter.setPen(QPen(self._look.colour("ink", self._look.tokens.share["hairline"]), 1))
        painter.setBrush(self._look.colour("ground", 0.94))
        painter.drawRoundedRect(box, 4, 4)
        for place, (line, (name, text)) in enumerate(zip(self._lines, values, strict=True)):
            column, row = divmod(place, rows)
            begin = QPoint(
                round(box.left() + column * (names + texts + 34)) + 8,
                round(box.top()) + 5 + row * 16,
            )
            painter.setPen(QPen(self._look.colour(line.role), 2))
            painter.drawLine(begin + QPoint(0, 8), begin + QPoint(8, 8))
            painter.setPen(self._look.colour("quiet"))
            painter.drawText(begin + QPoint(14, 12), name)
            painter.setPen(self._look.colour("ink"))
            painter.drawText(begin + QPoint(names + 20, 12), text)


def spread(wanted: Sequence[float], top: float, bottom: float) -> list[float]:
    """Return places for names, as near to where they are wanted as leaves each one readable."""
    room = min(_NAME_PX, (bottom - top) / max(1, len(wanted) - 1))
    places: list[float] = []
    for y in wanted:
        places.append(y if not places else max(y, places[-1] + room))
    limit = bottom
    for number in reversed(range(len(places))):
        places[number] = min(places[number], limit)
        limit = places[number] - room
    return places
