"""What only a window on Windows knows: how far the Linux is in which its service lives.

Answered on this side, without a service: the window asks while it reaches none. Where it is no
Windows, nobody can be asked, and nothing of this is shown.
"""

import functools
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import QTimer

from studio.domain.errors import ErrorInfo
from studio.domain.wsl import WslReport, WslSetupRequest, WslStep
from studio.ui.area import Area
from studio.ui.bridge import Bridge
from studio.ui.viewmodels.wsl import BY_ITSELF, Doing, WslView, is_needed, wsl_view

if TYPE_CHECKING:
    from studio.control.client import ControlClient

T = TypeVar("T")

_LOOK_MS = 1_000


class WslArea(Area):
    """Looks whenever the service is out of reach; takes steps when a person says so."""

    def __init__(self, bridge: Bridge) -> None:
        super().__init__(bridge)
        self.report: WslReport | None = None
        self._doing: WslStep | None = None
        self._began_s = 0.0
        self._taken: set[WslStep] = set()
        self._turn = 0
        """Counts steps as they begin and end: a look from before one tells what was."""
        self._clock = QTimer(self)
        self._clock.setInterval(_LOOK_MS)
        self._clock.timeout.connect(self._on_clock)
        bridge.closed.connect(self._on_closed)

    def view(self, *, is_live: bool) -> WslView | None:
        """Return the way while it is not over; nothing once a service is reached."""
        if is_live or self.report is None or not (self._doing or is_needed(self.report)):
            return None
        doing = None
        if self._doing is not None:
            doing = Doing(step=self._doing, elapsed_s=time.monotonic() - self._began_s)
        return wsl_view(self.report, doing, self.problem)

    def look(self) -> None:
        """Look how far it is."""
        if self._bridge.has_here:
            took = functools.partial(self._on_report, self._turn)
            self.ask("look", lambda client: client.wsl_report(), took, self._ignore)

    def go_on(self) -> None:
        """Take every step that needs no more than this yes; where none is, look again."""
        self.problem = None
        self._taken.clear()
        if self.report is None or self.report.step not in BY_ITSELF:
            self.look()
        else:
            self._take(self.report.step)

    def _take(self, step: WslStep) -> None:
        self._taken.add(step)
        self._turn += 1
        self._doing, self._began_s = step, time.monotonic()
        self._clock.start()
        request = WslSetupRequest(consent=True)
        self.ask("step", lambda client: client.wsl_setup(request), self._on_step, self._on_failed)

    def _on_step(self, report: WslReport) -> None:
        self._rest(report)
        if report.step in BY_ITSELF and report.step not in self._taken:
            self._take(report.step)
        elif not is_needed(report):
            self._bridge.start_service()

    def _on_report(self, turn: int, report: WslReport) -> None:
        if turn != self._turn:
            return
        if self.report is not None and self.report.step is not report.step:
            self.problem = None
        self.report = report

    def _rest(self, report: WslReport | None) -> None:
        self.report = report or self.report
        self._turn += 1
        self._doing = None
        self._clock.stop()

    def _on_failed(self, error: ErrorInfo) -> None:
        self.problem = error
        self._rest(None)

    def _on_clock(self) -> None:
        self.look()
        self.changed.emit()

    def _on_closed(self, _farewell: object) -> None:
        if self._doing is None:
            self.look()

    def put(
        self,
        question: "Callable[[ControlClient], Awaitable[T]]",
        done: Callable[[T], None],
        failed: Callable[[ErrorInfo], None],
    ) -> None:
        """Ask this machine: there is no service yet."""
        self._bridge.ask_here(question, done, failed)

    def _ignore(self, _error: ErrorInfo) -> None:
        """Go on without: the next look may find more."""
