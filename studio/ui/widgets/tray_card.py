"""The card that says once where a closed window goes."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from studio.ui.language import t
from studio.ui.theme import Look
from studio.ui.widgets.calm import CalmCard

_TRAY, _CLOSE = "tray", "close"


class TrayCard(QWidget):
    """Signal: `answered` (whether closing shall go into the tray)."""

    answered = Signal(bool)

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._card = CalmCard(
            look,
            "tray-card",
            t("Closed, this window can stay in the tray"),
            t(
                "Its sign there shows pool and state, and tells you when something fails. What is "
                "served goes on either way; the settings change this."
            ),
            ((_TRAY, t("Into the tray")), (_CLOSE, t("Close it"))),
        )
        self._card.chosen.connect(self._on_chosen)
        margin = look.space("page_margin")
        column = QVBoxLayout(self)
        column.setContentsMargins(margin, look.space("card_gap"), margin, 0)
        column.addWidget(self._card)

    def begin(self) -> None:
        """Come into view."""
        self.show()
        self._card.begin()

    def _on_chosen(self, value: str) -> None:
        self.hide()
        self.answered.emit(value == _TRAY)
