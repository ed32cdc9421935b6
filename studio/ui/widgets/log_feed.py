"""Brings log lines into a view: tracebacks folded, and a flood in pieces with pauses between.

Twenty thousand lines of tracebacks take 75 ms to fold (measured); whoever presses Stop meanwhile is
heard between two pieces.
"""

from collections import deque
from collections.abc import Sequence

from PySide6.QtCore import QObject, QTimer, Signal

from studio.domain.metrics import LogLine
from studio.domain.tracebacks import Folder
from studio.ui.widgets.log_view import LogView

PIECE_LINES = 2_000
"""At once; a page of a file and all that comes in an ordinary second are no more than that."""
FOLD_MS = 500
_PATIENCE = 2
"""A traceback that has not grown for so many of these turns is shown as far as it came."""


class LogFeed(QObject):
    """Signal: `caught_up` when all that was given is in the view."""

    caught_up = Signal()

    def __init__(self, view: LogView) -> None:
        super().__init__(view)
        self._view = view
        self._is_whole = False
        self._is_held = False
        self._folder = Folder(patience=_PATIENCE)
        self._todo: deque[tuple[Sequence[LogLine], int]] = deque()
        self._next = QTimer(self)
        self._next.setSingleShot(True)
        self._next.timeout.connect(self._show_next)
        self._fold_timer = QTimer(self)
        self._fold_timer.setInterval(FOLD_MS)
        self._fold_timer.timeout.connect(self._on_fold_turn)

    @property
    def is_busy(self) -> bool:
        """Tell whether lines wait for their turn."""
        return bool(self._todo)

    def replace(self, lines: Sequence[LogLine], *, whole: bool) -> None:
        """Show other lines instead of all that were there, from now on folded or `whole`."""
        self._todo.clear()
        self._next.stop()
        self._is_whole = whole
        self._folder = Folder(patience=_PATIENCE)
        self._view.replace_lines(())
        self.add(lines, 0)

    def add(self, lines: Sequence[LogLine], dropped: int) -> None:
        """Show more lines; what is no flood is in the view when this returns."""
        was_busy = self.is_busy
        self._folder.grow_older()
        for start in range(0, max(1, len(lines)), PIECE_LINES):
            self._todo.append((lines[start : start + PIECE_LINES], dropped if start == 0 else 0))
        if not was_busy:
            self._show_next()

    def hold(self, *, is_held: bool) -> None:
        """Let nothing come of itself, or go on."""
        self._is_held = is_held
        if is_held:
            self._next.stop()
        elif self.is_busy:
            self._next.start(0)
        self._watch_folder()

    def _show_next(self) -> None:
        lines, dropped = self._todo.popleft()
        if not self._is_whole:
            lines = self._folder.folded(lines)
            if not self._todo:
                lines += self._folder.given_up()
        self._view.append_lines(lines, dropped)
        if self._todo:
            self._next.start(0)
            return
        self._watch_folder()
        self.caught_up.emit()

    def _watch_folder(self) -> None:
        if self._is_held or self._folder.is_idle:
            self._fold_timer.stop()
        elif not self._fold_timer.isActive():
            self._fold_timer.start()

    def _on_fold_turn(self) -> None:
        if self.is_busy:
            return
        self._folder.grow_older()
        lines = self._folder.given_up()
        if lines:
            self._view.append_lines(lines)
        self._watch_folder()
