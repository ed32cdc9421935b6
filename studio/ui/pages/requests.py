"""The part of the monitor page that lists requests one by one."""

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QGridLayout,
    QHBoxLayout,
    QHeaderView,
    QScrollArea,
    QSplitter,
    QVBoxLayout,
    QWidget,
)

from studio.ui.language import t
from studio.ui.theme import Look
from studio.ui.viewmodels.requests import Choice, Detail, RequestLine, columns
from studio.ui.widgets.box import Box
from studio.ui.widgets.cards import Card
from studio.ui.widgets.sign import Sign
from studio.ui.widgets.table import Cell, Column, Kind, Row, Table
from studio.ui.widgets.text import label, selectable, show_text

_WIDTHS = {"at": 124, "key": 128, "state": 96, "ttft": 88, "speed": 64, "took": 84}
_WIDTH = 76
_NUMBERS = frozenset({"prompt", "cached", "generated", "ttft", "speed", "took"})
_KEY_WIDTH = 200
_DETAIL_WIDTH = 280


class RequestsPage(QWidget):
    """Signals: `narrowed` (key, only failed), `marked` (request id, or "")."""

    narrowed = Signal(str, bool)
    marked = Signal(str)

    def __init__(self, look: Look) -> None:
        super().__init__()
        self.setObjectName("requests-part")
        self._look = look
        self.key = Box()
        self.key.setObjectName("requests-key")
        self.key.setAccessibleName(t("Whose requests"))
        self.key.setFixedWidth(_KEY_WIDTH)
        self.key.currentIndexChanged.connect(self._on_narrowed)
        self.only_failed = QCheckBox(t("Only those that failed"))
        self.only_failed.setObjectName("requests-failed")
        self.only_failed.toggled.connect(self._on_narrowed)
        self._said = label("small")
        self._said.setObjectName("requests-said")
        made = [
            Column(
                name,
                title,
                Kind.NUMBER if name in _NUMBERS else Kind.TEXT,
                stretches=name == "model",
                tooltip=tooltip,
            )
            for name, title, tooltip in columns()
        ]
        self.table = Table(look, "requests-table", t("Requests of chat clients"), made)
        header = self.table.horizontalHeader()
        header.setMinimumSectionSize(56)
        for place, column in enumerate(made):
            if not column.stretches:
                header.setSectionResizeMode(place, QHeaderView.ResizeMode.Interactive)
                header.resizeSection(place, _WIDTHS.get(column.name, _WIDTH))
        self.table.marked.connect(self.marked)
        self._choices: tuple[Choice, ...] = ()
        self._detail: Detail | None = None
        self._lay_out()

    def show_choices(self, choices: tuple[Choice, ...]) -> None:
        """Offer keys; the one that is chosen stays chosen while it is there."""
        if choices == self._choices:
            return
        chosen = self.key.currentData()
        self._choices = choices
        blocked = QSignalBlocker(self.key)
        self.key.clear()
        for one in choices:
            self.key.addItem(one.words, one.id)
        self.key.setCurrentIndex(max(0, self.key.findData(chosen)))
        blocked.unblock()
        if self.key.currentData() != chosen and chosen:
            self._on_narrowed()

    def show_lines(self, lines: tuple[RequestLine, ...], said: str) -> None:
        """Show requests."""
        self.table.show_rows(
            [Row(line.id, tuple(Cell(*cell) for cell in line.cells)) for line in lines]
        )
        show_text(self._said, said)

    def show_detail(self, detail: Detail | None) -> None:
        """Show all about the marked request, or nothing."""
        if detail == self._detail:
            return
        self._detail = detail
        self._side.setVisible(detail is not None)
        if detail is None:
            return
        show_text(self._title, detail.title)
        self._sign.show_sign(*detail.sign)
        while (item := self._grid.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        for place, (name, text) in enumerate(detail.rows):
            value = selectable("body", name)
            value.setWordWrap(True)
            value.setText(text)
            self._grid.addWidget(label("small", name), place, 0, Qt.AlignmentFlag.AlignTop)
            self._grid.addWidget(value, place, 1)

    def _on_narrowed(self) -> None:
        self.narrowed.emit(str(self.key.currentData() or ""), self.only_failed.isChecked())

    def _lay_out(self) -> None:
        margin, step = self._look.space("page_margin"), self._look.space("step")
        row = QHBoxLayout()
        row.setSpacing(step * 4)
        row.addWidget(self.key)
        row.addWidget(self.only_failed)
        row.addStretch(1)
        row.addWidget(self._said)
        split = QSplitter()
        split.setObjectName("requests-split")
        split.setChildrenCollapsible(False)
        split.addWidget(self.table)
        split.addWidget(self._about())
        split.setStretchFactor(0, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(margin, 0, margin, margin)
        column.setSpacing(step * 2)
        column.addLayout(row)
        column.addWidget(split, 1)

    def _about(self) -> QWidget:
        step = self._look.space("step")
        card = Card(self._look, "request-detail")
        self._sign = Sign(self._look)
        self._title = label("lead")
        head = QHBoxLayout()
        head.setSpacing(step * 2)
        head.addWidget(self._sign)
        head.addWidget(self._title, 1)
        holder = QWidget()
        holder.setObjectName("request-rows")
        self._grid = QGridLayout()
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(step * 3)
        self._grid.setVerticalSpacing(step + 2)
        self._grid.setColumnStretch(1, 1)
        inside = QVBoxLayout(holder)
        inside.setContentsMargins(0, 0, 0, 0)
        inside.addLayout(self._grid)
        inside.addStretch(1)
        scroll = QScrollArea()
        scroll.setProperty("kind", "inside")
        scroll.setWidgetResizable(True)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setWidget(holder)
        card.column.addLayout(head)
        card.column.addWidget(scroll, 1)
        card.setMinimumWidth(_DETAIL_WIDTH)
        card.hide()
        self._side = card
        return card
