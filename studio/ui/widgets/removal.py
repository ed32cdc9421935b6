"""What would be removed, before it is: the careful answer stands first and has the focus."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout

from studio.ui.language import t
from studio.ui.theme import Look
from studio.ui.viewmodels.words import RemovalView
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.cards import Card
from studio.ui.widgets.text import label, selectable, show_text


class RemovalCard(Card):
    """Asks in place whether to remove. Signals: `removed`, `kept`."""

    removed = Signal()
    kept = Signal()

    def __init__(self, look: Look, name: str, keep: str, *, role: str = "body") -> None:
        """`keep` are the words of the careful answer; its parts are called after `name`."""
        super().__init__(look, f"{name}-question", kind="question")
        self._title = label("lead", wrap=True)
        self._lines = selectable(role, t("What would be removed"))
        self._lines.setObjectName(f"{name}-lines")
        self._lines.setWordWrap(True)
        self._yes = Button(look, f"{name}-yes", kind="harm")
        self._yes.clicked.connect(self.removed)
        self._no = Button(look, f"{name}-no", keep)
        self._no.clicked.connect(self.kept)
        row = QHBoxLayout()
        row.setSpacing(look.space("step") * 2)
        row.addWidget(self._no)
        row.addWidget(self._yes)
        row.addStretch(1)
        self.column.addWidget(self._title)
        self.column.addWidget(self._lines)
        self.column.addLayout(row)
        self.hide()

    def show_view(self, view: RemovalView | None) -> None:
        """Show `view`, or nothing."""
        was_hidden = self.isHidden()
        self.setVisible(view is not None)
        if view is None:
            return
        show_text(self._title, view.title)
        show_text(self._lines, "\n".join(view.lines))
        self._yes.show_view(view.button)
        if was_hidden:
            self._no.setFocus()
