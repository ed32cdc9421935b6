"""A few choices side by side of which one holds: what tabs and radio buttons are for elsewhere."""

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QButtonGroup, QFrame, QHBoxLayout, QPushButton

_STEPS = {
    Qt.Key.Key_Left: -1,
    Qt.Key.Key_Up: -1,
    Qt.Key.Key_Right: 1,
    Qt.Key.Key_Down: 1,
}


class Segments(QFrame):
    """Signal: `chosen` (the value) when a person chose another one; never from `show_chosen`."""

    chosen = Signal(str)

    def __init__(self, name: str, words: str, choices: Sequence[tuple[str, str]]) -> None:
        """Make one button for each `(value, text)`; `words` is what screen readers say."""
        super().__init__()
        self.setObjectName("segments")
        self.setAccessibleName(words)
        self._group = QButtonGroup(self)
        self._group.setExclusive(True)
        self._buttons: dict[str, QPushButton] = {}
        row = QHBoxLayout(self)
        row.setContentsMargins(2, 2, 2, 2)
        row.setSpacing(2)
        for value, text in choices:
            row.addWidget(self._made(f"{name}-{value}", value, text))
        self._group.idToggled.connect(self._on_toggled)

    @property
    def value(self) -> str | None:
        """Return what is chosen; None before the first choice."""
        found = (value for value, button in self._buttons.items() if button.isChecked())
        return next(found, None)

    def button(self, value: str) -> QPushButton:
        """Return the button of a value, for its tooltip or to disable it."""
        return self._buttons[value]

    def show_chosen(self, value: str) -> None:
        """Mark `value` without telling anybody."""
        blocked = QSignalBlocker(self._group)
        self._buttons[value].setChecked(True)
        blocked.unblock()
        self._aim_focus()

    def show_none(self) -> None:
        """Mark nothing: what holds is none of the choices."""
        self._group.setExclusive(False)
        blocked = QSignalBlocker(self._group)
        for button in self._buttons.values():
            button.setChecked(False)
        blocked.unblock()
        self._group.setExclusive(True)
        self._aim_focus()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Step with the arrow keys; Home and End go to the ends."""
        usable = [value for value, button in self._buttons.items() if button.isEnabled()]
        key = Qt.Key(event.key())
        if not usable:
            return
        if key in _STEPS:
            at = usable.index(self.value) if self.value in usable else -1
            self._choose(usable[(at + _STEPS[key]) % len(usable)])
        elif key in (Qt.Key.Key_Home, Qt.Key.Key_End):
            self._choose(usable[0 if key == Qt.Key.Key_Home else -1])
        else:
            super().keyPressEvent(event)

    def _choose(self, value: str) -> None:
        self._buttons[value].setChecked(True)
        self._buttons[value].setFocus(Qt.FocusReason.TabFocusReason)

    def _made(self, name: str, value: str, text: str) -> "QPushButton":
        button = _Segment(text)
        button.setObjectName(name)
        button.setAccessibleName(text)
        button.setAccessibleDescription(self.accessibleName())
        button.setProperty("kind", "segment")
        button.setCheckable(True)
        button.setCursor(Qt.CursorShape.PointingHandCursor)
        self._group.addButton(button, len(self._buttons))
        self._buttons[value] = button
        return button

    def _on_toggled(self, number: int, checked: bool) -> None:
        if checked:
            self._aim_focus()
            self.chosen.emit(list(self._buttons)[number])

    def _aim_focus(self) -> None:
        """Let the tabulator stop once, at what is chosen, else at the first."""
        chosen = self.value or next(iter(self._buttons), None)
        for value, button in self._buttons.items():
            stop = value == chosen
            button.setFocusPolicy(Qt.FocusPolicy.StrongFocus if stop else Qt.FocusPolicy.ClickFocus)


class _Segment(QPushButton):
    """Leaves the arrow keys to the row, which knows which ones may be chosen."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Pass everything but the space bar on."""
        if event.key() in (Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter):
            super().keyPressEvent(event)
        else:
            event.ignore()
