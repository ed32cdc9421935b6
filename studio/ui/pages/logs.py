"""The log page: search, filter, follow, pause, copy; tracebacks folded to their root cause."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from studio.domain.metrics import LogLine
from studio.ui.language import t
from studio.ui.theme import Look
from studio.ui.viewmodels.logs import Gravity, count_text
from studio.ui.viewmodels.words import (
    COPY_LINES,
    COPY_LINES_TOOLTIP,
    ERRORS_ONLY,
    ERRORS_ONLY_TOOLTIP,
    FOLLOW,
    FOLLOW_TOOLTIP,
    NEXT_MATCH,
    ONLY_MATCHES,
    ONLY_MATCHES_TOOLTIP,
    PAUSE,
    PAUSE_TOOLTIP,
    PREVIOUS_MATCH,
    REPORT,
    REPORT_TOOLTIP,
    SEARCH,
    WARNINGS_ONLY,
    WHOLE,
    WHOLE_TOOLTIP,
)
from studio.ui.widgets.buttons import Button, IconButton
from studio.ui.widgets.cards import Card
from studio.ui.widgets.log_feed import LogFeed
from studio.ui.widgets.log_lines import CAPACITY
from studio.ui.widgets.log_view import LogView
from studio.ui.widgets.text import label, show_text


class LogsPage(QWidget):
    """What the engine and the service say. Signal: `report_asked`."""

    report_asked = Signal()

    def __init__(self, look: Look) -> None:
        super().__init__()
        self.setObjectName("page")
        self._look = look
        self._raw: list[LogLine] = []
        """All lines as they came, for when tracebacks are to be shown whole."""
        self._waiting: list[LogLine] = []
        """What came while paused."""
        self._waiting_dropped = 0
        self._is_read = True
        self._wanted_at: float | None = None
        """Which moment to bring to the top when all lines are there."""
        self.view = LogView(look, "log")
        self._feed = LogFeed(self.view)
        self._feed.caught_up.connect(self._on_caught_up)
        self.field = QLineEdit()
        self.field.setObjectName("log-search")
        self.field.setPlaceholderText(t(SEARCH))
        self.field.setAccessibleName(t(SEARCH))
        self.field.setClearButtonEnabled(False)
        self.field.textChanged.connect(self.view.search)
        self.field.installEventFilter(self)
        self._make_buttons(look)
        self._count = label("small")
        self._count.setObjectName("log-count")
        self.view.counted.connect(self._on_counted)
        self._lay_out()
        self._on_counted()

    def replace_lines(self, lines: Sequence[LogLine]) -> None:
        """Show other lines instead of all that were there."""
        self._waiting, self._waiting_dropped = [], 0
        self._raw = list(lines)
        self._wanted_at = None
        self._show_again()

    def append_lines(self, lines: Sequence[LogLine], dropped: int) -> None:
        """Show more lines, or let them wait while paused."""
        if not self._pause.isChecked():
            self._take(lines, dropped)
            return
        self._waiting += lines
        self._waiting_dropped += dropped
        if len(self._waiting) > 2 * CAPACITY:
            self._waiting_dropped += len(self._waiting) - CAPACITY
            del self._waiting[:-CAPACITY]
        self._on_counted()

    def go_to(self, at: float) -> None:
        """Bring the first line that is not older than a moment to the top, once it is there."""
        if self._feed.is_busy:
            self._wanted_at = at
        else:
            self.view.go_to(at)

    def show_state(self, empty: str, *, is_read: bool) -> None:
        """Say why no line is there; how many there are is claimed only of what was read."""
        self.view.show_empty(empty)
        if is_read is not self._is_read:
            self._is_read = is_read
            self._on_counted()

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

    def _make_buttons(self, look: Look) -> None:
        self._previous = IconButton(look, "log-previous", "up", t(PREVIOUS_MATCH))
        self._next = IconButton(look, "log-next", "down", t(NEXT_MATCH))
        self._previous.clicked.connect(self._on_previous)
        self._next.clicked.connect(self._on_next)
        self._only = self._toggle("log-only", t(ONLY_MATCHES), t(ONLY_MATCHES_TOOLTIP))
        self._grave = self._toggle("log-grave", t(WARNINGS_ONLY), "", icon="warning")
        self._errors = self._toggle("log-errors", t(ERRORS_ONLY), t(ERRORS_ONLY_TOOLTIP))
        self._whole = self._toggle("log-whole", t(WHOLE), t(WHOLE_TOOLTIP))
        self._pause = self._toggle("log-pause", t(PAUSE), t(PAUSE_TOOLTIP))
        self._only.toggled.connect(self._on_filter)
        self._grave.toggled.connect(self._on_grave)
        self._errors.toggled.connect(self._on_errors)
        self._whole.toggled.connect(self._show_again)
        self._pause.toggled.connect(self._on_pause)
        self._follow = self._toggle("log-follow", t(FOLLOW), t(FOLLOW_TOOLTIP), icon="follow")
        self._follow.setChecked(True)
        self._follow.clicked.connect(self.view.set_follow)
        self.view.follow_changed.connect(self._follow.setChecked)
        self._copy = Button(look, "log-copy", t(COPY_LINES), icon="copy")
        self._copy.setToolTip(t(COPY_LINES_TOOLTIP))
        self._copy.clicked.connect(self.view.copy)
        self._report = Button(look, "log-report", t(REPORT))
        self._report.setToolTip(t(REPORT_TOOLTIP))
        self._report.clicked.connect(self.report_asked)

    def _toggle(self, name: str, words: str, tooltip: str, icon: str | None = None) -> Button:
        made = Button(self._look, name, words, icon=icon)
        made.setCheckable(True)
        made.setToolTip(tooltip)
        return made

    def _take(self, lines: Sequence[LogLine], dropped: int) -> None:
        self._raw += lines
        if len(self._raw) > 2 * CAPACITY:
            del self._raw[:-CAPACITY]
        self._feed.add(lines, dropped)

    def _show_again(self) -> None:
        """Show all lines anew, folded or whole."""
        self._feed.replace(tuple(self._raw), whole=self._whole.isChecked())

    def _on_caught_up(self) -> None:
        at, self._wanted_at = self._wanted_at, None
        if at is not None:
            self.view.go_to(at)

    def _on_pause(self, is_paused: bool) -> None:
        self._feed.hold(is_held=is_paused)
        if is_paused:
            self.view.set_follow(False)
            return
        lines, dropped = self._waiting, self._waiting_dropped
        self._waiting, self._waiting_dropped = [], 0
        self._take(lines, dropped)
        self.view.set_follow(True)

    def _on_grave(self, is_on: bool) -> None:
        if is_on:
            self._errors.setChecked(False)
        self._on_filter()

    def _on_errors(self, is_on: bool) -> None:
        if is_on:
            self._grave.setChecked(False)
        self._on_filter()

    def _on_filter(self) -> None:
        gravity = Gravity.ALL
        if self._errors.isChecked():
            gravity = Gravity.ERRORS
        elif self._grave.isChecked():
            gravity = Gravity.WARNINGS
        self.view.filter(gravity, only_matches=self._only.isChecked())

    def _on_previous(self) -> None:
        self.view.step(-1)

    def _on_next(self) -> None:
        self.view.step(1)

    def _on_counted(self) -> None:
        lines = self.view.lines
        searching = bool(lines.query)
        matches = len(lines.matches) if searching else None
        words = count_text(
            len(lines.shown),
            lines.dropped,
            matches,
            self.view.current_match,
            len(self._waiting) + self._waiting_dropped,
        )
        show_text(self._count, words if self._is_read or lines.count else "")
        self._previous.setEnabled(bool(matches))
        self._next.setEnabled(bool(matches))

    def _lay_out(self) -> None:
        margin, gap = self._look.space("page_margin"), self._look.space("card_gap")
        tools, more = QHBoxLayout(), QHBoxLayout()
        for row in (tools, more):
            row.setSpacing(self._look.space("step") * 2)
        tools.addWidget(self.field, 1)
        for button in (self._previous, self._next, self._only, self._grave, self._errors):
            tools.addWidget(button)
        for button in (self._whole, self._pause, self._follow, self._copy, self._report):
            more.addWidget(button)
        card = Card(self._look, "log-card")
        card.column.setContentsMargins(1, 1, 1, 1)
        card.column.addWidget(self.view)
        column = QVBoxLayout(self)
        column.setContentsMargins(margin, gap, margin, margin - gap)
        column.setSpacing(gap)
        column.addLayout(tools)
        column.addWidget(card, 1)
        more.insertWidget(0, self._count, 1)
        column.addLayout(more)


_PRESS = QEvent.Type.KeyPress
