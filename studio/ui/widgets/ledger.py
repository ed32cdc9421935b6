"""The ledger: a bar of memory cut into its parts, headroom hatched, the line of spill drawn."""

from PySide6.QtCore import QLineF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QGridLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from studio.ui.theme import Look
from studio.ui.viewmodels.plan import LedgerView, Segment
from studio.ui.widgets.hatch import fill
from studio.ui.widgets.text import Elided, label, show_text

_BAR = 22
_OVER = 4
"""How far the line of spill stands out above and below the bar."""
_SWATCH = 10
_HALF = 0.5
"""From here on the words about the line stand at the right, below it."""


def _fill(painter: QPainter, area: QRectF, look: Look, segment: Segment) -> None:
    colour = look.colour(segment.role, segment.opacity)
    fill(painter, area, colour, hatched=segment.is_free)


class LedgerBar(QWidget):
    """The bar alone."""

    def __init__(self, look: Look, name: str) -> None:
        super().__init__()
        self.setObjectName(name)
        self._look = look
        self._view: LedgerView | None = None
        self.setFixedHeight(_BAR + 2 * _OVER)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        look.changed.connect(self.update)

    @property
    def view(self) -> LedgerView | None:
        """Return what is shown."""
        return self._view

    def show_ledger(self, view: LedgerView) -> None:
        """Show `view`."""
        if view != self._view:
            self._view = view
            self.setAccessibleName(view.title)
            self.setAccessibleDescription(view.spoken)
            self.setToolTip(view.line_words)
            self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the parts from left to right, then the line."""
        view = self._view
        if view is None:
            return
        painter = QPainter(self)
        bar = QRectF(0, _OVER, self.width(), _BAR)
        painter.fillRect(bar, self._look.colour("ink", 0.05))
        left = 0.0
        for segment in view.segments:
            width = segment.share * bar.width()
            part = QRectF(left, bar.top(), max(0.0, width - 1), bar.height())
            _fill(painter, part, self._look, segment)
            left += width
        if view.line is not None:
            painter.setPen(QPen(self._look.colour("harm"), 2))
            x = min(bar.width() - 1, max(1.0, view.line * bar.width()))
            painter.drawLine(QLineF(x, 0, x, self.height()))
        painter.end()


class Swatch(QWidget):
    """The fill of one part, beside its name."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self._segment: Segment | None = None
        self.setFixedSize(_SWATCH, _SWATCH)
        look.changed.connect(self.update)

    def show_segment(self, segment: Segment) -> None:
        """Show the fill of `segment`."""
        self._segment = segment
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw it as the bar does."""
        if self._segment is not None:
            painter = QPainter(self)
            _fill(painter, QRectF(self.rect()), self._look, self._segment)
            painter.end()


class Ledger(QWidget):
    """One bar with its title above and its parts, each with its size, below."""

    def __init__(self, look: Look, name: str) -> None:
        super().__init__()
        self.setObjectName(name)
        self._look = look
        self._title = label("small", wrap=True)
        self.bar = LedgerBar(look, f"{name}-bar")
        self._line = label("small", wrap=True)
        self._rows: list[tuple[Swatch, Elided, QLabel]] = []
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(look.space("step") * 2)
        self._grid.setVerticalSpacing(look.space("step") // 2)
        self._grid.setColumnStretch(1, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(look.space("step"))
        column.addWidget(self._title)
        column.addWidget(self.bar)
        column.addWidget(self._line)
        column.addLayout(self._grid)

    def sizeHint(self) -> QSize:
        """Return a width that fits a column."""
        return QSize(240, super().sizeHint().height())

    def show_ledger(self, view: LedgerView) -> None:
        """Show `view`."""
        if view == self.bar.view:
            return
        show_text(self._title, view.title)
        self.bar.show_ledger(view)
        show_text(self._line, view.line_words)
        self._line.setVisible(bool(view.line_words))
        side = (
            Qt.AlignmentFlag.AlignRight if (view.line or 0) > _HALF else Qt.AlignmentFlag.AlignLeft
        )
        self._line.setAlignment(side)
        while len(self._rows) < len(view.segments):
            self._add_row()
        for place, (swatch, title, size) in enumerate(self._rows):
            shown = place < len(view.segments)
            for widget in (swatch, title, size):
                widget.setVisible(shown)
            if shown:
                segment = view.segments[place]
                swatch.show_segment(segment)
                title.show_text(segment.title, segment.tooltip)
                show_text(size, segment.size, segment.tooltip)

    def _add_row(self) -> None:
        row = (Swatch(self._look), Elided("small"), label("small"))
        place = len(self._rows)
        row[2].setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        for across, widget in enumerate(row):
            self._grid.addWidget(widget, place, across)
        self._rows.append(row)
