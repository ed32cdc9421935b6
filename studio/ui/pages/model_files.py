"""The files of the model in front: folded until somebody wants them."""

from collections.abc import Iterable

from PySide6.QtCore import Qt, Signal

from studio.ui.language import t
from studio.ui.theme import Look
from studio.ui.viewmodels.model_files import FilesView
from studio.ui.viewmodels.models import ModelRow
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.cards import Card
from studio.ui.widgets.table import Cell, Column, Kind, Row, Table
from studio.ui.widgets.text import label, show_text

_WIDTHS = (0, 104, 168, 168)
_LEAST, _MOST = 120, 320
"""Pixels: a few files take no more room than they need, many scroll."""
_ROW = 34


class FilesCard(Card):
    """Signal: `unfolded` (whether they are to be seen)."""

    unfolded = Signal(bool)

    def __init__(self, look: Look) -> None:
        super().__init__(look, "model-files")
        self._fold = Button(look, "model-files-fold", kind="plain", icon="right")
        self._fold.setCheckable(True)
        self._fold.toggled.connect(self._on_toggled)
        self.table = Table(look, "model-files-table", t("Files"), _columns())
        header = self.table.horizontalHeader()
        for number, width in enumerate(_WIDTHS):
            if width:
                header.resizeSection(number, width)
        self._note = label("quiet", wrap=True)
        self._note.setObjectName("model-files-note")
        self.column.addWidget(self._fold, 0, Qt.AlignmentFlag.AlignLeft)
        self.column.addWidget(self._note)
        self.column.addWidget(self.table)
        self.table.hide()
        self._note.hide()

    @property
    def is_unfolded(self) -> bool:
        """Whether the files are to be seen."""
        return self._fold.isChecked()

    def show_view(self, view: FilesView) -> None:
        """Show `view`."""
        self._fold.show_words(view.fold)
        self.table.show_rows(table_rows(view.rows))
        show_text(self._note, view.note)
        self._note.setVisible(bool(view.note))
        self.table.setVisible(bool(view.rows))
        self.table.setFixedHeight(max(_LEAST, min(_MOST, (len(view.rows) + 1) * _ROW + 4)))

    def _on_toggled(self, is_on: bool) -> None:
        self._fold.use_icon("down" if is_on else "right")
        self.unfolded.emit(is_on)


def table_rows(rows: Iterable[ModelRow]) -> list[Row]:
    """Return rows as a table takes them."""
    return [
        Row(row.id, tuple(Cell(one.text, one.value, one.tooltip) for one in row.cells))
        for row in rows
    ]


def _columns() -> tuple[Column, ...]:
    return (
        Column("name", t("File"), stretches=True),
        Column("size", t("Size"), Kind.SIZE),
        Column("proof", t("Proof")),
        Column("digest", "sha256"),
    )
