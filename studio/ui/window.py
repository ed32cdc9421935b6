"""The frame: rail, strip, banner and pages. It passes words on, and decides nothing."""

import time

from PySide6.QtCore import QEvent, Qt, QTimer, Signal
from PySide6.QtGui import (
    QCloseEvent,
    QKeyEvent,
    QKeySequence,
    QPaintEvent,
    QResizeEvent,
    QShortcut,
    QShowEvent,
)
from PySide6.QtWidgets import (
    QAbstractButton,
    QHBoxLayout,
    QMainWindow,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from studio.domain.server import EngineState
from studio.ui.accessible import announce
from studio.ui.between import Lasting, lasting
from studio.ui.bridge import Bridge
from studio.ui.controllers.connect import ConnectController
from studio.ui.controllers.connect_menu import ConnectMenu
from studio.ui.controllers.logs import LogsController
from studio.ui.controllers.serve import ServeController
from studio.ui.controllers.table import CONTROLLERS
from studio.ui.desk import Controller, Desk, Guide
from studio.ui.layouts import settle
from studio.ui.session import Session
from studio.ui.settings import WindowSettings
from studio.ui.state import Known, Link
from studio.ui.theme import Look, ThemeChoice
from studio.ui.viewmodels.frame import FrameView, PageId
from studio.ui.viewmodels.keyboard import DEEDS, key_groups
from studio.ui.viewmodels.settings import Section
from studio.ui.viewmodels.settings_program import newer_words
from studio.ui.widgets.help_sheet import HelpSheet
from studio.ui.widgets.rail import Rail
from studio.ui.widgets.strip import Banner, Strip
from studio.ui.widgets.tray_card import TrayCard

FIRST_SIZE = (1180, 760)
SMALLEST = (900, 600)
_NARROW = 1040
_CLOCK_MS = 1_000
_CALM_S = 4.5
"""Every fifth tick, where motion is reduced."""


class MainWindow(QMainWindow):
    """Signals: `painted` once, when the first picture is on the screen; `close_asked`
    (QCloseEvent, which whoever hears it may refuse) and `closed`; `quit_asked`; `tray_answered`
    (whether closing shall go into the tray).
    """

    painted = Signal()
    close_asked = Signal(object)
    closed = Signal()
    quit_asked = Signal()
    tray_answered = Signal(bool)

    def __init__(
        self,
        look: Look,
        session: Session,
        bridge: Bridge,
        settings: WindowSettings,
        longer: Lasting | None = None,
    ) -> None:
        super().__init__()
        self.setObjectName("window")
        self._look = look
        self._session = session
        self._settings = settings
        self._has_painted = False
        self._desk = Desk(
            look, session, bridge, settings, Guide(), longer or lasting(bridge, session)
        )
        self.guide = self._desk.guide
        self.guide.asked.connect(self.show_page)
        self.guide.pointed.connect(self._on_pointed)
        self.guide.theme_asked.connect(self.choose_theme)
        self.made: dict[PageId, Controller] = {}
        """The pages that were shown, or have to hear of things before."""
        self._front = PageId.SERVE
        self._rail = Rail(look, tuple(CONTROLLERS))
        self._strip = Strip(look)
        self._connect_menu = ConnectMenu(self._desk, self._strip.connect_clients)
        self._banner = Banner(look)
        self._stack = QStackedWidget()
        self._right = QVBoxLayout()
        self._tray_card: TrayCard | None = None
        self._moved_s = 0.0
        self._announced: tuple[Link, EngineState] | None = None
        self.home = ServeController(self._desk)
        self._keep(PageId.SERVE, self.home)
        self._keep(PageId.LOGS, LogsController(self._desk))  # lines come while it is not in front
        self._clock = self._timer(_CLOCK_MS, self._on_clock)
        self._lay_out()
        self._connect()
        self._add_shortcuts()
        look.dress(self)
        self._restore()
        self._on_changed(session.known)
        self.show_page(PageId.SERVE)

    def controller(self, page: PageId) -> Controller:
        """Return a page's controller, made now if nobody asked for it before."""
        if page not in self.made:
            self._keep(page, CONTROLLERS[page](self._desk))
        return self.made[page]

    @property
    def front(self) -> PageId:
        """Return the page in front."""
        return self._front

    def show_page(self, page: PageId) -> None:
        """Bring a page to the front."""
        was, now = self.made[self._front], self.controller(page)
        self._front = page
        if was is not now:
            was.leave()
        self._stack.setCurrentWidget(now.page)
        self._rail.mark(page)
        now.enter()
        self._refresh(self._session.known)
        self._on_ticked()

    def carried(self) -> dict[PageId, object]:
        """Return what the pages hold that nobody else keeps."""
        return {page: controller.carried() for page, controller in self.made.items()}

    def carry(self, what: dict[PageId, object]) -> None:
        """Put that into this window's pages."""
        for page, held in what.items():
            self.controller(page).carry(held)

    def show_newer(self, version: str | None) -> None:
        """Say which newer version of the Studio is there, on every page; None: none."""
        self._rail.show_newer(newer_words(version) if version is not None else None)

    def come_to_front(self) -> None:
        """Show the window over all others, also from the dock."""
        self.setWindowState(
            (self.windowState() & ~Qt.WindowState.WindowMinimized) | Qt.WindowState.WindowActive
        )
        self.show()
        self.raise_()
        self.activateWindow()

    def _keep(self, page: PageId, controller: Controller) -> None:
        self.made[page] = controller
        self._stack.addWidget(controller.page)

    def event(self, event: QEvent) -> bool:
        """Lay out what changed before it is painted."""
        if event.type() is QEvent.Type.UpdateRequest:
            settle()
        return super().event(event)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Remember the frame; the service goes on."""
        self.remember()
        self.close_asked.emit(event)
        if event.isAccepted():
            super().closeEvent(event)
            self.closed.emit()

    def remember(self) -> None:
        """Keep the frame for the next window."""
        self._settings.geometry = self.saveGeometry()
        self._settings.save()

    @property
    def explains_tray(self) -> bool:
        """Tell whether the card about the tray is in view."""
        return self._tray_card is not None and self._tray_card.isVisible()

    def explain_tray(self) -> None:
        """Say where a closed window goes, and ask whether that is wanted; nothing waits for it."""
        if self._tray_card is None:
            self._tray_card = TrayCard(self._look)
            self._tray_card.answered.connect(self.tray_answered)
            self._right.insertWidget(self._right.indexOf(self._stack), self._tray_card)
        self._tray_card.begin()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Collapse the rail where the window is narrow, unless a person chose otherwise."""
        super().resizeEvent(event)
        chosen = self._settings.rail_collapsed
        collapsed = self.width() < _NARROW if chosen is None else chosen
        if collapsed is not self._rail.collapsed:
            self._rail.collapse(collapsed)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Let Enter press the button that has the focus: Qt does so in dialogs only."""
        button = self.focusWidget()
        is_enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if is_enter and isinstance(button, QAbstractButton) and button.isEnabled():
            button.click()
            return
        super().keyPressEvent(event)

    def showEvent(self, event: QShowEvent) -> None:
        """Bring the pages up to date: nothing is painted while hidden."""
        super().showEvent(event)
        self._on_ticked()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Announce the first picture once it is out."""
        super().paintEvent(event)
        if not self._has_painted:
            self._has_painted = True
            QTimer.singleShot(0, self.painted.emit)

    def _timer(self, interval_ms: int, slot: object) -> QTimer:
        timer = QTimer(self)
        timer.setInterval(interval_ms)
        if callable(slot):
            timer.timeout.connect(slot)
        return timer

    def _lay_out(self) -> None:
        right = self._right
        right.setSpacing(0)
        right.addWidget(self._strip)
        right.addWidget(self._banner)
        right.addWidget(self._stack, 1)
        frame = QWidget()
        row = QHBoxLayout(frame)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self._rail)
        row.addLayout(right, 1)
        self.setCentralWidget(frame)
        self.setMinimumSize(*SMALLEST)
        self._rail.collapse(bool(self._settings.rail_collapsed))
        self._rail.show_theme(self._look.choice)

    def _connect(self) -> None:
        session = self._session
        session.changed.connect(self._on_changed)
        session.ticked.connect(self._on_news)
        self.home.chosen_changed.connect(self._on_clock)
        self._rail.page_chosen.connect(self.show_page)
        self._rail.newer_asked.connect(self._on_newer)
        self._rail.theme_asked.connect(self._on_theme)
        self._rail.collapse_asked.connect(self._on_collapse)
        self._strip.start_asked.connect(self.home.start)
        self._strip.stop_asked.connect(session.stop)
        self._strip.restart_asked.connect(session.restart)
        self._strip.switch_asked.connect(self.home.switch)
        self._strip.connect_asked.connect(self._connect_menu.open)
        self._banner.pressed.connect(session.start_service)

    def _add_shortcuts(self) -> None:
        slots = {
            "search": self._on_search,
            "theme": self._on_theme,
            "rail": self._on_collapse,
            "start": self.home.start,
            "stop": self.home.stop,
            "restart": self.home.restart,
            "switch": self.home.switch,
            "copy": self._strip.copy_address.copy,
            "report": self._on_report,
            "try": self._on_try,
            "settings": self._on_settings,
            "help": self.show_help,
            "close": self.close,
            "quit": self._on_quit,
        }
        for deed in DEEDS:
            for keys in deed.keys:
                shortcut = QShortcut(QKeySequence(keys), self)
                shortcut.setObjectName(f"deed-{deed.name}")
                shortcut.activated.connect(slots[deed.name])
        for number, page in enumerate(PageId, start=1):
            if page in CONTROLLERS:
                shortcut = QShortcut(QKeySequence(f"Ctrl+{number}"), self)
                shortcut.setObjectName(page.value)
                shortcut.activated.connect(self._on_number)

    def _restore(self) -> None:
        self.resize(*FIRST_SIZE)
        geometry = self._settings.geometry
        if geometry is not None:
            self.restoreGeometry(geometry)

    def _on_changed(self, known: Known) -> None:
        self._refresh(known)

    def _refresh(self, known: Known) -> None:
        for controller in self.made.values():
            controller.show_known(known)
        view = self.home.frame(home=self._front in (PageId.SERVE, PageId.PLAN))
        self.setWindowTitle(view.window_title)
        self._strip.show_frame(view)
        self._banner.show_banner(view.banner)
        self._tell_reader(view)
        self._rail.show_version(view.version)
        counts = known.engine.state in (EngineState.PREPARING, EngineState.STARTING)
        if counts is not self._clock.isActive():
            (self._clock.start if counts else self._clock.stop)()
        if not self._clock.isActive():
            self._on_ticked()

    def _tell_reader(self, view: FrameView) -> None:
        """Have a change of the engine's or the service's state read out, once each."""
        known = self._session.known
        now = (known.link, known.engine.state)
        if now != self._announced:
            is_first, self._announced = self._announced is None, now
            if not is_first:
                words = view.banner.text if view.banner is not None else view.state.text
                announce(self, words)

    def _on_news(self) -> None:
        """Draw the newest figures; where motion is reduced, no more than once in five seconds."""
        if not self._look.motion.is_reduced or time.monotonic() - self._moved_s >= _CALM_S:
            self._on_ticked()

    def _on_ticked(self) -> None:
        self._moved_s = time.monotonic()
        if self.isVisible():
            self.made[self._front].show_ticks(tuple(self._session.ticks))

    def _on_clock(self) -> None:
        self._refresh(self._session.known)

    def _on_report(self) -> None:
        logs = self.controller(PageId.LOGS)
        if isinstance(logs, LogsController):
            logs.open_report()

    def _on_try(self) -> None:
        if self._front is PageId.SERVE and self.home.begin_try():
            return
        connect = self.controller(PageId.CONNECT)
        self.show_page(PageId.CONNECT)
        if isinstance(connect, ConnectController):
            connect.begin_try()

    def _on_newer(self) -> None:
        self._on_pointed(PageId.SETTINGS, Section.UPDATES.value)

    def _on_settings(self) -> None:
        self.show_page(PageId.SETTINGS)

    def show_help(self) -> None:
        """Show the sheet of keys, if it is not there."""
        if self.findChild(HelpSheet) is None:
            HelpSheet(self._look, key_groups(tuple(CONTROLLERS)), self).open()

    def _on_quit(self) -> None:
        """Close for good: whoever keeps the window in a tray hears it first."""
        self.quit_asked.emit()
        self.close()

    def _on_theme(self) -> None:
        order = list(ThemeChoice)
        self.choose_theme(order[(order.index(self._look.choice) + 1) % len(order)])

    def choose_theme(self, choice: ThemeChoice) -> None:
        """Show another theme from now on, and remember it."""
        self._settings.theme = choice
        self._settings.save()
        self._look.choose(choice)
        self._rail.show_theme(choice)

    def _on_collapse(self) -> None:
        collapsed = not self._rail.collapsed
        self._settings.rail_collapsed = collapsed
        self._settings.save()
        self._rail.collapse(collapsed)

    def _on_pointed(self, page: PageId, what: str) -> None:
        self.show_page(page)
        self.made[page].show_what(what)

    def _on_number(self) -> None:
        self.show_page(PageId(self.sender().objectName()))

    def _on_search(self) -> None:
        if not self.made[self._front].begin_search():
            self.show_page(PageId.LOGS)
            self.made[PageId.LOGS].begin_search()
