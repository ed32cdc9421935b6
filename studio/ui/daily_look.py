"""Looks once a day for a newer Studio where no service does: on Windows, from the window.

There the service lives in a Linux and is another program; what it keeps is whether a person allows
the look and whether the network is switched off. Elsewhere the service looks by itself.
"""

import time
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from studio.domain.errors import ErrorInfo
from studio.domain.self_update import UpdateCheckRequest, UpdateStatus, is_look_due
from studio.ui.bridge import Bridge
from studio.ui.state import Opening

if TYPE_CHECKING:
    from studio.control.client import ControlClient

_LOOK_MS = 600_000


class DailyLook(QObject):
    """Signals: `over` (UpdateStatus after a look; None: none was due, allowed or possible)."""

    over = Signal(object)

    def __init__(self, bridge: Bridge) -> None:
        super().__init__()
        self._bridge = bridge
        self._tried_at = 0.0
        self._timer = QTimer(self)
        self._timer.setInterval(_LOOK_MS)
        self._timer.timeout.connect(self.look_now)
        if bridge.has_here:
            bridge.opened.connect(self._on_opened)

    @property
    def is_looking(self) -> bool:
        """Tell whether it looks now and then."""
        return self._timer.isActive()

    def _on_opened(self, _opening: Opening) -> None:
        """A window may be open for minutes only: begin at once."""
        self._timer.start()
        self.look_now()

    def look_now(self) -> None:
        """Look, if it is time and allowed; `over` says what came of it."""
        self._bridge.ask(_is_allowed, self._on_allowed, self._on_failed)

    def _on_allowed(self, is_allowed: bool) -> None:
        if is_allowed:
            self._bridge.ask_here(self._look, self.over.emit, self._on_failed)
        else:
            self.over.emit(None)

    def _on_failed(self, _error: ErrorInfo) -> None:
        """Nobody asked for it, so nobody is told; it is tried again later."""
        self.over.emit(None)

    async def _look(self, client: "ControlClient") -> UpdateStatus | None:
        now = time.time()
        known = await client.update_status()
        if known.feed is None or not is_look_due(now, known.checked_at, self._tried_at):
            return None
        self._tried_at = now
        return await client.update_check(UpdateCheckRequest())


async def _is_allowed(client: "ControlClient") -> bool:
    care = await client.settings()
    return care.check_updates and not (await client.network()).offline
