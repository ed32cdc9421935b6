"""A dialog that asks for a path on the service's machine, and perhaps for one word more."""

import enum

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QLineEdit, QWidget

from studio.ui.language import t
from studio.ui.theme import Look
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.dialog import Dialog


class Wanted(enum.StrEnum):
    """What the path names."""

    FILE = "file"
    FOLDER = "folder"
    EITHER = "either"


class PathDialog(Dialog):
    """Signal: `given` (path, the other word)."""

    given = Signal(str, str)

    def __init__(
        self, look: Look, name: str, title: str, *, about: str, verb: str, wanted: Wanted,
        more: str = "", parent: QWidget | None = None,
    ) -> None:  # fmt: skip
        """Ask for a file or a folder; `more` is what stands in a second field, if there is one."""
        super().__init__(look, name, title, about=about, parent=parent)
        self._wanted = wanted
        self.path = QLineEdit()
        self.path.setObjectName(f"{name}-path")
        words = _path_words(wanted)
        self.path.setAccessibleName(words)
        self.path.textChanged.connect(self._on_changed)
        self.path.returnPressed.connect(self._on_do)
        self.more = QLineEdit()
        self.more.setObjectName(f"{name}-more")
        self.more.setPlaceholderText(more)
        self.more.setAccessibleName(more)
        self.more.setVisible(bool(more))
        self.more.returnPressed.connect(self._on_do)
        choose = Button(look, f"{name}-choose", t("Choose…"))
        choose.setAutoDefault(False)
        choose.clicked.connect(self._on_choose)
        row = QHBoxLayout()
        row.setSpacing(look.space("step") * 2)
        row.addWidget(self.path, 1)
        row.addWidget(choose)
        self.add_field(words, row)
        self.body.addWidget(self.more)
        self.body.addStretch(1)
        close = Button(look, f"{name}-close", t("Cancel"))
        close.setAutoDefault(False)
        close.clicked.connect(self.close)
        self.add_button(close)
        self._do = Button(look, f"{name}-do", verb, kind="primary")
        self._do.clicked.connect(self._on_do)
        self.add_button(self._do)
        self._on_changed()

    def _on_changed(self) -> None:
        self._do.setEnabled(bool(self.path.text().strip()))

    def _on_choose(self) -> None:
        title, before = self.windowTitle(), self.path.text()
        if self._wanted is not Wanted.FILE:
            found = QFileDialog.getExistingDirectory(self, title, before)
        else:
            found, _kind = QFileDialog.getOpenFileName(self, title, before)
        if found:
            self.path.setText(found)

    def _on_do(self) -> None:
        if self._do.isEnabled():
            self.given.emit(self.path.text().strip(), self.more.text().strip())
            self.close()


def _path_words(wanted: Wanted) -> str:
    match wanted:
        case Wanted.FILE:
            return t("Path of the file")
        case Wanted.FOLDER:
            return t("Path of the folder")
        case Wanted.EITHER:
            return t("Path of the folder or file")
