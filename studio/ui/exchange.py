"""Lets another version of the Studio take over now: the service ends, starts anew, serves again.

What `weir update apply` and `weir update rollback` do in a terminal (`cli/update.py`): the version
is chosen, the service ends with its engine, the launcher starts the chosen one, which proves
itself or is taken back, and what was served is served again.
"""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from studio.domain.control import ServiceInfo
from studio.domain.errors import ErrorInfo
from studio.domain.self_update import UpdateState, UpdateStatus
from studio.ui.bridge import Bridge, Farewell
from studio.ui.session import Session
from studio.ui.state import Opening, is_busy

if TYPE_CHECKING:
    from studio.control.client import ControlClient

    Choice = Callable[[ControlClient], Awaitable[UpdateStatus]]

_LOOK_MS = 1_000


class Exchange(QObject):
    """Signals: `over` (who asked, UpdateStatus or the ErrorInfo that kept it from happening).

    Kept outside of the window, which may be made anew in another language meanwhile.
    """

    over = Signal(str, object)

    def __init__(self, bridge: Bridge, session: Session) -> None:
        super().__init__()
        self._bridge = bridge
        self._session = session
        self.name: str | None = None
        """Who asked for it; None: nothing is under way."""
        self._version: str | None = None
        """Which is to take over; None: nothing is under way."""
        self._old: ServiceInfo | None = None
        self._is_next = False
        """Whether the one that answers came after the one that is to end: then it has decided."""
        self._preset: str | None = None
        self._looks = QTimer(self)
        self._looks.setInterval(_LOOK_MS)
        self._looks.timeout.connect(self._look)
        bridge.closed.connect(self._on_closed)
        bridge.opened.connect(self._on_opened)

    @property
    def is_under_way(self) -> bool:
        """Tell whether a version is taking over."""
        return self._version is not None

    def begin(self, name: str, choose: "Choice") -> None:
        """Choose the version by `choose`, then let it take over; `name` is who asks."""
        self.name = name
        known = self._session.known
        is_served = known.engine.is_serving or is_busy(known)
        self._preset = known.engine.preset if is_served else None
        self._bridge.ask_program(choose, self._on_chosen, self._fail)

    def _on_chosen(self, status: UpdateStatus) -> None:
        if status.waiting is None:
            self._finish(status)
            return
        self._version, self._is_next = status.waiting, False
        self._old = self._session.known.service
        self._bridge.ask(lambda client: client.down(), self._on_ending, self._on_gone)

    def _on_ending(self, _none: object) -> None:
        """Wait for the goodbye: `_on_closed` starts the next one."""

    def _on_gone(self, _error: ErrorInfo) -> None:
        """It was gone before its answer had left: `_on_closed` comes, too."""

    def _on_closed(self, farewell: Farewell) -> None:
        """Start the next one; where no goodbye was said, the bridge does so, after a pause."""
        self._looks.stop()
        if self.is_under_way and farewell.announced:
            self._session.start_service()

    def _on_opened(self, opening: Opening) -> None:
        """Look whether it is decided; one that takes long to end may answer once more."""
        if self.is_under_way:
            now = opening.status.service
            self._is_next = self._old is not None and now.started_at != self._old.started_at
            self._looks.start()
            self._look()

    def _look(self) -> None:
        self._bridge.ask_program(
            lambda client: client.update_status(), self._on_status, self._on_gone
        )

    def _on_status(self, status: UpdateStatus) -> None:
        if not self.is_under_way or not self._is_decided(status):
            return
        self._version = None
        self._looks.stop()
        if self._preset is not None:
            self._session.start(self._preset)
        self._finish(status)

    def _is_decided(self, status: UpdateStatus) -> bool:
        """Tell whether the version has taken over, was taken back, or nobody wants it any more."""
        if status.state is UpdateState.TRIAL:
            return False
        is_told = status.last_version == self._version or status.failed is not None
        return self._is_next or (is_told and status.state is not UpdateState.WAITING)

    def _fail(self, error: ErrorInfo) -> None:
        self._version = None
        self._finish(error)

    def _finish(self, found: UpdateStatus | ErrorInfo) -> None:
        name, self.name = self.name, None
        self.over.emit(name, found)
