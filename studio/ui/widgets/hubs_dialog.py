"""The dialog of hubs' tokens: which one a hub gets, a new one, none."""

from collections.abc import Mapping

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QWidget

from studio.domain.downloads import HubName, LoginInfo
from studio.ui.language import t
from studio.ui.theme import Look
from studio.ui.viewmodels.downloads import HUBS, login_view
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.cards import Card
from studio.ui.widgets.dialog import Dialog
from studio.ui.widgets.text import label, show_text


class HubsDialog(Dialog):
    """Signals: `kept` (HubName, token), `forgotten` (HubName). A token is never shown again."""

    kept = Signal(object, str)
    forgotten = Signal(object)

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        about = t(
            "Gated models need a token of yours. It is kept on the service's machine and goes to "
            "its hub only."
        )
        super().__init__(look, "hubs", t("Access to hubs"), about=about, parent=parent)
        self._cards = {hub: _HubCard(look, hub) for hub in HubName}
        for card in self._cards.values():
            card.kept.connect(self.kept)
            card.forgotten.connect(self.forgotten)
            self.body.addWidget(card)
        self.body.addStretch(1)
        close = Button(look, "hubs-close", t("Close"))
        close.setAutoDefault(False)
        close.clicked.connect(self.close)
        self.add_button(close)

    def show_logins(self, logins: Mapping[HubName, LoginInfo], problem: str) -> None:
        """Show which token each hub gets, and what was refused."""
        for hub, card in self._cards.items():
            card.show_login(logins.get(hub))
        self.show_note(problem)


class _HubCard(Card):
    kept = Signal(object, str)
    forgotten = Signal(object)

    def __init__(self, look: Look, hub: HubName) -> None:
        super().__init__(look, f"hub-{hub.value}", t(HUBS[hub]))
        self._hub = hub
        self._text = label("quiet", wrap=True)
        self._text.setObjectName(f"hub-{hub.value}-text")
        self._token = QLineEdit()
        self._token.setObjectName(f"hub-{hub.value}-token")
        self._token.setEchoMode(QLineEdit.EchoMode.Password)
        self._token.setPlaceholderText(t("New token"))
        self._token.setAccessibleName(f"{self.heading.text()}: {self._token.placeholderText()}")
        self._token.textChanged.connect(self._on_changed)
        self._token.returnPressed.connect(self._on_keep)
        self._keep = Button(look, f"hub-{hub.value}-keep", t("Save"))
        self._keep.setAutoDefault(False)
        self._keep.setEnabled(False)
        self._keep.clicked.connect(self._on_keep)
        self._forget = Button(look, f"hub-{hub.value}-forget", t("Forget the token"), kind="harm")
        self._forget.setAutoDefault(False)
        self._forget.clicked.connect(self._on_forget)
        row = QHBoxLayout()
        row.setSpacing(look.space("step") * 2)
        row.addWidget(self._token, 1)
        row.addWidget(self._keep)
        row.addWidget(self._forget)
        self.column.addWidget(self._text)
        self.column.addLayout(row)

    def show_login(self, info: LoginInfo | None) -> None:
        """Show which token this hub gets."""
        view = login_view(info)
        show_text(self._text, view.text)
        self._forget.setVisible(view.can_forget)

    def _on_changed(self) -> None:
        self._keep.setEnabled(bool(self._token.text().strip()))

    def _on_keep(self) -> None:
        if self._keep.isEnabled():
            self.kept.emit(self._hub, self._token.text().strip())
            self._token.clear()

    def _on_forget(self) -> None:
        self.forgotten.emit(self._hub)
