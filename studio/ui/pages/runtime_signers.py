"""Whose runtimes may be installed from files: the list, and a field for one more."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from studio.ui.language import t
from studio.ui.theme import Look
from studio.ui.viewmodels.signers import SignersView, SignerView
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.cards import Card
from studio.ui.widgets.text import Elided, label, selectable, show_text

_NAME_WIDTH = 200


class SignersCard(Card):
    """Signals: `trusted` (fingerprint, name), `forgotten` (fingerprint)."""

    trusted = Signal(str, str)
    forgotten = Signal(str)

    def __init__(self, look: Look) -> None:
        super().__init__(look, "signers", t("Trusted signers"))
        self._look = look
        self._views: tuple[SignerView, ...] = ()
        self._rows: list[QWidget] = []
        self._buttons: dict[Button, str] = {}
        self._about = label("quiet", wrap=True)
        self._about.setObjectName("signers-about")
        self.column.addWidget(self._about)
        self.fingerprint = _field("signer-fingerprint", t("Fingerprint of a signer"))
        self.name = _field("signer-name", t("Name, for you"))
        self.name.setFixedWidth(_NAME_WIDTH)
        self._add = Button(look, "signer-trust", t("Trust"))
        self._add.clicked.connect(self._on_trust)
        self.fingerprint.returnPressed.connect(self._on_trust)
        self.fingerprint.textChanged.connect(self._on_typed)
        line = QHBoxLayout()
        line.setSpacing(look.space("step") * 2)
        line.addWidget(self.fingerprint, 1)
        line.addWidget(self.name)
        line.addWidget(self._add)
        self.column.addLayout(line)
        self._can_act = False
        self.hide()

    def show_view(self, view: SignersView | None) -> None:
        """Show `view`; what is being typed stays."""
        self.setVisible(view is not None)
        if view is None:
            return
        self._can_act = view.can_act
        show_text(self._about, view.about)
        if view.rows != self._views:
            self._views = view.rows
            self._make_rows()
        for button in self._buttons:
            button.setEnabled(view.can_act)
        self._on_typed()

    def clear(self) -> None:
        """Empty the fields: the signer is trusted."""
        self.fingerprint.clear()
        self.name.clear()

    def _make_rows(self) -> None:
        for row in self._rows:
            self.column.removeWidget(row)
            row.hide()
            row.deleteLater()
        self._rows, self._buttons = [], {}
        for place, view in enumerate(self._views):
            row = self._row(view)
            self.column.insertWidget(2 + place, row)
            self._rows.append(row)

    def _row(self, view: SignerView) -> QWidget:
        row = QWidget()
        name = Elided("body")
        name.show_text(view.name)
        fingerprint = selectable("mono", t("Fingerprint of {name}").format(name=view.name))
        fingerprint.setText(view.fingerprint)  # whole: it is there to be compared
        line = QHBoxLayout()
        line.setSpacing(self._look.space("step") * 3)
        line.addWidget(name, 1)
        line.addWidget(label("quiet", view.since))
        said = QVBoxLayout(row)
        said.setContentsMargins(0, 0, 0, 0)
        said.setSpacing(0)
        said.addLayout(line)
        said.addWidget(fingerprint)
        button = Button(
            self._look, f"signer-forget-{view.fingerprint}", t("Trust no more"), kind="plain"
        )
        button.setAccessibleName(view.spoken)
        button.clicked.connect(self._on_forget)
        keeps = button.sizePolicy()
        keeps.setRetainSizeWhenHidden(True)
        button.setSizePolicy(keeps)
        button.setVisible(view.can_forget)
        line.addWidget(button)
        self._buttons[button] = view.fingerprint
        return row

    def _on_forget(self) -> None:
        found = next(print_ for button, print_ in self._buttons.items() if button is self.sender())
        self.forgotten.emit(found)

    def _on_trust(self) -> None:
        if self._add.isEnabled():
            self.trusted.emit(self.fingerprint.text().strip(), self.name.text().strip())

    def _on_typed(self) -> None:
        self._add.setEnabled(self._can_act and bool(self.fingerprint.text().strip()))


def _field(name: str, words: str) -> QLineEdit:
    field = QLineEdit()
    field.setObjectName(name)
    field.setPlaceholderText(words)
    field.setAccessibleName(words)
    return field
