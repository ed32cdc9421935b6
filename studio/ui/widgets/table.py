"""A table with our look: columns of a kind, sorted by values, shown by words, read by keyboard.

Rows are handed over whole; only what differs is announced, so that selection and scroll position
survive a refresh. Cells carry the value to sort by beside the text that is shown.
"""

import enum
from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QPersistentModelIndex,
    QSortFilterProxyModel,
    Qt,
    Signal,
)
from PySide6.QtGui import (
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QPainter,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView

from studio.ui.theme import Look

_ROW_HEIGHT = 34
_Index = QModelIndex | QPersistentModelIndex
_SORT_ROLE = Qt.ItemDataRole.UserRole
_ROOT = QModelIndex()


class Kind(enum.StrEnum):
    """What a column holds; all but text stand at the right."""

    TEXT = "text"
    NUMBER = "number"
    SIZE = "size"
    AGE = "age"


class Column(NamedTuple):
    """One column; the one that `stretches` takes the room that is left."""

    name: str
    title: str
    kind: Kind = Kind.TEXT
    stretches: bool = False
    tooltip: str = ""


class Cell(NamedTuple):
    """One cell: what is shown, what it is sorted by (None: not known, always last), its hover."""

    text: str
    value: float | str | None = None
    tooltip: str = ""


class Row(NamedTuple):
    """One row; `id` tells it from all others."""

    id: str
    cells: tuple[Cell, ...]


class TableModel(QAbstractTableModel):
    """Rows as they were handed over."""

    def __init__(self, columns: Sequence[Column]) -> None:
        super().__init__()
        self.columns = tuple(columns)
        self.rows: tuple[Row, ...] = ()

    def show_rows(self, rows: Sequence[Row]) -> None:
        """Show other rows; the same rows with other words keep selection and place."""
        before, after = self.rows, tuple(rows)
        if before == after:
            return
        if [row.id for row in before] == [row.id for row in after]:
            self.rows = after
            for number, (old, new) in enumerate(zip(before, after, strict=True)):
                if old != new:
                    last = self.index(number, len(self.columns) - 1)
                    self.dataChanged.emit(self.index(number, 0), last)
            return
        self.beginResetModel()
        self.rows = after
        self.endResetModel()

    def rowCount(self, parent: _Index = _ROOT) -> int:
        """Return the number of rows; a cell has none below it."""
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: _Index = _ROOT) -> int:
        """Return the number of columns."""
        return 0 if parent.isValid() else len(self.columns)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return one side of a cell."""
        if not index.isValid():
            return None
        cell = self.rows[index.row()].cells[index.column()]
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return cell.text
        if role == Qt.ItemDataRole.ToolTipRole:
            return cell.tooltip or cell.text
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(self.columns[index.column()])
        return cell.value if role == _SORT_ROLE else None

    def headerData(
        self,
        section: int,
        orientation: Qt.Orientation,
        role: int = Qt.ItemDataRole.DisplayRole,
    ) -> object:
        """Return a column's title."""
        if orientation is not Qt.Orientation.Horizontal or not 0 <= section < len(self.columns):
            return None
        column = self.columns[section]
        if role == Qt.ItemDataRole.DisplayRole:
            return column.title
        if role == Qt.ItemDataRole.ToolTipRole:
            return column.tooltip or None
        return _alignment(column) if role == Qt.ItemDataRole.TextAlignmentRole else None


class _Sorted(QSortFilterProxyModel):
    """Numbers as numbers, words without regard to case, what is not known last in both orders."""

    def lessThan(self, left: _Index, right: _Index) -> bool:
        """Compare two cells by their values, or by their words."""
        one, two = _sorted_by(left), _sorted_by(right)
        if one is None or two is None:
            ascending = self.sortOrder() is Qt.SortOrder.AscendingOrder
            return (two is None and one is not None) is ascending and one is not two
        if isinstance(one, float) and isinstance(two, float):
            return one < two
        return str(one).casefold() < str(two).casefold()


class Table(QTableView):
    """Signals: `marked` (row id, or ""), `opened` (row id) by Enter or a double click."""

    marked = Signal(str)
    opened = Signal(str)

    def __init__(self, look: Look, name: str, words: str, columns: Sequence[Column]) -> None:
        super().__init__()
        self.setObjectName(name)
        self.setAccessibleName(words)
        self._look = look
        self.rows_model = TableModel(columns)
        self._proxy = _Sorted(self)
        self._proxy.setSourceModel(self.rows_model)
        self._proxy.setDynamicSortFilter(True)
        self.setModel(self._proxy)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)  # the tabulator leaves the table
        self.setCornerButtonEnabled(False)
        self.setFont(look.font("body"))
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(_ROW_HEIGHT)
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self._least: dict[int, int] = {}
        """How wide the page that holds the table made its columns."""
        self._chosen: set[int] = set()
        """What a person made as wide as it is."""
        self._is_fitting = False
        self._set_header()
        self.selectionModel().currentRowChanged.connect(self._on_current)
        self.doubleClicked.connect(self._on_opened)

    def show_rows(self, rows: Sequence[Row]) -> None:
        """Show other rows; the marked one stays marked where it is still there."""
        chosen = self.chosen
        if tuple(rows) != self.rows_model.rows:
            self.rows_model.show_rows(rows)
            self.fit()
        if chosen is not None and self.chosen != chosen:
            self.mark(chosen)

    def fit(self) -> None:
        """Let columns that cut their words have what others do not need.

        Where a window is too narrow for all, columns give up what is empty in them before anything
        has to be scrolled to.
        """
        header = self.horizontalHeader()
        columns = self.rows_model.columns
        stretching = [place for place, column in enumerate(columns) if column.stretches]
        if not stretching:
            return
        least = {
            place: self._least.setdefault(place, header.sectionSize(place))
            for place, column in enumerate(columns)
            if not column.stretches
        }
        needed = sum(self._wanted(place) for place in stretching)
        widths = self._shared(least, self.viewport().width() - needed)
        self._is_fitting = True
        for place, width in widths.items():
            header.resizeSection(place, width)
        self._is_fitting = False

    def _wanted(self, place: int) -> int:
        """Return how wide a column has to be to show its head and every cell that is in sight."""
        header = self.horizontalHeader()
        wide = max(self.sizeHintForColumn(place), header.sectionSizeHint(place))
        return max(header.minimumSectionSize(), wide)

    def _shared(self, least: dict[int, int], room: int) -> dict[int, int]:
        """Return widths: at first those of the page, or more where words would be cut."""
        wanted = {place: self._wanted(place) for place in least.keys() - self._chosen}
        widths = {place: max(width, wanted.get(place, 0)) for place, width in least.items()}
        over = sum(widths.values()) - room
        for floor in (wanted, least):  # what is empty goes first, then what was given for words
            for place in sorted(wanted, reverse=True):
                less = min(max(0, over), max(0, widths[place] - floor[place]))
                widths[place] -= less
                over -= less
        return widths

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Share the room anew."""
        super().resizeEvent(event)
        self.fit()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw a rule below each row, but not above the frame, which is one itself."""
        super().paintEvent(event)
        painter = QPainter(self.viewport())
        width, end = self.viewport().width(), self.viewport().height() - 1
        colour = self._look.colour("ink", self._look.tokens.share["hairline"])
        for row in range(max(0, self.rowAt(0)), self._proxy.rowCount()):
            bottom = self.rowViewportPosition(row) + self.rowHeight(row) - 1
            if bottom >= end:
                break
            painter.fillRect(0, bottom, width, 1, colour)
        painter.end()

    def height_of(self, least: int, most: int | None = None) -> int:
        """Return the height that shows every row up to `most`, and room for `least` of them."""
        rows = max(least, min(len(self.rows_model.rows), most or len(self.rows_model.rows)))
        row = self.verticalHeader().defaultSectionSize()
        return self.horizontalHeader().sizeHint().height() + rows * row + 2 * self.frameWidth()

    @property
    def chosen(self) -> str | None:
        """Return the id of the marked row."""
        return self._id_at(self.currentIndex())

    def mark(self, identity: str) -> None:
        """Mark a row by its id; one that is not there marks nothing."""
        for number, row in enumerate(self.rows_model.rows):
            if row.id == identity:
                self.setCurrentIndex(self._proxy.mapFromSource(self.rows_model.index(number, 0)))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Open with Enter, copy with the system's keys."""
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_row()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.chosen is not None:
            self.opened.emit(self.chosen)
        else:
            super().keyPressEvent(event)

    def copy_row(self) -> None:
        """Put the marked row on the clipboard, its cells parted by tabulators."""
        chosen = self.chosen
        found = (row for row in self.rows_model.rows if row.id == chosen)
        for row in found:
            QGuiApplication.clipboard().setText("\t".join(cell.text for cell in row.cells))

    def _set_header(self) -> None:
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        for number, column in enumerate(self.rows_model.columns):
            if column.stretches:
                header.setSectionResizeMode(number, QHeaderView.ResizeMode.Stretch)
        header.setResizeContentsPrecision(0)  # what is in sight, not a thousand rows
        header.sectionResized.connect(self._on_resized)
        header.setSortIndicatorClearable(True)
        header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        self.setSortingEnabled(True)

    def _on_resized(self, place: int, _before: int, now: int) -> None:
        if not self._is_fitting and not self.rows_model.columns[place].stretches:
            self._least[place] = now
            if self.isVisible():
                self._chosen.add(place)

    def _id_at(self, index: _Index) -> str | None:
        source = self._proxy.mapToSource(index)
        return self.rows_model.rows[source.row()].id if source.isValid() else None

    def _on_current(self, current: QModelIndex) -> None:
        self.marked.emit(self._id_at(current) or "")

    def _on_opened(self, index: QModelIndex) -> None:
        identity = self._id_at(index)
        if identity is not None:
            self.opened.emit(identity)


def _alignment(column: Column) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignLeft if column.kind is Kind.TEXT else Qt.AlignmentFlag.AlignRight
    return side | Qt.AlignmentFlag.AlignVCenter


def _sorted_by(index: _Index) -> float | str | None:
    model = index.model()
    kind = model.columns[index.column()].kind if isinstance(model, TableModel) else Kind.TEXT
    value = index.data(_SORT_ROLE)
    if isinstance(value, int | float):
        return float(value)
    if value is None and kind is Kind.TEXT:
        return str(index.data())
    return None if value is None else str(value)
