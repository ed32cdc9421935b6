"""How much may move: the person's choice, else the system's wish.

Nothing in the window is animated for its own sake. Reduced means that charts, gauge and figures are
drawn every few seconds instead of every second, and that nothing blinks, fades or slides.
"""

import ctypes
import enum
import sys
from collections.abc import Callable, Mapping

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication

_SERVICE = "org.freedesktop.portal.Desktop"
_PATH = "/org/freedesktop/portal/desktop"
_PATIENCE_MS = 5_000
_INTERFACE = "org.freedesktop.portal.Settings"
_WISHES: Mapping[tuple[str, str], Callable[[str], bool]] = {
    ("org.freedesktop.appearance", "reduced-motion"): lambda text: text == "1",
    ("org.gnome.desktop.interface", "enable-animations"): lambda text: text.lower() == "false",
    ("org.kde.kdeglobals.KDE", "AnimationDurationFactor"): lambda text: _is_zero(text),
}
"""Where desktops say it (the Settings portal of xdg-desktop-portal), and which value means less."""
_EFFECTS = (
    Qt.UIEffect.UI_AnimateMenu,
    Qt.UIEffect.UI_FadeMenu,
    Qt.UIEffect.UI_AnimateCombo,
    Qt.UIEffect.UI_AnimateTooltip,
    Qt.UIEffect.UI_FadeTooltip,
    Qt.UIEffect.UI_AnimateToolBox,
)


class MotionChoice(enum.StrEnum):
    """What the person chose."""

    SYSTEM = "system"
    FULL = "full"
    REDUCED = "reduced"


class Motion(QObject):
    """Signal: `changed` when more or less may move than before."""

    changed = Signal()

    def __init__(self, choice: MotionChoice) -> None:
        super().__init__()
        self.choice = choice
        self.system_is_reduced = False
        hints = QGuiApplication.styleHints()
        self._blink_ms = hints.cursorFlashTime()
        self._effects = [one for one in _EFFECTS if QApplication.isEffectEnabled(one)]
        self._watchers: list[QObject] = []
        self._apply()

    @property
    def is_reduced(self) -> bool:
        """Tell whether as little as possible is to move."""
        if self.choice is MotionChoice.SYSTEM:
            return self.system_is_reduced
        return self.choice is MotionChoice.REDUCED

    def choose(self, choice: MotionChoice) -> None:
        """Hold to another choice from now on."""
        self._become(choice, self.system_is_reduced)

    def hear(self, key: tuple[str, str], text: str) -> None:
        """Take up what the system said of one of its settings."""
        wish = _WISHES.get(key)
        if wish is not None and wish(text):
            self._become(self.choice, True)

    def ask_system(self) -> None:
        """Ask the desktop, without waiting; one that does not answer wishes for nothing."""
        if sys.platform == "win32":
            self._become(self.choice, not _windows_animates())
            return
        from PySide6.QtDBus import QDBusConnection, QDBusMessage, QDBusPendingCallWatcher

        bus = QDBusConnection.sessionBus()
        if not bus.isConnected():
            return
        for key in _WISHES:
            call = QDBusMessage.createMethodCall(_SERVICE, _PATH, _INTERFACE, "ReadOne")
            call.setArguments(list(key))
            watcher = QDBusPendingCallWatcher(bus.asyncCall(call, _PATIENCE_MS), self)
            watcher.setProperty("key", list(key))
            watcher.finished.connect(self._on_answer)
            self._watchers.append(watcher)

    def _on_answer(self, watcher: QObject) -> None:
        from PySide6.QtDBus import QDBusMessage, QDBusPendingCallWatcher, QDBusVariant

        if not isinstance(watcher, QDBusPendingCallWatcher):
            return
        self._watchers.remove(watcher)
        reply = watcher.reply()
        namespace, name = watcher.property("key")
        if reply.type() is QDBusMessage.MessageType.ReplyMessage and reply.arguments():
            value = reply.arguments()[0]
            while isinstance(value, QDBusVariant):
                value = value.variant()
            self.hear((str(namespace), str(name)), str(value))
        watcher.deleteLater()

    def _become(self, choice: MotionChoice, system_is_reduced: bool) -> None:
        before = self.is_reduced
        self.choice, self.system_is_reduced = choice, system_is_reduced
        if self.is_reduced is not before:
            self._apply()
            self.changed.emit()

    def _apply(self) -> None:
        reduced = self.is_reduced
        QGuiApplication.styleHints().setCursorFlashTime(0 if reduced else self._blink_ms)
        for effect in self._effects:
            QApplication.setEffectEnabled(effect, not reduced)


def _windows_animates() -> bool:
    """Return whether "Animation effects" is on in Windows' settings; unknown counts as on."""
    if sys.platform == "win32":
        found = ctypes.c_int(1)  # SPI_GETCLIENTAREAANIMATION, winuser.h
        ctypes.windll.user32.SystemParametersInfoW(0x1042, 0, ctypes.byref(found), 0)
        return bool(found.value)
    return True


def _is_zero(text: str) -> bool:
    try:
        return float(text) == 0
    except ValueError:
        return False
