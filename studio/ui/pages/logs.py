"""The log page: search, filter, follow, copy."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from studio.domain.metrics import LogLine
from studio.ui.theme import Look
from studio.ui.viewmodels.logs import count_text
from studio.ui.viewmodels.words import (
    COPY_LINES,
    COPY_LINES_TOOLTIP,
    FOLLOW,
    FOLLOW_TOOLTIP,
    NEXT_MATCH,
    PREVIOUS_MATCH,
    SEARCH,
    WARNINGS_ONLY,
)
from studio.ui.widgets.buttons import Button, IconButton
from studio.ui.widgets.cards import Card
from studio.ui.widgets.log_view import LogView
from studio.ui.widgets.text import label, show_text


class LogsPage(QWidget):
    """What the engine and the service say."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self.setObjectName("page")
        self._look = look
        self.view = LogView(look, "log")
        self.field = QLineEdit()
        self.field.setObjectName("log-search")
        self.field.setPlaceholderText(SEARCH)
        self.field.setAccessibleName(SEARCH)
        self.field.setClearButtonEnabled(False)
        self.field.textChanged.connect(self.view.search)
        self.field.installEventFilter(self)
        self._previous = IconButton(look, "log-previous", "up", PREVIOUS_MATCH)
        self._next = IconButton(look, "log-next", "down", NEXT_MATCH)
        self._previous.clicked.connect(self._on_previous)
        self._next.clicked.connect(self._on_next)
        self._grave = Button(look, "log-grave", WARNINGS_ONLY, icon="warning")
        self._grave.setCheckable(True)
        self._grave.toggled.connect(self.view.show_only_grave)
        self._follow = Button(look, "log-follow", FOLLOW, icon="follow")
        self._follow.setCheckable(True)
        self._follow.setChecked(True)
        self._follow.setToolTip(FOLLOW_TOOLTIP)
        self._follow.clicked.connect(self.view.set_follow)
        self.view.follow_changed.connect(self._follow.setChecked)
        self._copy = Button(look, "log-copy", COPY_LINES, icon="copy")
        self._copy.setToolTip(COPY_LINES_TOOLTIP)
        self._copy.clicked.connect(self.view.copy)
        self._count = label("small")
        self._count.setObjectName("log-count")
        self.view.counted.connect(self._on_counted)
        self._lay_out()
        self._on_counted()

    def replace_lines(self, lines: Sequence[LogLine]) -> None:
        """Show other lines instead of all that were there."""
        self.view.replace_lines(lines)

    def append_lines(self, lines: Sequence[LogLine], dropped: int) -> None:
        """Show more lines."""
        self.view.append_lines(lines, dropped)

    def begin_search(self) -> None:
        """Put the caret into the search field."""
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.field.selectAll()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Step through the matches with Enter, leave the search with Escape."""
        if watched is self.field and isinstance(event, QKeyEvent) and event.type() == _PRESS:
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                back = event.modifiers() & Qt.KeyboardModifier.ShiftModifier
                self.view.step(-1 if back else 1)
                return True
            if event.key() == Qt.Key.Key_Escape:
                self.field.clear()
                self.view.setFocus(Qt.FocusReason.OtherFocusReason)
                return True
        return super().eventFilter(watched, event)

    def _on_previous(self) -> None:
        self.view.step(-1)

    def _on_next(self) -> None:
        self.view.step(1)

    def _on_counted(self) -> None:
        lines = self.view.lines
        searching = bool(lines.query)
        matches = len(lines.matches) if searching else None
        show_text(
            self._count,
            count_text(len(lines.shown), lines.dropped, matches, self.view.current_match),
        )
        self._previous.setEnabled(bool(matches))
        self._next.setEnabled(bool(matches))

    def _lay_out(self) -> None:
        margin, gap = self._look.space("page_margin"), self._look.space("card_gap")
        tools = QHBoxLayout()
        tools.setSpacing(self._look.space("step") * 2)
        tools.addWidget(self.field, 1)
        for button in (self._previous, self._next, self._grave, self._follow, self._copy):
            tools.addWidget(button)
        card = Card(self._look, "log-card")
        card.column.setContentsMargins(1, 1, 1, 1)
        card.column.addWidget(self.view)
        column = QVBoxLayout(self)
        column.setContentsMargins(margin, margin, margin, margin - gap)
        column.setSpacing(gap)
        column.addLayout(tools)
        column.addWidget(card, 1)
        column.addWidget(self._count)


_PRESS = QEvent.Type.KeyPress
