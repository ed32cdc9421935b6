"""What outlives a window: tray, notifications, closing, another language.

The window is made anew in another language, on the same session; it knows nothing of this.
"""

from pathlib import Path

from PySide6.QtCore import QLocale, QObject, QTimer
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import QApplication

from studio.domain.events import Event
from studio.ui.accessible import announce
from studio.ui.between import lasting
from studio.ui.bridge import Bridge
from studio.ui.daily_look import DailyLook
from studio.ui.focus import FocusKeeper, focus_named, focused_name
from studio.ui.language import speak, spoken, suited
from studio.ui.newer import Newer
from studio.ui.notify import Notifier
from studio.ui.qt_words import QtWords
from studio.ui.session import Session
from studio.ui.settings import WindowSettings
from studio.ui.state import Known
from studio.ui.theme import Look
from studio.ui.tray import Tray
from studio.ui.viewmodels.notes import Note, alarm_notes, heard, notes, version_note
from studio.ui.viewmodels.tray import tray_view
from studio.ui.window import MainWindow

_TRAY_MS = 1_500
"""A tray that starts together with this session is there by then."""


class Shell(QObject):
    """Holds the one window of now, and whatever stands outside of it."""

    def __init__(
        self,
        application: QApplication,
        look: Look,
        session: Session,
        bridge: Bridge,
        settings: WindowSettings,
        assets: Path,
        *,
        tray: Tray | None = None,
    ) -> None:
        super().__init__()
        self._application = application
        self._look = look
        self._session = session
        self._bridge = bridge
        self._settings = settings
        self._assets = assets
        self._is_ending = False
        self._before = session.known
        self._said: frozenset[str] = frozenset()
        self.qt_words = QtWords()
        self.qt_words.speak(spoken())
        look.motion.choose(settings.motion)
        self.tray = tray or Tray(look)
        self.notifier = Notifier(bridge, look.icons.application())
        self.notifier.pressed.connect(self.come_to_front)
        self.notifier.refused.connect(self._on_refused)
        self.daily_look = DailyLook(bridge)
        self.newer = Newer(bridge, self.daily_look)
        self.newer.changed.connect(self._on_newer)
        self._lasting = lasting(bridge, session)
        self.window = self._made()
        application.setQuitOnLastWindowClosed(False)
        application.commitDataRequest.connect(self._on_session_ends)
        session.changed.connect(self._on_changed)
        session.ticked.connect(self._refresh)
        bridge.arrived.connect(self._on_arrived)
        self.tray.open_asked.connect(self.come_to_front)
        self.tray.start_asked.connect(self._on_start)
        self.tray.stop_asked.connect(self._on_stop)
        self.tray.quit_asked.connect(self.quit)

    def show(self) -> None:
        """Show the window; tray and the desktop's wishes come when it is painted."""
        self.window.painted.connect(self._on_painted)
        self.window.show()

    def come_to_front(self) -> None:
        """Bring the window up, also out of the tray."""
        self.window.come_to_front()

    def quit(self) -> None:
        """Close for good; what is served goes on."""
        self._is_ending = True
        self.window.close()

    def _made(self) -> MainWindow:
        window = MainWindow(self._look, self._session, self._bridge, self._settings, self._lasting)
        window.close_asked.connect(self._on_close)
        window.closed.connect(self._on_closed)
        window.quit_asked.connect(self.quit)
        window.tray_answered.connect(self._on_tray_answer)
        window.guide.language_asked.connect(self._on_language)
        window.guide.manners_changed.connect(self._on_manners)
        window.guide.versions_told.connect(self.newer.take)
        window.show_newer(self.newer.version)
        FocusKeeper(self._application, window)
        return window

    def _on_painted(self) -> None:
        self._look.motion.ask_system()
        QTimer.singleShot(0, self._look.sweep)
        self._refresh()
        if not self.tray.appear():
            QTimer.singleShot(_TRAY_MS, self, self._on_later)

    def _on_later(self) -> None:
        self.tray.appear()

    def _refresh(self) -> None:
        self.tray.show_view(tray_view(self._session.known, self.window.home.frame()))

    def _on_changed(self, known: Known) -> None:
        found = notes(self._before, known)
        self._before = known
        self._refresh()
        self._say(found)

    def _on_arrived(self, events: tuple[Event, ...]) -> None:
        found = alarm_notes(events, self._said)
        self._said = heard(events, self._said)
        self._say(found)

    def _on_newer(self) -> None:
        """Show it in the window as long as it waits; tell the desktop once of each version."""
        version = self.newer.version
        self.window.show_newer(version)
        if version is not None and version != self._settings.told_version:
            self._settings.told_version = version
            self._settings.save()
            self._say((version_note(version),))

    def _say(self, found: tuple[Note, ...]) -> None:
        """Tell the desktop, unless the person looks at the window or wants to hear nothing."""
        if self._is_in_front():
            for note in found:
                if note.is_harm:  # the window announces changes of state itself
                    announce(self.window, f"{note.title}. {note.text}", is_urgent=True)
            return
        if not self._settings.notifies:
            return
        for note in found:
            self.notifier.say(note)

    def _on_refused(self, note: Note) -> None:
        """Go through the tray where the desktop shows no notifications of its own."""
        if self.tray.is_there:
            self.tray.say(note)
        else:
            self._application.alert(self.window)

    def _is_in_front(self) -> bool:
        return self.window.isActiveWindow() and not self.window.isMinimized()

    def _on_close(self, event: QCloseEvent) -> None:
        """Decide what closing means: the tray, where there is one and a person wants that."""
        if self._is_ending or not self._settings.to_tray or not self.tray.appear():
            return
        event.ignore()
        if self._settings.tray_is_explained or self.window.explains_tray:
            self._explained()
            self.window.hide()
        else:
            self.window.explain_tray()

    def _on_tray_answer(self, into_tray: bool) -> None:
        self._explained()
        self._settings.to_tray = into_tray
        self._settings.save()
        self.window.close()

    def _explained(self) -> None:
        if not self._settings.tray_is_explained:
            self._settings.tray_is_explained = True
            self._settings.save()

    def _on_closed(self) -> None:
        self.tray.go()
        self._application.quit()

    def _on_session_ends(self) -> None:
        self._is_ending = True

    def _on_start(self) -> None:
        self.window.home.start()

    def _on_stop(self) -> None:
        self.window.home.stop()

    def _on_manners(self) -> None:
        self._look.motion.choose(self._settings.motion)

    def _on_language(self, language: str | None) -> None:
        speak(language or suited(QLocale.system().uiLanguages()), self._assets)
        self.qt_words.speak(spoken())
        QTimer.singleShot(0, self, self._rebuild)  # a widget of the old window is still asking

    def _rebuild(self) -> None:
        """Make the window anew in the language of now; nothing else notices."""
        old = self.window
        old.remember()
        focus = focused_name(old)
        self.window = self._made()
        self.window.carry(old.carried())
        self.window.show_page(old.front)
        if old.isVisible():
            self.window.show()
        focus_named(self.window, focus)
        old.hide()
        old.deleteLater()
        self._session.fetch_log_again()
        self._refresh()
