"""The frame: rail, strip, banner and pages. It passes words on, and decides nothing."""

import time

from PySide6.QtCore import QTimer, Signal
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
from studio.ui.pages.keys import KeysPage
from studio.ui.pages.logs import LogsPage
from studio.ui.pages.serve import ServePage
from studio.ui.session import Session
from studio.ui.settings import WindowSettings
from studio.ui.state import Known, is_busy
from studio.ui.theme import Look, ThemeChoice
from studio.ui.viewmodels.frame import PageId, frame_view
from studio.ui.viewmodels.presets import proposed
from studio.ui.viewmodels.problem import Remedy
from studio.ui.widgets.rail import Rail
from studio.ui.widgets.report_dialog import ReportDialog
from studio.ui.widgets.strip import Banner, Strip

FIRST_SIZE = (1180, 760)
SMALLEST = (900, 600)
_NARROW = 1040
_CLOCK_MS = 1_000
_KEYS_MS = 5_000


class MainWindow(QMainWindow):
    """Signals: `painted` once, when the first picture is on the screen."""

    painted = Signal()

    def __init__(self, look: Look, session: Session, settings: WindowSettings) -> None:
        super().__init__()
        self.setObjectName("window")
        self._look = look
        self._session = session
        self._settings = settings
        self._chosen: str | None = None
        self._choosing = False
        self._has_painted = False
        self._rail = Rail(look, tuple(PageId))
        self._strip = Strip(look)
        self._banner = Banner(look)
        self.serve = ServePage(look)
        self.logs = LogsPage(look)
        self.keys = KeysPage(look)
        self._pages: dict[PageId, QWidget] = {
            PageId.SERVE: self.serve,
            PageId.LOGS: self.logs,
            PageId.KEYS: self.keys,
        }
        self._stack = QStackedWidget()
        self._clock = self._timer(_CLOCK_MS, self._on_clock)
        self._keys_timer = self._timer(_KEYS_MS, session.refresh_keys)
        self._lay_out()
        self._connect()
        self._add_shortcuts()
        self._restore()
        self._on_changed(session.known)
        self.show_page(PageId.SERVE)

    def show_page(self, page: PageId) -> None:
        """Bring a page to the front."""
        self._stack.setCurrentWidget(self._pages[page])
        self._rail.mark(page)
        if page is PageId.KEYS:
            self._session.refresh_keys()
            self._keys_timer.start()
        else:
            self._keys_timer.stop()
        self._refresh(self._session.known)
        if page is PageId.SERVE:
            self._on_ticked()

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
        for page in self._pages.values():
            self._stack.addWidget(page)
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
        session.log_replaced.connect(self.logs.replace_lines)
        session.log_added.connect(self.logs.append_lines)
        self.logs.report_asked.connect(self._on_report)
        self._rail.page_chosen.connect(self.show_page)
        self._rail.theme_asked.connect(self._on_theme)
        self._rail.collapse_asked.connect(self._on_collapse)
        self._strip.start_asked.connect(self._on_start)
        self._strip.stop_asked.connect(session.stop)
        self._strip.restart_asked.connect(session.restart)
        self._strip.switch_asked.connect(self._on_switch)
        self._banner.pressed.connect(session.start_service)
        self.serve.preset_chosen.connect(self._on_preset)
        self.serve.start_asked.connect(self._on_start)
        self.serve.problem.chosen.connect(self._on_remedy)
        self.serve.problem.dismissed.connect(session.dismiss_problem)
        self.keys.problem.dismissed.connect(session.dismiss_key_problem)
        for secret in (self.serve.secret, self.keys.secret):
            secret.dismissed.connect(session.forget_secret)
        self.keys.create_asked.connect(session.create_key)
        self.keys.revoke_asked.connect(session.revoke_key)

    def _add_shortcuts(self) -> None:
        for keys, slot in (
            ("Ctrl+1", self._to_serve),
            ("Ctrl+2", self._to_logs),
            ("Ctrl+3", self._to_keys),
            ("Ctrl+F", self._on_search),
            ("Ctrl+T", self._on_theme),
            ("Ctrl+B", self._on_collapse),
            ("Ctrl+Return", self._on_start),
            ("Ctrl+.", self._on_stop),
            ("Ctrl+R", self._on_restart),
            ("Ctrl+P", self._on_switch),
            ("Ctrl+Shift+C", self._strip.copy_address.copy),
            ("Ctrl+Shift+R", self._on_report),
            ("Ctrl+Q", self.close),
        ):
            QShortcut(QKeySequence(keys), self).activated.connect(slot)

    def _restore(self) -> None:
        self.resize(*FIRST_SIZE)
        geometry = self._settings.geometry
        if geometry is not None:
            self.restoreGeometry(geometry)

    def _on_changed(self, known: Known) -> None:
        identities = {preset.id for preset in known.presets or ()}
        if self._chosen not in identities:
            self._chosen = known.engine.preset or proposed(known.presets)
        self._refresh(known)

    def _refresh(self, known: Known) -> None:
        now_s = time.monotonic()
        home = self._stack.currentWidget() is self.serve
        view = frame_view(known, now_s, chosen=self._chosen, choosing=self._choosing, home=home)
        self.setWindowTitle(view.window_title)
        self._strip.show_frame(view)
        self._banner.show_banner(view.banner)
        self._rail.show_version(view.version)
        self.serve.show_known(known, now_s, self._chosen, self._choosing)
        self.keys.show_known(known)
        counts = known.engine.state in (EngineState.PREPARING, EngineState.STARTING)
        if counts is not self._clock.isActive():
            (self._clock.start if counts else self._clock.stop)()
        if not self._clock.isActive():
            self._on_ticked()

    def _on_ticked(self) -> None:
        if self.isVisible() and self._stack.currentWidget() is self.serve:
            self.serve.show_ticks(self._session.known, tuple(self._session.ticks))

    def _on_clock(self) -> None:
        self._refresh(self._session.known)

    def _on_preset(self, preset: str) -> None:
        self._chosen = preset
        self._refresh(self._session.known)

    def _on_start(self) -> None:
        known = self._session.known
        view = frame_view(known, 0.0, chosen=self._chosen, choosing=self._choosing)
        ready = known.engine.state is EngineState.READY
        may_switch = ready and self._choosing and self._chosen != known.engine.preset
        allowed = may_switch if ready else view.start.visible and view.start.enabled
        if allowed and not is_busy(known) and self._chosen is not None:
            self._choosing = False
            self.show_page(PageId.SERVE)
            self._session.start(self._chosen)

    def _on_stop(self) -> None:
        view = frame_view(self._session.known, 0.0, chosen=self._chosen, choosing=self._choosing)
        if view.stop.visible and view.stop.enabled:
            self._session.stop()

    def _on_restart(self) -> None:
        view = frame_view(self._session.known, 0.0, chosen=self._chosen, choosing=self._choosing)
        if view.restart.visible and view.restart.enabled:
            self._session.restart()

    def _on_switch(self) -> None:
        view = frame_view(self._session.known, 0.0, chosen=self._chosen, choosing=self._choosing)
        if view.switch.visible and view.switch.enabled:
            self._choosing = not self._choosing
            self.show_page(PageId.SERVE)
            self._refresh(self._session.known)

    def _on_remedy(self, remedy: Remedy) -> None:
        match remedy:
            case Remedy.RETRY:
                self._session.retry()
            case Remedy.TAKE_PORT:
                self._session.take_free_port()
            case Remedy.CONSENT:
                self._session.consent()
            case Remedy.COPY:
                pass  # the card's own button has done it

    def _on_report(self) -> None:
        dialog = ReportDialog(self._look, self)
        self._session.report_made.connect(dialog.show_preview)
        self._session.report_failed.connect(dialog.show_error)
        self._session.ask_report()
        dialog.open()

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

    def _on_search(self) -> None:
        self.show_page(PageId.LOGS)
        self.logs.begin_search()

    def _to_serve(self) -> None:
        self.show_page(PageId.SERVE)

    def _to_logs(self) -> None:
        self.show_page(PageId.LOGS)

    def _to_keys(self) -> None:
        self.show_page(PageId.KEYS)
