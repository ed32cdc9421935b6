"""Gives the keyboard's focus back to a button that only rested, and scrolls to where a person went.

Qt moves the focus on when what has it is disabled or hidden, and leaves it there: after “Verify”
had rested, Space would have pressed its neighbour. A person who moves it meanwhile is obeyed. Only
then the page scrolls, too: never because a button rested, and never below a pressed mouse.
"""

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QApplication, QWidget
from shiboken6 import isValid

from studio.ui.sight import bring_into_sight


class FocusKeeper(QObject):
    """Watches one window, from when it is made to when it goes."""

    def __init__(self, application: QApplication, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._owed: list[QWidget] = []
        """What lost the focus without a person's doing, the first one first."""
        self._lent: QWidget | None = None
        self._gives = False
        application.focusChanged.connect(self._on_moved)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Give the focus back when what lost it can take it again."""
        is_able = event.type() in (QEvent.Type.EnabledChange, QEvent.Type.Show)
        if is_able and isinstance(watched, QWidget):
            self._give_back(watched)
        return False

    def _on_moved(self, old: QWidget | None, now: QWidget | None) -> None:
        if old is None or self._gives or old.window() is not self._window:
            return
        if old.isEnabled() and old.isVisible():
            self._forget(0)  # a person moved it
            if now is not None and QApplication.mouseButtons() is Qt.MouseButton.NoButton:
                bring_into_sight(now)
        else:
            self._owed.append(old)
            self._lent = now
            old.installEventFilter(self)

    def _give_back(self, owed: QWidget) -> None:
        if owed not in self._owed or not (owed.isEnabled() and owed.isVisible()):
            return
        self._forget(self._owed.index(owed))
        lent = self._lent if self._lent is not None and isValid(self._lent) else None
        if focused(self._window) in (lent, None):
            self._lent = owed
            self._gives = True
            owed.setFocus(Qt.FocusReason.OtherFocusReason)
            self._gives = False

    def _forget(self, first: int) -> None:
        for one in self._owed[first:]:
            if isValid(one):
                one.removeEventFilter(self)
        del self._owed[first:]


def focused(window: QWidget) -> QWidget | None:
    """Return what has a window's focus."""
    return window.focusWidget()  # None, too, whatever Qt's own types say


def focused_name(window: QWidget) -> str:
    """Return the name of what has a window's focus; empty where nothing has it."""
    found = focused(window)
    return found.objectName() if found is not None else ""


def focus_named(window: QWidget, name: str) -> None:
    """Give the focus to what is called so, where it is there."""
    found = window.findChild(QWidget, name) if name else None
    if found is not None:
        found.setFocus(Qt.FocusReason.OtherFocusReason)
        bring_into_sight(found)
