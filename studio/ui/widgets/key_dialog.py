"""The form for a key: its name, what it may do, and whether it is kept to be shown again."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QGridLayout, QLineEdit, QWidget

from studio.domain.errors import ErrorInfo
from studio.ui.language import t, told
from studio.ui.theme import Look
from studio.ui.viewmodels.key_form import FIELDS, Filled, Form, read
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.dialog import Dialog
from studio.ui.widgets.text import label, show_text

_WIDTH = 640
_NAME_LENGTH = 64


class KeyDialog(Dialog):
    """Signal: `filled` (Filled, store) when the form holds and a person said so.

    It stays open until `close`: a refusal of the service is shown in it.
    """

    filled = Signal(object, bool)

    def __init__(
        self, look: Look, form: Form, *, is_new: bool, parent: QWidget | None = None
    ) -> None:
        title = t("Make a key") if is_new else t("Change “{name}”").format(name=form.name)
        about = t("An empty field limits nothing. Limits hold from the next request on.")
        super().__init__(look, "key-dialog", title, about=about, parent=parent)
        self.setMinimumWidth(_WIDTH)
        self._form = form
        self._has_tried = False
        self.name = QLineEdit(form.name)
        self.name.setObjectName("key-form-name")
        self.name.setAccessibleName(t("Name"))
        self.name.setMaxLength(_NAME_LENGTH)
        self.fields: dict[str, QLineEdit] = {}
        self._faults = {"name": label("fault", wrap=True)}
        self._only_running = QCheckBox(t("Starts nothing: uses what runs"))
        self._only_running.setObjectName("key-form-only-running")
        self._only_running.setChecked(form.only_running)
        self._store = QCheckBox(t("Keep it, so that it can be shown again"))
        self._store.setObjectName("key-form-store")
        self._store.setToolTip(t("In the system's keyring, else in a file that only you can read"))
        self._store.setVisible(is_new)
        self._lay_out(look)
        cancel = Button(look, "key-form-cancel", t("Cancel"))
        cancel.clicked.connect(self.reject)
        self._done = Button(
            look, "key-form-done", t("Make a key") if is_new else t("Save"), kind="primary"
        )
        self._done.setDefault(True)
        self._done.clicked.connect(self.finish)
        self.add_button(cancel)
        self.add_button(self._done)
        self.name.setFocus()

    def show_error(self, error: ErrorInfo | None) -> None:
        """Say why the service refused it."""
        self._done.setEnabled(True)
        self.show_note(
            "" if error is None else f"{told(error.message)} {told(error.hint or '')}".strip()
        )

    @property
    def form(self) -> Form:
        """Return what stands in it."""
        return Form(
            name=self.name.text(),
            values={name: field.text() for name, field in self.fields.items()},
            only_running=self._only_running.isChecked(),
            store=self._store.isChecked(),
        )

    def finish(self) -> None:
        """Hand the form over where it holds, else say what is wrong."""
        self._has_tried = True
        filled = self._check()
        if not filled.problems:
            self._done.setEnabled(False)
            self.show_note("")
            self.filled.emit(filled, self._store.isChecked())
            return
        first = next(iter(filled.problems))
        (self.name if first == "name" else self.fields[first]).setFocus()

    def _on_typed(self) -> None:
        if self._has_tried:
            self._check()

    def _check(self) -> Filled:
        filled = read(self.form)
        for name, fault in self._faults.items():
            show_text(fault, filled.problems.get(name, ""))
            fault.setVisible(name in filled.problems)
        return filled

    def _lay_out(self, look: Look) -> None:
        step = look.space("step")
        grid = QGridLayout()
        grid.setHorizontalSpacing(step * 6)
        grid.setVerticalSpacing(step)
        grid.addWidget(self._titled(t("Name"), self.name), 0, 0, 1, 2)
        grid.addWidget(self.name, 1, 0, 1, 2)
        grid.addWidget(self._faults["name"], 2, 0, 1, 2)
        for place, field in enumerate(FIELDS):
            edit = QLineEdit(self._form.values.get(field.id, ""))
            edit.setObjectName(f"key-form-{field.id}")
            edit.setAccessibleName(t(field.label))
            edit.setPlaceholderText(t(field.hint))
            edit.setToolTip(t(field.tooltip))
            edit.textChanged.connect(self._on_typed)
            self.fields[field.id] = edit
            self._faults[field.id] = label("fault", wrap=True)
            row, column = 3 + place // 2 * 3, place % 2
            grid.addWidget(self._titled(t(field.label), edit), row, column)
            grid.addWidget(edit, row + 1, column)
            grid.addWidget(self._faults[field.id], row + 2, column)
        for fault in self._faults.values():
            fault.hide()
        self.name.textChanged.connect(self._on_typed)
        self.body.addLayout(grid)
        self.body.addWidget(self._only_running)
        self.body.addWidget(self._store)

    def _titled(self, text: str, edit: QLineEdit) -> QWidget:
        title = label("small", text)
        title.setBuddy(edit)
        return title
