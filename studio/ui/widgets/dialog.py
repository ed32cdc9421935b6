"""The frame of a dialog: title, words below it, whatever it is about, buttons at the foot."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QAbstractButton, QDialog, QHBoxLayout, QLayout, QVBoxLayout, QWidget

from studio.ui.theme import Look
from studio.ui.widgets.text import label, show_text

_WIDTH = 520


class Dialog(QDialog):
    """Opened with `open()`, never with `exec()`: the window goes on behind it. Escape closes it."""

    def __init__(
        self, look: Look, name: str, title: str, *, about: str = "", parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setWindowTitle(title)
        self.setAccessibleName(title)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setMinimumWidth(_WIDTH)
        margin, gap = look.space("page_margin"), look.space("card_gap")
        self._about = label("quiet", wrap=True)
        self._about.setObjectName(f"{name}-about")
        self._note = label("small", wrap=True)
        self._note.setObjectName(f"{name}-note")
        self._buttons = QHBoxLayout()
        self._buttons.setSpacing(gap)
        self._buttons.addWidget(self._note, 1)
        self.body = QVBoxLayout()
        """What the dialog is about goes in here."""
        self.body.setSpacing(gap)
        self._tight = look.space("step")
        column = QVBoxLayout(self)
        column.setContentsMargins(margin, margin, margin, margin)
        column.setSpacing(gap)
        column.addWidget(label("title", title, wrap=True))
        column.addWidget(self._about)
        column.addLayout(self.body, 1)
        column.addSpacing(look.space("step"))
        column.addLayout(self._buttons)
        self.show_about(about)

    def showEvent(self, event: QShowEvent) -> None:
        """Have the height of the words also where a long name wraps: Qt's own is too low there."""
        super().showEvent(event)
        column = self.layout()
        if column is not None:
            needed = column.totalHeightForWidth(self.width())
            self.resize(self.width(), max(needed, self.height()))

    def show_about(self, text: str) -> None:
        """Say below the title what this is about."""
        show_text(self._about, text)
        self._about.setVisible(bool(text))

    def show_note(self, text: str) -> None:
        """Say beside the buttons how it stands."""
        show_text(self._note, text)

    def add_field(self, words: str, field: QWidget | QLayout) -> None:
        """Add what is asked for below its name, close enough to belong to it."""
        pair = QVBoxLayout()
        pair.setSpacing(self._tight)
        pair.addWidget(label("small", words))
        if isinstance(field, QLayout):
            pair.addLayout(field)
        else:
            pair.addWidget(field)
        self.body.addLayout(pair)

    def add_button(self, button: QAbstractButton) -> None:
        """Add a button at the right end of the foot; the one that does it comes last."""
        self._buttons.addWidget(button)
