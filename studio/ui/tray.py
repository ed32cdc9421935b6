"""The sign in the tray: state at a glance, a few deeds, and notifications."""

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtWidgets import QMenu, QSystemTrayIcon

from studio.ui.theme import Look
from studio.ui.viewmodels.notes import Note
from studio.ui.viewmodels.tray import TraySign, TrayView
from studio.ui.viewmodels.words import ButtonView
from studio.ui.widgets.tray_sign import tray_icon

_SAID_MS = 10_000


class Tray(QObject):
    """Signals: `open_asked`, `start_asked`, `stop_asked`, `quit_asked`."""

    open_asked = Signal()
    start_asked = Signal()
    stop_asked = Signal()
    quit_asked = Signal()

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self._view: TrayView | None = None
        self._painted: TraySign | None = None
        self.menu = QMenu()
        look.dress(self.menu)
        self.menu.setObjectName("tray-menu")
        self.state = self._entry("tray-state")
        self.state.setEnabled(False)
        self.menu.addSeparator()
        self.open = self._entry("tray-open")
        self.start = self._entry("tray-start")
        self.stop = self._entry("tray-stop")
        self.copy = self._entry("tray-copy")
        self.menu.addSeparator()
        self.quit = self._entry("tray-quit")
        self.icon = QSystemTrayIcon()
        self.icon.setContextMenu(self.menu)
        self.icon.activated.connect(self._on_activated)
        self.icon.messageClicked.connect(self.open_asked)
        self.open.triggered.connect(self.open_asked)
        self.start.triggered.connect(self.start_asked)
        self.stop.triggered.connect(self.stop_asked)
        self.copy.triggered.connect(self._on_copy)
        self.quit.triggered.connect(self.quit_asked)
        look.changed.connect(self._on_look)

    @property
    def is_there(self) -> bool:
        """Tell whether the desktop shows it."""
        return self.icon.isVisible()

    def appear(self) -> bool:
        """Show it where the desktop has a tray; tell whether it does."""
        if not QSystemTrayIcon.isSystemTrayAvailable():
            return False
        if not self.icon.isVisible() and self._view is not None:
            self.icon.show()
        return self.icon.isVisible()

    def show_view(self, view: TrayView) -> None:
        """Show `view`; what is the same is not painted again."""
        if view == self._view:
            return
        self._view = view
        if view.sign != self._painted:
            self._painted = view.sign
            self.icon.setIcon(tray_icon(self._look, view.sign))
        self.icon.setToolTip(view.tooltip)
        self.state.setText(_plain(view.state))
        self.open.setText(view.open)
        self.quit.setText(view.quit)
        _show(self.start, view.start)
        _show(self.stop, view.stop)
        _show(self.copy, view.copy)

    def say(self, note: Note) -> None:
        """Show a notification beside the tray, with the sign of now as its picture.

        On Linux that picture stands in the tray as well for as long: any other would hide the sign.
        """
        self.icon.showMessage(note.title, note.text, self.icon.icon(), _SAID_MS)

    def go(self) -> None:
        """Leave the tray."""
        self.icon.hide()

    def _entry(self, name: str) -> QAction:
        action = self.menu.addAction("")
        action.setObjectName(name)
        return action

    def _on_activated(self, reason: QSystemTrayIcon.ActivationReason) -> None:
        """Take any press but the one that opens the menu."""
        if reason is not QSystemTrayIcon.ActivationReason.Context:
            self.open_asked.emit()

    def _on_copy(self) -> None:
        if self._view is not None:
            QGuiApplication.clipboard().setText(self._view.address)

    def _on_look(self) -> None:
        if self._painted is not None:
            self.icon.setIcon(tray_icon(self._look, self._painted))


def _plain(words: str) -> str:
    """Return words whose `&` is seen: a preset may be called so, and menus make a key of it."""
    return words.replace("&", "&&")


def _show(action: QAction, view: ButtonView) -> None:
    action.setText(_plain(view.text))
    action.setVisible(view.visible)
    action.setEnabled(view.enabled)
