"""The running requests as a small table, and the line about those who wait for an engine."""

from PySide6.QtWidgets import QGridLayout, QWidget

from studio.ui.theme import Look
from studio.ui.viewmodels.live import RequestsView
from studio.ui.widgets.cards import Card
from studio.ui.widgets.text import Elided, label, show_text

_FIGURES = 2
"""From here on columns are never cut: half a figure is another figure."""
_SHARES = (4, 2, 0)
"""Of the room that is left: names vary in length, figures do not."""


class Requests(Card):
    """A handful of rows; labels are kept and only their words change."""

    def __init__(self, look: Look) -> None:
        super().__init__(look, "requests", " ")
        self._view: RequestsView | None = None
        self._rows: list[list[Elided]] = []
        self._table = QWidget()
        self._grid = QGridLayout(self._table)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(look.space("card_gap"))
        self._grid.setVerticalSpacing(look.space("step"))
        self._empty = label("quiet", wrap=True)
        self._more = label("small")
        self._queue = label("small", wrap=True)
        self._queue.setObjectName("queue")
        for part in (self._table, self._empty, self._more, self._queue):
            self.column.addWidget(part)
        self.column.addStretch(1)

    @property
    def rows(self) -> tuple[tuple[str, ...], ...]:
        """Return what the table shows, without its head."""
        return self._view.rows if self._view else ()

    def show_requests(self, view: RequestsView) -> None:
        """Show `view`."""
        if view == self._view:
            return
        self._view = view
        show_text(self.heading, view.heading)
        lines = (view.columns, *view.rows) if view.rows else ()
        while len(self._rows) < len(lines):
            self._add_row(len(view.columns))
        for place, row in enumerate(self._rows):
            shown = place < len(lines)
            for across, cell in enumerate(row):
                cell.setVisible(shown)
                if shown:
                    cell.show_text(lines[place][across])
                if shown and across >= _FIGURES:
                    cell.setMinimumWidth(cell.sizeHint().width())
        self._table.setVisible(bool(lines))
        for part, words in (
            (self._empty, view.empty),
            (self._more, view.more),
            (self._queue, view.queue),
        ):
            show_text(part, words)
            part.setVisible(bool(words))

    def _add_row(self, columns: int) -> None:
        place = len(self._rows)
        cells = [Elided("small" if place == 0 else "body") for _ in range(columns)]
        for across, cell in enumerate(cells):
            self._grid.addWidget(cell, place, across)
            self._grid.setColumnStretch(across, _SHARES[min(across, len(_SHARES) - 1)])
        self._rows.append(cells)
