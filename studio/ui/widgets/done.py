"""A card that says what was done, till it is closed."""

from PySide6.QtWidgets import QHBoxLayout

from studio.ui.language import t
from studio.ui.theme import Look
from studio.ui.viewmodels.runtimes_done import DoneView
from studio.ui.viewmodels.words import DISMISS
from studio.ui.widgets.buttons import IconButton
from studio.ui.widgets.cards import Card
from studio.ui.widgets.sign import Sign
from studio.ui.widgets.text import selectable, show_text


class DoneCard(Card):
    """What was done last; `close_button` closes it."""

    def __init__(self, look: Look, name: str) -> None:
        super().__init__(look, name)
        self._sign = Sign(look)
        self._text = selectable("body", t("What was done"))
        self._text.setObjectName(f"{name}-text")
        self._text.setWordWrap(True)
        self.close_button = IconButton(look, f"{name}-close", "close", t(DISMISS))
        self._lines = selectable("evidence", t("In detail"))
        self._lines.setWordWrap(True)
        row = QHBoxLayout()
        row.setSpacing(look.space("step") * 2)
        row.addWidget(self._sign)
        row.addWidget(self._text, 1)
        row.addWidget(self.close_button)
        self.column.addLayout(row)
        self.column.addWidget(self._lines)
        self.hide()

    def show_view(self, view: DoneView | None) -> None:
        """Show `view`, or nothing."""
        self.setVisible(view is not None)
        if view is None:
            return
        self._sign.show_sign(view.shape, view.role)
        show_text(self._text, view.text)
        show_text(self._lines, "\n".join(view.lines))
        self._lines.setVisible(bool(view.lines))
        self.setAccessibleName(view.text)
