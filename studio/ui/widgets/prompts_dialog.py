"""The prompts that were kept of one key."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from studio.domain.keys import PromptEntry
from studio.ui.language import t
from studio.ui.theme import Look
from studio.ui.viewmodels.keys import prompt_words
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.dialog import Dialog

_SIZE = (860, 560)


class PromptsDialog(Dialog):
    """Signal: `clear_asked`."""

    clear_asked = Signal()

    def __init__(self, look: Look, name: str, parent: QWidget | None = None) -> None:
        about = t("Requests as they came, without what looks like a secret; the newest last.")
        title = t("Prompts of “{name}”").format(name=name)
        super().__init__(look, "prompts-dialog", title, about=about, parent=parent)
        self.resize(*_SIZE)
        self._text = QPlainTextEdit()
        self._text.setObjectName("prompts-text")
        self._text.setAccessibleName(title)
        self._text.setReadOnly(True)
        self._text.setFont(look.font("small", mono=True))
        self._text.setPlainText(t("Reading…"))
        self.body.addWidget(self._text, 1)
        clear = Button(look, "prompts-clear", t("Delete them"), kind="harm")
        clear.clicked.connect(self.clear_asked)
        done = Button(look, "prompts-close", t("Close"))
        done.clicked.connect(self.close)
        self.add_button(clear)
        self.add_button(done)

    def show_entries(self, entries: tuple[PromptEntry, ...]) -> None:
        """Show what was kept."""
        self._text.setPlainText(prompt_words(entries))
