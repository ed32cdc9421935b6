"""A small panel that streams one answer, with the figures that this window saw; no history."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QPlainTextEdit

from studio.ui.language import t
from studio.ui.theme import Look
from studio.ui.viewmodels.connect import TryView
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.cards import Card
from studio.ui.widgets.text import Elided

_MOST = 2_000
_HEIGHT = 112


class TryPanel(Card):
    """Signals: `asked` (prompt), `stopped`."""

    asked = Signal(str)
    stopped = Signal()

    def __init__(self, look: Look) -> None:
        super().__init__(look, "try", t("Try it"))
        self._shown = ""
        self.field = QLineEdit(t("Tell in three sentences what a weir does in a river."))
        self.field.setObjectName("try-prompt")
        self.field.setAccessibleName(t("What to ask"))
        self.field.setMaxLength(_MOST)
        self.field.returnPressed.connect(self._on_ask)
        self._ask = Button(look, "try-ask", kind="primary", icon="start")
        self._ask.clicked.connect(self._on_ask)
        self._stop = Button(look, "try-stop", icon="stop")
        self._stop.clicked.connect(self.stopped)
        self.answer = QPlainTextEdit()
        self.answer.setObjectName("try-answer")
        self.answer.setAccessibleName(t("The answer"))
        self.answer.setReadOnly(True)
        self.answer.setTabChangesFocus(True)
        self.answer.setFixedHeight(_HEIGHT)
        self._seen = Elided("small")
        self._seen.setObjectName("try-seen")
        row = QHBoxLayout()
        row.setSpacing(look.space("step") * 2)
        row.addWidget(self.field, 1)
        row.addWidget(self._stop)
        row.addWidget(self._ask)
        self.column.addLayout(row)
        self.column.addWidget(self.answer)
        self.column.addWidget(self._seen)

    def show_view(self, view: TryView) -> None:
        """Show `view`; what only grew is appended, so that a long answer costs no more."""
        if view.answer.startswith(self._shown) and self._shown and not view.is_quiet:
            cursor = QTextCursor(self.answer.document())
            cursor.movePosition(QTextCursor.MoveOperation.End)
            cursor.insertText(view.answer[len(self._shown) :])
            self.answer.ensureCursorVisible()
        elif view.answer != self.answer.toPlainText():
            self.answer.setPlainText(view.answer)
        self._shown = "" if view.is_quiet else view.answer
        if self.answer.isEnabled() is view.is_quiet:
            self.answer.setEnabled(not view.is_quiet)
        self._seen.show_text(view.seen, view.tooltip)
        self._ask.show_view(view.ask)
        self._stop.show_view(view.stop)

    def begin(self) -> None:
        """Put the caret into the prompt."""
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.field.selectAll()

    def _on_ask(self) -> None:
        if self._ask.isEnabled() and self.field.text().strip():
            self.asked.emit(self.field.text().strip())
