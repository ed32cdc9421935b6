"""The dialog that asks which model is wanted from which hub."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QGridLayout, QLineEdit, QWidget

from studio.domain.downloads import HubName
from studio.ui.language import t
from studio.ui.theme import Look
from studio.ui.viewmodels.downloads import HUBS, wanted
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.dialog import Dialog
from studio.ui.widgets.segments import Segments
from studio.ui.widgets.text import label

_ANY = "any"


class GetDialog(Dialog):
    """Signal: `given` (GetRequest)."""

    given = Signal(object)

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        about = t("Every file is proven by the hub's digest. What breaks off goes on later.")
        super().__init__(look, "get-model", t("Get a model"), about=about, parent=parent)
        hubs = [(hub.value, t(title)) for hub, title in HUBS.items()]
        self.hubs = Segments("get-hub", t("Hub"), [(_ANY, t("Whichever answers")), *hubs])
        self.hubs.show_chosen(_ANY)
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(look.space("step") * 3)
        self._grid.setVerticalSpacing(look.space("step") * 2)
        self._grid.addWidget(label("quiet", t("Hub")), 0, 0)
        self._grid.addWidget(self.hubs, 0, 1)
        self.repository = self._field("repository", t("Model"), t("owner/name"))
        self.revision = self._field(
            "revision", t("Revision"), t("branch, tag or commit; empty: main")
        )
        self.include = self._field("include", t("Only"), t("*.safetensors *.json; empty: all"))
        self.exclude = self._field("exclude", t("Leave out"), t("old/ *.bin"))
        self.into = self._field("into", t("Into"), t("empty: the hub's own cache"))
        self.update_box = QCheckBox(t("Follow the branch, if it has moved on since"))
        self.update_box.setObjectName("get-update")
        self._grid.addWidget(self.update_box, self._grid.rowCount(), 1)
        self._grid.setColumnStretch(1, 1)
        self.body.addLayout(self._grid)
        self.body.addStretch(1)
        close = Button(look, "get-close", t("Cancel"))
        close.setAutoDefault(False)
        close.clicked.connect(self.close)
        self.add_button(close)
        self._do = Button(look, "get-do", t("Get it"), kind="primary")
        self._do.clicked.connect(self._on_do)
        self.add_button(self._do)
        self.repository.textChanged.connect(self._on_changed)
        self._on_changed()
        self.repository.setFocus()  # what has to be typed, and not the choice above it

    def _field(self, name: str, title: str, hint: str) -> QLineEdit:
        field = QLineEdit()
        field.setObjectName(f"get-{name}")
        field.setPlaceholderText(hint)
        field.setAccessibleName(title)
        field.returnPressed.connect(self._on_do)
        row = self._grid.rowCount()
        self._grid.addWidget(label("quiet", title), row, 0)
        self._grid.addWidget(field, row, 1)
        return field

    def _on_changed(self) -> None:
        owner, slash, name = self.repository.text().strip().partition("/")
        self._do.setEnabled(bool(owner and slash and name))

    def _on_do(self) -> None:
        if not self._do.isEnabled():
            return
        hub = self.hubs.value
        request = wanted(
            HubName(hub) if hub not in (None, _ANY) else None,
            self.repository.text().strip(),
            revision=self.revision.text().strip(),
            include=self.include.text(),
            exclude=self.exclude.text(),
            into=self.into.text().strip(),
            update="yes" if self.update_box.isChecked() else "",
        )
        self.given.emit(request)
        self.close()
