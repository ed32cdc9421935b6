"""The log: a hundred thousand lines of which only the visible ones are ever laid out.

A text document would lay out every line it is given; this keeps a list and paints a window on it,
so that a burst costs what copying its references costs.
"""

import bisect
from collections.abc import Sequence

from PySide6.QtCore import QRect, QSize, Qt, Signal
from PySide6.QtGui import (
    QFocusEvent,
    QFontMetricsF,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QFrame

from studio.domain.metrics import LogLine
from studio.ui.language import t
from studio.ui.theme import Look
from studio.ui.viewmodels.logs import (
    EMPTY,
    LEVEL_ROLES,
    LEVEL_SIGNS,
    NO_MATCH,
    Gravity,
    clock_text,
    line_text,
)
from studio.ui.viewmodels.words import LOG
from studio.ui.widgets.log_lines import LogLines

_PAD = 12
_CLOCK_COLUMNS = 10
_SIGN_COLUMNS = 2
_WHEEL_LINES = 3


class LogView(QAbstractScrollArea):
    """Signals: `counted` when lines or matches changed, `follow_changed` (bool)."""

    counted = Signal()
    follow_changed = Signal(bool)

    def __init__(self, look: Look, name: str) -> None:
        super().__init__()
        self.setObjectName(name)
        self.setProperty("kind", "log")
        self.setAccessibleName(t(LOG))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self._look = look
        self.lines = LogLines()
        self.empty = t(EMPTY)
        """What is said where there is no line."""
        self._follow = True
        self._steers = False
        self._anchor: int | None = None
        self._cursor: int | None = None
        self._current: int | None = None
        self._measure()
        self.verticalScrollBar().valueChanged.connect(self._on_scrolled)
        self.horizontalScrollBar().valueChanged.connect(self.viewport().update)
        look.changed.connect(self._on_look_changed)

    @property
    def follow(self) -> bool:
        """Tell whether the newest line is kept in view."""
        return self._follow

    @property
    def current_match(self) -> int | None:
        """Return which match the search stands on, counted from 0."""
        return self._current

    def set_follow(self, follow: bool) -> None:
        """Keep the newest line in view, or let go."""
        if follow != self._follow:
            self._follow = follow
            self.follow_changed.emit(follow)
        if follow:
            self._to_end()

    def replace_lines(self, lines: Sequence[LogLine]) -> None:
        """Show other lines instead of all that were there."""
        self.lines.clear()
        self._anchor = self._cursor = self._current = None
        self.append_lines(lines)

    def append_lines(self, lines: Sequence[LogLine], dropped: int = 0) -> None:
        """Show more lines; the oldest beyond the limit go."""
        gone = self.lines.append(lines, dropped)
        if gone:
            self._shift(gone)
        self._update_range()
        if self._follow:
            self._to_end()
        self.viewport().update()
        self.counted.emit()

    def show_empty(self, words: str) -> None:
        """Say why there is no line, where there is none."""
        if words != self.empty:
            self.empty = words
            self.viewport().update()

    def filter(self, gravity: Gravity, *, only_matches: bool = False) -> None:
        """Show only lines that are grave enough, and on request only those that match."""
        self.lines.filter(gravity, only_matches=only_matches)
        self._anchor = self._cursor = None
        self._after_search()

    def go_to(self, at: float) -> bool:
        """Bring the first line that is not older than `at` to the top; False: there is none."""
        rows = self.lines.shown
        row = bisect.bisect_left(rows, at, key=lambda line: line.at)
        if row == len(rows):
            return False
        self.set_follow(False)
        self._steer_to(row)
        self._select(row, extend=False)
        return True

    def search(self, text: str) -> None:
        """Mark the lines that hold `text`, whatever its case, and go to the newest."""
        self.lines.search(text)
        self._anchor = self._cursor = None
        self._after_search()

    def step(self, by: int) -> None:
        """Go `by` matches further, around the ends."""
        count = len(self.lines.matches)
        if count:
            start = self._current if self._current is not None else (-1 if by > 0 else 0)
            self._go_to_match((start + by) % count)

    def selected_text(self) -> str:
        """Return the selected lines, or all that are shown."""
        first, last = self._selection() or (0, len(self.lines.shown) - 1)
        return "\n".join(line_text(line) for line in self.lines.shown[first : last + 1])

    def copy(self) -> None:
        """Put `selected_text` on the clipboard."""
        QGuiApplication.clipboard().setText(self.selected_text())

    def sizeHint(self) -> QSize:
        """Return a comfortable size."""
        return QSize(800, 480)

    def resizeEvent(self, _event: QResizeEvent) -> None:
        """Fit the scroll bars to the new size."""
        self._update_range()
        if self._follow:
            self._to_end()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Select the line under the mouse; with Shift, all lines up to it."""
        row = self._row_at(event.position().y())
        shift = event.modifiers() & Qt.KeyboardModifier.ShiftModifier
        self._select(row, extend=bool(shift))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Take the end of a click, which nobody else wants."""
        event.accept()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Extend the selection while the button is held."""
        if event.buttons() & Qt.MouseButton.LeftButton:
            self._select(self._row_at(event.position().y()), extend=True)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Scroll, select and copy by keyboard."""
        shift = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        bar = self.verticalScrollBar()
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
        elif event.matches(QKeySequence.StandardKey.SelectAll):
            self._anchor, self._cursor = 0, len(self.lines.shown) - 1
            self.viewport().update()
        elif event.key() == Qt.Key.Key_End:
            self.set_follow(True)
        elif event.key() == Qt.Key.Key_Home:
            bar.setValue(0)
        elif event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self._move(-1 if event.key() == Qt.Key.Key_Up else 1, extend=shift)
        elif event.key() in (Qt.Key.Key_PageUp, Qt.Key.Key_PageDown):
            up = event.key() == Qt.Key.Key_PageUp
            bar.setValue(bar.value() + (-bar.pageStep() if up else bar.pageStep()))
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Draw the ring."""
        super().focusInEvent(event)
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Take the ring away."""
        super().focusOutEvent(event)
        self.viewport().update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the visible lines, and a ring where the keys go here."""
        painter = QPainter(self.viewport())
        painter.fillRect(event.rect(), self._look.colour("raised"))
        painter.setFont(self._font)
        shown = self.lines.shown
        if not shown:
            self._paint_empty(painter)
        first = self.verticalScrollBar().value()
        for row in range(first, min(first + self._rows() + 1, len(shown))):
            top = _PAD + (row - first) * self._row_height
            self._paint_row(painter, row, shown[row], top)
        if self.hasFocus():
            painter.setPen(self._look.colour("water"))
            painter.drawRect(self.viewport().rect().adjusted(0, 0, -1, -1))
        painter.end()

    def _paint_empty(self, painter: QPainter) -> None:
        painter.setFont(self._look.font())
        painter.setPen(self._look.colour("quiet"))
        words = t(NO_MATCH) if self.lines.count else self.empty
        painter.drawText(self.viewport().rect(), Qt.AlignmentFlag.AlignCenter, words)

    def _paint_row(self, painter: QPainter, row: int, line: LogLine, top: int) -> None:
        selection = self._selection()
        if selection is not None and selection[0] <= row <= selection[1]:
            band = QRect(0, top, self.viewport().width(), self._row_height)
            painter.fillRect(band, self._look.colour("water", 0.18))
        base = top + self._ascent
        painter.setPen(self._look.colour("quiet"))
        painter.drawText(_PAD, base, clock_text(line.at))
        sign_x = _PAD + round(_CLOCK_COLUMNS * self._advance)
        role = LEVEL_ROLES.get(line.level)
        if line.level in LEVEL_SIGNS:
            painter.setPen(self._look.colour(role or "ink"))
            painter.drawText(sign_x, base, LEVEL_SIGNS[line.level])
        text_x = sign_x + round(_SIGN_COLUMNS * self._advance)
        offset = self.horizontalScrollBar().value()
        visible = self.lines.text_of(line)[offset : offset + self._columns()]
        if self.lines.query:
            self._paint_matches(painter, row, visible, text_x, top)
        painter.setPen(self._look.colour("quiet" if line.level == "debug" else "ink"))
        painter.drawText(text_x, base, visible)

    def _paint_matches(
        self, painter: QPainter, row: int, visible: str, text_x: int, top: int
    ) -> None:
        needle = self.lines.query.lower()
        at = self.lines.matches[self._current] == row if self._current is not None else False
        wash = self._look.colour("warn", 0.55 if at else 0.25)
        metrics = QFontMetricsF(self._font)
        place = visible.lower().find(needle)
        while place >= 0:
            left = text_x + metrics.horizontalAdvance(visible[:place])
            width = metrics.horizontalAdvance(visible[place : place + len(needle)])
            painter.fillRect(QRect(round(left), top, round(width), self._row_height), wash)
            place = visible.lower().find(needle, place + len(needle))

    def _measure(self) -> None:
        self._font = self._look.font("small", mono=True)
        metrics = QFontMetricsF(self._font)
        self._advance = metrics.horizontalAdvance("0")
        self._row_height = round(metrics.height()) + 3
        self._ascent = round(metrics.ascent()) + 1

    def _on_look_changed(self) -> None:
        self._measure()
        self.viewport().update()

    def _rows(self) -> int:
        return max(1, (self.viewport().height() - 2 * _PAD) // self._row_height)

    def _columns(self) -> int:
        used = 2 * _PAD + (_CLOCK_COLUMNS + _SIGN_COLUMNS) * self._advance
        return max(8, int((self.viewport().width() - used) / self._advance))

    def _update_range(self) -> None:
        down, across = self.verticalScrollBar(), self.horizontalScrollBar()
        down.setPageStep(self._rows())
        down.setSingleStep(_WHEEL_LINES)
        self._steers = True
        down.setRange(0, max(0, len(self.lines.shown) - self._rows()))
        self._steers = False
        across.setPageStep(self._columns())
        across.setSingleStep(8)
        across.setRange(0, max(0, self.lines.longest - self._columns()))

    def _to_end(self) -> None:
        self._steer_to(self.verticalScrollBar().maximum())

    def _steer_to(self, row: int) -> None:
        """Scroll by ourselves, which is no wish of the person's to follow or to let go."""
        self._steers = True
        self.verticalScrollBar().setValue(row)
        self._steers = False

    def _on_scrolled(self) -> None:
        bar = self.verticalScrollBar()
        at_end = bar.value() >= bar.maximum()
        if at_end != self._follow and not self._steers:
            self._follow = at_end
            self.follow_changed.emit(at_end)
        self.viewport().update()

    def _after_search(self) -> None:
        self._update_range()
        count = len(self.lines.matches)
        self._current = None
        if count:
            self._go_to_match(count - 1)
        elif self._follow:
            self._to_end()
        self.viewport().update()
        self.counted.emit()

    def _go_to_match(self, index: int) -> None:
        self._current = index
        row = self.lines.matches[index]
        bar = self.verticalScrollBar()
        if not bar.value() <= row < bar.value() + self._rows():
            bar.setValue(max(0, row - self._rows() // 2))
        self.viewport().update()
        self.counted.emit()

    def _shift(self, gone: int) -> None:
        """Keep selection and place on the same lines after `gone` rows went from the top."""
        self._current = None
        if self._anchor is not None and self._cursor is not None:
            self._anchor, self._cursor = self._anchor - gone, self._cursor - gone
            if min(self._anchor, self._cursor) < 0:
                self._anchor = self._cursor = None
        if not self._follow:
            self._steer_to(max(0, self.verticalScrollBar().value() - gone))

    def _selection(self) -> tuple[int, int] | None:
        if self._anchor is None or self._cursor is None:
            return None
        return min(self._anchor, self._cursor), max(self._anchor, self._cursor)

    def _row_at(self, y: float) -> int:
        row = self.verticalScrollBar().value() + int((y - _PAD) // self._row_height)
        return min(max(row, 0), len(self.lines.shown) - 1)

    def _select(self, row: int, *, extend: bool) -> None:
        if row < 0:
            return
        if not extend or self._anchor is None:
            self._anchor = row
        self._cursor = row
        self.viewport().update()

    def _move(self, by: int, *, extend: bool) -> None:
        if self._cursor is None:
            bar = self.verticalScrollBar()
            bar.setValue(bar.value() + by)
            return
        row = min(max(self._cursor + by, 0), len(self.lines.shown) - 1)
        self._select(row, extend=extend)
        bar = self.verticalScrollBar()
        if row < bar.value():
            bar.setValue(row)
        elif row >= bar.value() + self._rows():
            bar.setValue(row - self._rows() + 1)
