"""Charts side by side over one span, with one crosshair across all of them."""

from collections.abc import Mapping

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QWidget

from studio.ui.theme import Look
from studio.ui.viewmodels.chart_kinds import ChartKind
from studio.ui.viewmodels.happened import EventMark
from studio.ui.viewmodels.monitor import lines_of
from studio.ui.viewmodels.track import Track
from studio.ui.widgets.time_chart import TimeChart

_COLUMN_PX = 380
_MOST_COLUMNS = 4


class ChartBoard(QWidget):
    """Signals: `pointed` (moment or None), `zoomed` (begin, end), `back_asked`."""

    pointed = Signal(object)
    zoomed = Signal(float, float)
    back_asked = Signal()

    def __init__(self, look: Look) -> None:
        super().__init__()
        self.setObjectName("chart-board")
        self._look = look
        self.charts: dict[str, TimeChart] = {}
        """By the id of their kind, in the order in which they stand."""
        self._columns = 0
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(look.space("card_gap"))

    def show_kinds(self, kinds: tuple[ChartKind, ...]) -> None:
        """Show these charts; those that stay keep what they show."""
        if [kind.id for kind in kinds] == list(self.charts):
            return
        before = self.charts
        self.charts = {
            kind.id: before[kind.id] if kind.id in before else self._made(kind) for kind in kinds
        }
        for gone in (one for name, one in before.items() if name not in self.charts):
            self._grid.removeWidget(gone)
            gone.hide()
            gone.deleteLater()
        self._columns = 0
        self._arrange()

    def show_data(self, tracks: Mapping[str, Track], step_s: float) -> None:
        """Show series; `step_s` is what one value stands for."""
        known = tuple(tracks)
        for chart in self.charts.values():
            lines = lines_of(chart.kind, known)
            chart.show_lines(lines, tuple(tracks[line.series] for line in lines), step_s)

    def show_span(self, begin: float, end: float) -> None:
        """Look at a span."""
        for chart in self.charts.values():
            chart.show_span(begin, end)

    def show_events(self, marks: tuple[EventMark, ...]) -> None:
        """Mark what happened."""
        for chart in self.charts.values():
            chart.show_events(marks)

    def show_state(self, *, is_reading: bool, is_live: bool) -> None:
        """Say the newest values."""
        for chart in self.charts.values():
            chart.show_state(is_reading=is_reading, is_live=is_live)

    def point_at(self, at: float | None) -> None:
        """Put the crosshair of every chart at a moment."""
        for chart in self.charts.values():
            chart.point_at(at)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Use as many columns as fit."""
        super().resizeEvent(event)
        self._arrange()

    def _made(self, kind: ChartKind) -> TimeChart:
        chart = TimeChart(self._look, kind)
        chart.pointed.connect(self.pointed)
        chart.zoomed.connect(self.zoomed)
        chart.back_asked.connect(self.back_asked)
        return chart

    def _arrange(self) -> None:
        columns = min(_MOST_COLUMNS, max(1, self.width() // _COLUMN_PX))
        columns = min(columns, max(1, len(self.charts)))
        if columns == self._columns:
            return
        before, self._columns = self._columns, columns
        for column in range(max(before, columns, self._grid.columnCount())):
            self._grid.setColumnStretch(column, int(column < columns))
        previous: QWidget | None = None
        last = len(self.charts) - 1
        for place, chart in enumerate(self.charts.values()):
            row, column = divmod(place, columns)
            wide = columns - column if place == last else 1  # no empty half at the end
            self._grid.addWidget(chart, row, column, 1, wide)
            if previous is not None:
                self.setTabOrder(previous, chart)
            previous = chart
