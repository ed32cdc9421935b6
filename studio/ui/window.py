"""The frame: rail, strip, banner and pages. It passes words on, and decides nothing."""

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import (
    QCloseEvent,
    QKeySequence,
    QPaintEvent,
    QResizeEvent,
    QShortcut,
    QShowEvent,
)
from PySide6.QtWidgets import QHBoxLayout, QMainWindow, QStackedWidget, QVBoxLayout, QWidget

from studio.domain.server import EngineState
from studio.ui.bridge import Bridge
from studio.ui.controllers.connect import ConnectController
from studio.ui.controllers.logs import LogsController
from studio.ui.controllers.serve import ServeController
from studio.ui.controllers.table import CONTROLLERS
from studio.ui.desk import Controller, Desk, Guide
from studio.ui.session import Session
from studio.ui.settings import WindowSettings
from studio.ui.state import Known
from studio.ui.theme import Look, ThemeChoice
from studio.ui.viewmodels.frame import PageId
from studio.ui.widgets.rail import Rail
from studio.ui.widgets.strip import Banner, Strip

FIRST_SIZE = (1180, 760)
SMALLEST = (900, 600)
_NARROW = 1040
_CLOCK_MS = 1_000


class MainWindow(QMainWindow):
    """Signals: `painted` once, when the first picture is on the screen."""

    painted = Signal()

    def __init__(
        self, look: Look, session: Session, bridge: Bridge, settings: WindowSettings
    ) -> None:
        super().__init__()
        self.setObjectName("window")
        self._look = look
        self._session = session
        self._settings = settings
        self._has_painted = False
        self._desk = Desk(look, session, bridge, settings, Guide())
        self._desk.guide.asked.connect(self.show_page)
        self.made: dict[PageId, Controller] = {}
        """The pages that were shown, or have to hear of things before."""
        self._front = PageId.SERVE
        self._rail = Rail(look, tuple(CONTROLLERS))
        self._strip = Strip(look)
        self._banner = Banner(look)
        self._stack = QStackedWidget()
        self.home = ServeController(self._desk)
        self._keep(PageId.SERVE, self.home)
        self._keep(PageId.LOGS, LogsController(self._desk))  # lines come while it is not in front
        self._clock = self._timer(_CLOCK_MS, self._on_clock)
        self._lay_out()
        self._connect()
        self._add_shortcuts()
        self._restore()
        self._on_changed(session.known)
        self.show_page(PageId.SERVE)

    def controller(self, page: PageId) -> Controller:
        """Return a page's controller, made now if nobody asked for it before."""
        if page not in self.made:
            self._keep(page, CONTROLLERS[page](self._desk))
        return self.made[page]

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

    def closeEvent(self, event: QCloseEvent) -> None:
        """Remember the frame; the service goes on."""
        self._settings.geometry = self.saveGeometry()
        self._settings.save()
        super().closeEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Collapse the rail where the window is narrow, unless a person chose otherwise."""
        super().resizeEvent(event)
        chosen = self._settings.rail_collapsed
        collapsed = self.width() < _NARROW if chosen is None else chosen
        if collapsed is not self._rail.collapsed:
            self._rail.collapse(collapsed)

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
        right = QVBoxLayout()
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
        session.ticked.connect(self._on_ticked)
        self.home.chosen_changed.connect(self._on_clock)
        self._rail.page_chosen.connect(self.show_page)
        self._rail.theme_asked.connect(self._on_theme)
        self._rail.collapse_asked.connect(self._on_collapse)
        self._strip.start_asked.connect(self.home.start)
        self._strip.stop_asked.connect(session.stop)
        self._strip.restart_asked.connect(session.restart)
        self._strip.switch_asked.connect(self.home.switch)
        self._banner.pressed.connect(session.start_service)

    def _add_shortcuts(self) -> None:
        for keys, slot in (
            ("Ctrl+F", self._on_search),
            ("Ctrl+T", self._on_theme),
            ("Ctrl+B", self._on_collapse),
            ("Ctrl+Return", self.home.start),
            ("Ctrl+.", self.home.stop),
            ("Ctrl+R", self.home.restart),
            ("Ctrl+P", self.home.switch),
            ("Ctrl+Shift+C", self._strip.copy_address.copy),
            ("Ctrl+Shift+R", self._on_report),
            ("Ctrl+Shift+T", self._on_try),
            ("Ctrl+Q", self.close),
        ):
            QShortcut(QKeySequence(keys), self).activated.connect(slot)
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
        view = self.home.frame(home=self._front is PageId.SERVE)
        self.setWindowTitle(view.window_title)
        self._strip.show_frame(view)
        self._banner.show_banner(view.banner)
        self._rail.show_version(view.version)
        counts = known.engine.state in (EngineState.PREPARING, EngineState.STARTING)
        if counts is not self._clock.isActive():
            (self._clock.start if counts else self._clock.stop)()
        if not self._clock.isActive():
            self._on_ticked()

    def _on_ticked(self) -> None:
        if self.isVisible():
            self.made[self._front].show_ticks(tuple(self._session.ticks))

    def _on_clock(self) -> None:
        self._refresh(self._session.known)

    def _on_report(self) -> None:
        logs = self.controller(PageId.LOGS)
        if isinstance(logs, LogsController):
            logs.open_report()

    def _on_try(self) -> None:
        connect = self.controller(PageId.CONNECT)
        self.show_page(PageId.CONNECT)
        if isinstance(connect, ConnectController):
            connect.begin_try()

    def _on_theme(self) -> None:
        order = list(ThemeChoice)
        choice = order[(order.index(self._look.choice) + 1) % len(order)]
        self._settings.theme = choice
        self._settings.save()
        self._look.choose(choice)
        self._rail.show_theme(choice)

    def _on_collapse(self) -> None:
        collapsed = not self._rail.collapsed
        self._settings.rail_collapsed = collapsed
        self._settings.save()
        self._rail.collapse(collapsed)

    def _on_number(self) -> None:
        self.show_page(PageId(self.sender().objectName()))

    def _on_search(self) -> None:
        if not self.made[self._front].begin_search():
            self.show_page(PageId.LOGS)
            self.made[PageId.LOGS].begin_search()
