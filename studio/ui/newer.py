"""Which newer version of the Studio is known, so that the window says so; asks nobody's network.

Who looks is the service, or where it is another program, this window (`ui/daily_look.py`).
"""

from PySide6.QtCore import QObject, QTimer, Signal

from studio.domain.errors import ErrorInfo
from studio.domain.self_update import UpdateStatus
from studio.ui.bridge import Bridge
from studio.ui.daily_look import DailyLook
from studio.ui.state import Opening
from studio.ui.viewmodels.settings_program import newer_version

_READ_MS = 600_000


class Newer(QObject):
    """Signals: `changed` when another version is known, or none any more."""

    changed = Signal()

    def __init__(self, bridge: Bridge, daily: DailyLook) -> None:
        super().__init__()
        self._bridge = bridge
        self.version: str | None = None
        """None: nobody knows of a newer one, or it was told to take over already."""
        self._timer = QTimer(self)
        self._timer.setInterval(_READ_MS)
        self._timer.timeout.connect(self.read)
        bridge.opened.connect(self._on_opened)
        daily.over.connect(self.take)

    def read(self) -> None:
        """Read what is known on this machine."""
        self._bridge.ask_program(lambda client: client.update_status(), self.take, self._on_failed)

    def take(self, status: UpdateStatus | None) -> None:
        """Hear what somebody else has read, or found; None says nothing."""
        if status is None:
            return
        version = newer_version(status)
        if version != self.version:
            self.version = version
            self.changed.emit()

    def _on_opened(self, _opening: Opening) -> None:
        self._timer.start()
        self.read()

    def _on_failed(self, _error: ErrorInfo) -> None:
        """Nobody asked for it, so nobody is told; it is read again later."""
