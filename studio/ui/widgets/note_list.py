"""Sentences one below the other; of many only the first ones, and a button for the rest."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QVBoxLayout, QWidget

from studio.ui.language import t
from studio.ui.theme import Look
from studio.ui.viewmodels.words import plural
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.text import label, show_text

_FIRST = 3
"""A plan says most things once for each card: eight cards filled the page with two sentences."""


class NoteList(QWidget):
    """Keeps what a person unfolded while the sentences stay the same."""

    def __init__(self, look: Look, name: str, *, bullet: str = "") -> None:
        super().__init__()
        self._bullet = bullet
        self._notes: tuple[str, ...] = ()
        self._words = label("body", wrap=True)
        self._words.setObjectName(name)
        self._more = Button(look, f"{name}-more", kind="plain")
        self._more.setCheckable(True)
        self._more.toggled.connect(self._show)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(look.space("step"))
        column.addWidget(self._words)
        column.addWidget(self._more, 0, Qt.AlignmentFlag.AlignLeft)
        self.hide()

    def show_notes(self, notes: tuple[str, ...]) -> None:
        """Show sentences; none hide all of it."""
        if notes != self._notes:
            self._notes = notes
            self._more.setChecked(False)
        self._show()
        self.setVisible(bool(notes))

    def _show(self) -> None:
        rest = len(self._notes) - _FIRST
        is_long = rest > 1
        is_folded = is_long and not self._more.isChecked()
        shown = self._notes[:_FIRST] if is_folded else self._notes
        show_text(self._words, "\n".join(f"{self._bullet}{one}" for one in shown))
        self._more.show_words(plural(rest, "more", "more") if is_folded else t("Fewer"))
        self._more.setVisible(is_long)
