"""The report before it is saved: every file of it, and the text that goes into the zip."""

from pathlib import Path

from PySide6.QtCore import QIODevice, QSaveFile, QSize, QStandardPaths, Qt, Signal
from PySide6.QtWidgets import (
    QDialog,
    QFileDialog,
    QHBoxLayout,
    QListWidget,
    QPlainTextEdit,
    QSplitter,
    QVBoxLayout,
    QWidget,
)

from studio.domain.errors import ErrorInfo
from studio.domain.report import ReportPreview, packed
from studio.ui.language import t
from studio.ui.theme import Look
from studio.ui.viewmodels import report as words
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.text import label, show_text

_SIZE = (980, 640)
_LIST_WIDTH = 260


class ReportDialog(QDialog):
    """Shows a preview once it is there; what is saved is what was shown. Signal: `saved` (path)."""

    saved = Signal(str)

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("report-dialog")
        self.setWindowTitle(t(words.TITLE))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        wide = QSize(*_SIZE)
        self.resize(wide if parent is None else wide.boundedTo(parent.size()))
        self._preview: ReportPreview | None = None
        self._about = label()
        self._about.setObjectName("report-about")
        self._about.setWordWrap(True)
        self.files = QListWidget()
        self.files.setObjectName("report-files")
        self.files.setAccessibleName(t(words.FILES))
        self.files.currentRowChanged.connect(self._on_file)
        self.text = QPlainTextEdit()
        self.text.setObjectName("report-text")
        self.text.setAccessibleName(t(words.TEXT))
        self.text.setReadOnly(True)
        self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.text.setFont(look.font("small", mono=True))
        self._said = label("small")
        self._said.setObjectName("report-said")
        self._save = Button(look, "report-save", t(words.SAVE), kind="primary")
        self._save.clicked.connect(self._on_save)
        self._close = Button(look, "report-close", t(words.CLOSE))
        self._close.clicked.connect(self.close)
        self._lay_out(look)
        self._save.setEnabled(False)
        show_text(self._about, t(words.COLLECTING))

    def show_preview(self, preview: ReportPreview) -> None:
        """Show all files of a report."""
        self._preview = preview
        self.files.clear()
        self.files.addItems([one.name for one in preview.entries])
        self.files.setCurrentRow(0)
        self._save.setEnabled(True)
        show_text(self._about, t(words.ABOUT))
        show_text(self._said, words.counted_text(preview))

    def show_error(self, error: ErrorInfo) -> None:
        """Say that there is no report, and why."""
        show_text(self._about, words.failed_text(error))

    def save_to(self, path: str) -> bool:
        """Write the report, whole or not at all."""
        if self._preview is None:
            return False
        file = QSaveFile(path)
        is_open = file.open(QIODevice.OpenModeFlag.WriteOnly)
        data = packed(self._preview)
        if is_open and file.write(data) == len(data) and file.commit():
            show_text(self._said, words.saved_text(path))
            self.saved.emit(path)
            return True
        show_text(self._said, words.not_saved_text(path, file.errorString()))
        return False

    def _on_file(self, row: int) -> None:
        if self._preview is not None and 0 <= row < len(self._preview.entries):
            self.text.setPlainText(self._preview.entries[row].text)

    def _on_save(self) -> None:
        if self._preview is None:
            return
        folder = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation)
        place = str(Path(folder) / self._preview.file_name)
        path, _kind = QFileDialog.getSaveFileName(self, t(words.SAVE_TITLE), place, t(words.KINDS))
        if path:
            self.save_to(path)

    def _lay_out(self, look: Look) -> None:
        margin, gap = look.space("page_margin"), look.space("card_gap")
        split = QSplitter()
        split.addWidget(self.files)
        split.addWidget(self.text)
        split.setStretchFactor(1, 1)
        split.setSizes([_LIST_WIDTH, _SIZE[0] - _LIST_WIDTH])
        buttons = QHBoxLayout()
        buttons.addWidget(self._said, 1)
        buttons.addWidget(self._close)
        buttons.addWidget(self._save)
        column = QVBoxLayout(self)
        column.setContentsMargins(margin, margin, margin, margin)
        column.setSpacing(gap)
        column.addWidget(self._about)
        column.addWidget(split, 1)
        column.addLayout(buttons)
