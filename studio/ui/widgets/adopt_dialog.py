"""The form for a vLLM that already runs: its address, its key, and what it is to be called."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLineEdit, QVBoxLayout, QWidget

from studio.domain.adopt import AdoptRequest
from studio.domain.errors import ErrorInfo
from studio.ui.language import t
from studio.ui.theme import Look
from studio.ui.viewmodels.settings_adopt import EXAMPLE, form_view
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.dialog import Dialog
from studio.ui.widgets.text import label, show_text

_NAME_LENGTH = 64


class AdoptDialog(Dialog):
    """Signals: `wanted` (AdoptRequest), `followed` once it is adopted.

    It stays open until `close`: what the service says of address and key is shown in it.
    """

    wanted = Signal(object)
    followed = Signal()

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        about = t(
            "The address of its server. The service asks it right away, and keeps address and key "
            "in a file that only you can read."
        )
        super().__init__(look, "adopt", t("Adopt a vLLM"), about=about, parent=parent)
        self._is_asking = False
        self._error: ErrorInfo | None = None
        self.address = self._field("adopt-address", t("Address"))
        self.address.setPlaceholderText(EXAMPLE)
        self.address.setFont(look.font("small", mono=True))
        self.key = self._field("adopt-key", t("Its key, if it wants one"))
        self.key.setEchoMode(QLineEdit.EchoMode.Password)
        self.name = self._field("adopt-name", t("What to call it"))
        self.name.setPlaceholderText(t("its address"))
        self.name.setMaxLength(_NAME_LENGTH)
        self._fault = label("fault", wrap=True)
        self._fault.setObjectName("adopt-fault")
        self._said = label("body", wrap=True)
        self._said.setObjectName("adopt-said")
        self._said.hide()
        self._close = Button(look, "adopt-close", t("Cancel"))
        self._close.setAutoDefault(False)
        self._close.clicked.connect(self.close)
        self._do = Button(look, "adopt-do", kind="primary")
        self._do.clicked.connect(self._on_do)
        self._follow = Button(look, "adopt-follow", t("Show it"), kind="primary")
        self._follow.clicked.connect(self._on_follow)
        self._follow.hide()
        self._form = QWidget()
        self._lay_out(look.space("step"))
        self._show()

    def show_error(self, error: ErrorInfo) -> None:
        """Say why it was not adopted; the caret goes where something has to be typed."""
        self._is_asking, self._error = False, error
        self._show()
        about_key = form_view(error, is_asking=False, address="").is_about_key
        field = self.key if about_key else self.address
        field.setFocus()
        field.selectAll()

    def show_done(self, lines: tuple[str, ...]) -> None:
        """Say what was adopted, in place of the form; the key is out of the window then."""
        self.key.clear()
        self.show_about("")
        self._form.hide()
        self._do.hide()
        show_text(self._said, "\n\n".join(lines))
        self._said.show()
        self._close.show_words(t("Close"))
        self._follow.show()
        self._follow.setFocus()

    def _show(self) -> None:
        view = form_view(self._error, is_asking=self._is_asking, address=self.address.text())
        for field in (self.address, self.key, self.name):
            field.setEnabled(view.is_enabled)
        self._do.show_view(view.button)
        show_text(self._fault, view.problem)
        self._fault.setVisible(bool(view.problem))

    def _on_typed(self) -> None:
        self._show()

    def _on_do(self) -> None:
        if not self._do.isEnabled():
            return
        self._is_asking, self._error = True, None
        self._show()
        self.wanted.emit(
            AdoptRequest(
                url=self.address.text().strip(),
                key=self.key.text().strip() or None,
                name=self.name.text().strip() or None,
            )
        )

    def _on_follow(self) -> None:
        self.close()
        self.followed.emit()

    def _field(self, name: str, words: str) -> QLineEdit:
        field = QLineEdit()
        field.setObjectName(name)
        field.setAccessibleName(words)
        field.textChanged.connect(self._on_typed)
        field.returnPressed.connect(self._on_do)
        return field

    def _lay_out(self, step: int) -> None:
        column = QVBoxLayout(self._form)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(step)
        for field in (self.address, self.key, self.name):
            title = label("small", field.accessibleName())
            title.setBuddy(field)
            column.addWidget(title)
            column.addWidget(field)
            column.addSpacing(step * 2)
        column.addWidget(self._fault)
        self.body.addWidget(self._form)
        self.body.addWidget(self._said)
        self.body.addStretch(1)
        for button in (self._close, self._do, self._follow):
            self.add_button(button)
