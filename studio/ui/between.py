"""What is done while the service is away: it ends, the work is done, it is started again.

Kept outside of the window, which may be made anew in another language meanwhile.
"""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QObject, Signal

from studio.domain.errors import ErrorInfo
from studio.ui.bridge import Bridge, Farewell
from studio.ui.exchange import Exchange
from studio.ui.session import Session
from studio.ui.state import Link

if TYPE_CHECKING:
    from studio.control.client import ControlClient

    Work = Callable[[ControlClient], Awaitable[object]]

_GONE = "service-unreachable"


class Between(QObject):
    """Signals: `over` (whose work it was, what came of it: an answer, an ErrorInfo, or None)."""

    over = Signal(str, object)

    def __init__(self, bridge: Bridge, session: Session) -> None:
        super().__init__()
        self._bridge = bridge
        self._session = session
        self.name: str | None = None
        """Whose work is under way; None: nothing is."""
        self._work: Work | None = None
        self._is_ending = False
        bridge.closed.connect(self._on_closed)

    def begin(self, name: str, work: "Work | None") -> None:
        """End the service, have this side do `work`, and start the service again."""
        if self.name is not None:
            return
        self.name, self._work = name, work
        if self._session.known.link is Link.LIVE:
            self._is_ending = True
            self._bridge.ask(lambda client: client.down(), self._on_ending, self._on_refused)
        else:
            self._do()

    def _on_ending(self, _none: object) -> None:
        """Wait for the goodbye: `_on_closed` goes on."""

    def _on_refused(self, error: ErrorInfo) -> None:
        """Give up, unless it was gone before its answer had left: `_on_closed` comes, too."""
        if error.code != _GONE and self._is_ending:
            self._finish(error)

    def _on_closed(self, _farewell: Farewell) -> None:
        if self._is_ending:
            self._is_ending = False
            self._do()

    def _do(self) -> None:
        if self._work is None:
            self._start(None)
        else:
            self._bridge.ask_here(self._work, self._start, self._start)

    def _start(self, found: object) -> None:
        self._session.start_service()
        self._finish(found)

    def _finish(self, found: object) -> None:
        name, self.name, self._is_ending = self.name, None, False
        self.over.emit(name, found)


class Lasting(NamedTuple):
    """What is under way longer than a window may last."""

    exchange: Exchange
    between: Between


def lasting(bridge: Bridge, session: Session) -> Lasting:
    """Return what one program needs of it."""
    return Lasting(Exchange(bridge, session), Between(bridge, session))
