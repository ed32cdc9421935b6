"""A small panel that streams one answer, with the figures that this window saw; no history."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFocusEvent, QTextCursor
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QPlainTextEdit

from studio.ui.language import t
from studio.ui.theme import Look
from studio.ui.viewmodels.connect import TryView
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.cards import Card
from studio.ui.widgets.text import Elided

_MOST = 2_000
_HEIGHT = 112


class _Prompt(QLineEdit):
    """Shows its beginning where there is little room, unless somebody writes in it."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.setMaxLength(_MOST)  # moves the caret to the end
        self.setCursorPosition(0)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Go back to the beginning: whoever only came by has marked all, up to the end."""
        super().focusOutEvent(event)
        self.setCursorPosition(0)


class TryPanel(Card):
    """Signals: `asked` (prompt), `stopped`."""

    asked = Signal(str)
    stopped = Signal()

    def __init__(self, look: Look, name: str = "try") -> None:
        super().__init__(look, name, t("Try it"))
        self._shown = ""
        self.field = _Prompt(t("Tell in three sentences what a weir does in a river."))
        self.field.setObjectName(f"{name}-prompt")
        self.field.setAccessibleName(t("What to ask"))
        self.field.returnPressed.connect(self._on_ask)
        self._ask = Button(look, f"{name}-ask", kind="primary", icon="start")
        self._ask.clicked.connect(self._on_ask)
        self._stop = Button(look, f"{name}-stop", icon="stop")
        self._stop.clicked.connect(self.stopped)
        self.answer = QPlainTextEdit()
        self.answer.setObjectName(f"{name}-answer")
        self.answer.setAccessibleName(t("The answer"))
        self.answer.setReadOnly(True)
        self.answer.setTabChangesFocus(True)
        self._seen = Elided("small")
        self._room = self._seen.sizeHint().height() + self.column.spacing()
        self._fit(is_told=False)
        self._seen.setObjectName(f"{name}-seen")
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
        self._fit(is_told=bool(view.seen))
        self._ask.show_view(view.ask)
        self._stop.show_view(view.stop)

    def _fit(self, *, is_told: bool) -> None:
        """Give the answer the room of the line below it while that one says nothing."""
        self._seen.setVisible(is_told)
        self.answer.setFixedHeight(_HEIGHT if is_told else _HEIGHT + self._room)

    def begin(self) -> None:
        """Put the caret into the prompt."""
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.field.selectAll()

    def _on_ask(self) -> None:
        if self._ask.isEnabled() and self.field.text().strip():
            self.asked.emit(self.field.text().strip())
