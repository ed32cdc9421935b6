"""A bar for each day: large with its figures, or as a small line beside a name."""

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from studio.ui.theme import Look
from studio.ui.viewmodels.charts import nice_ceiling
from studio.ui.viewmodels.usage import DayView, day_line, legend, total_line
from studio.ui.viewmodels.words import Role

_LEFT, _TOP, _FOOT = 72, 30, 24
_LABEL_PX = 88
_SPARK = QSize(96, 22)
_PARTS = (("computed", Role.DEEP), ("cached", Role.CLEAR), ("generated", Role.WATER))


class DayBars(QWidget):
    """Signal: `pointed` (what is said of a day, or of all)."""

    pointed = Signal(str)

    def __init__(self, look: Look, name: str, words: str) -> None:
        super().__init__()
        self.setObjectName(name)
        self._words = words
        self._look = look
        self._days: tuple[DayView, ...] = ()
        self._at: int | None = None
        self._unread = ""
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFixedHeight(186)
        look.changed.connect(self.update)

    @property
    def said(self) -> str:
        """Return what is said of the day that is pointed at, or of all of them."""
        if self._unread:
            return self._unread
        return total_line(self._days) if self._at is None else day_line(self._days[self._at])

    def show_days(self, days: tuple[DayView, ...], unread: str = "") -> None:
        """Show other days; without any, `unread` says why, and no scale is made up."""
        if (days, unread) != (self._days, self._unread):
            self._days, self._unread = days, unread
            self._at = None if self._at is None or self._at >= len(days) else self._at
            self._say()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Point at the day under the mouse."""
        area = self._area()
        inside = area.contains(event.position()) and self._days
        place = int((event.position().x() - area.left()) / max(1.0, area.width()) * len(self._days))
        self._point(min(place, len(self._days) - 1) if inside else None)

    def leaveEvent(self, _event: QEvent) -> None:
        """Point at nothing."""
        self._point(None)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Step from day to day."""
        steps = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}
        key, last = Qt.Key(event.key()), len(self._days) - 1
        if key in steps and self._days:
            at = last + 1 if self._at is None else self._at
            self._point(min(last, max(0, at + steps[key])))
        elif key is Qt.Key.Key_Escape and self._at is not None:
            self._point(None)
        else:
            super().keyPressEvent(event)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw scale, bars and days."""
        painter = QPainter(self)
        area = self._area()
        top = nice_ceiling(max([day.tokens for day in self._days], default=0) or 1_000)
        painter.setFont(self._look.font("small"))
        for share in (0.0, 0.5, 1.0):
            y = round(area.bottom() - share * area.height())
            grid = self._look.colour("ink", self._look.tokens.share["grid"])
            painter.fillRect(QRectF(area.left(), y, area.width(), 1), grid)
            if self._unread:
                continue
            painter.setPen(self._look.colour("quiet"))
            box = QRectF(0, y - 9, _LEFT - 8, 18)
            flags = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
            painter.drawText(box, flags, f"{share * top:,.0f}")
        wide = area.width() / max(1, len(self._days))
        for place, day in enumerate(self._days):
            self._paint_day(painter, area, QRectF(area.left() + place * wide, 0, wide, 0), day, top)
        if self._unread:
            painter.setPen(self._look.colour("quiet"))
            painter.drawText(area, Qt.AlignmentFlag.AlignCenter, self._unread)
        else:
            self._paint_labels(painter, area, wide)
            self._paint_legend(painter)
        if self.hasFocus():
            painter.setPen(QPen(self._look.colour("water"), 1))
            painter.drawRect(self.rect().adjusted(0, 0, -1, -1))
        painter.end()

    def sizeHint(self) -> QSize:
        """Return a comfortable size."""
        return QSize(640, 186)

    def _area(self) -> QRectF:
        return QRectF(self.rect()).adjusted(_LEFT, _TOP, -4, -_FOOT)

    def _paint_day(
        self, painter: QPainter, area: QRectF, slot: QRectF, day: DayView, top: float
    ) -> None:
        gap = min(6.0, slot.width() * 0.25)
        if self._at is not None and self._days[self._at] is day:
            hover = self._look.colour("ink", self._look.tokens.share["hover"])
            painter.fillRect(QRectF(slot.left(), area.top(), slot.width(), area.height()), hover)
        y = area.bottom()
        for part, role in _PARTS:
            height = getattr(day, part) / top * area.height()
            box = QRectF(slot.left() + gap / 2, y - height, slot.width() - gap, height)
            painter.fillRect(box, self._look.colour(role))
            y -= height

    def _paint_labels(self, painter: QPainter, area: QRectF, wide: float) -> None:
        every = max(1, round(_LABEL_PX / max(1.0, wide)))
        painter.setPen(self._look.colour("quiet"))
        for place in range(len(self._days) - 1, -1, -every):
            middle = area.left() + (place + 0.5) * wide
            left = min(middle - 40, self.width() - 80.0)
            box = QRectF(left, area.bottom() + 4, 80, 18)
            right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
            side = right if left < middle - 40 else Qt.AlignmentFlag.AlignCenter
            painter.drawText(box, side, self._days[place].label)

    def _paint_legend(self, painter: QPainter) -> None:
        left = self.width() - 4.0
        for (_part, role), word in reversed(list(zip(_PARTS, legend(), strict=True))):
            left -= painter.fontMetrics().horizontalAdvance(word)
            painter.setPen(self._look.colour("quiet"))
            painter.drawText(QRectF(left, 0, 200, 18), Qt.AlignmentFlag.AlignVCenter, word)
            painter.fillRect(QRectF(left - 14, 5, 8, 8), self._look.colour(role))
            left -= 28

    def _point(self, at: int | None) -> None:
        if at != self._at:
            self._at = at
            self._say()

    def _say(self) -> None:
        self.setAccessibleName(f"{self._words}: {self.said}")
        self.pointed.emit(self.said)
        self.update()


class Spark(QWidget):
    """The last days of one key, beside its name; its words are on hover and for screen readers."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self._days: tuple[DayView, ...] = ()
        self.setFixedSize(_SPARK)
        look.changed.connect(self.update)

    def show_days(self, days: tuple[DayView, ...]) -> None:
        """Show other days."""
        if days != self._days:
            self._days = days
            self.setToolTip(total_line(days))
            self.setAccessibleName(total_line(days))
            self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw a bar a day, the largest as high as there is room."""
        if not self._days:  # not known: a line would say that nothing was used
            return
        painter = QPainter(self)
        wide = self.width() / max(1, len(self._days))
        top = max((day.tokens for day in self._days), default=0)
        base = self._look.colour("ink", self._look.tokens.share["hairline"])
        painter.fillRect(QRectF(0, self.height() - 1, self.width(), 1), base)
        for place, day in enumerate(self._days):
            if day.tokens and top:
                height = max(2.0, day.tokens / top * (self.height() - 2))
                box = QRectF(place * wide, self.height() - height, max(1.0, wide - 1), height)
                painter.fillRect(box, self._look.colour("water"))
        painter.end()
