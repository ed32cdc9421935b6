"""One answer to try it: asked through the bridge, handed on piece by piece, ended by a person."""

import asyncio
import contextlib
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from studio.domain.clients import TryPiece
from studio.domain.errors import ErrorInfo
from studio.ui.area import Area
from studio.ui.viewmodels.connect import TryState, TryView, try_view

if TYPE_CHECKING:
    from studio.control.client import ControlClient


class Trial(QObject):
    """One answer on its way. Signals: `moved` (TryPiece), on Qt's thread by the queue."""

    moved = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._patience: asyncio.Timeout | None = None

    async def run(self, client: "ControlClient", prompt: str) -> None:
        """Ask, and hand on each piece until it ends or is stopped. On the bridge's loop."""
        from studio.control.client_connect import answer

        self._loop = asyncio.get_running_loop()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(None) as self._patience:
                grant = await client.grant_try()
                async with contextlib.aclosing(answer(grant, prompt)) as pieces:
                    async for piece in pieces:
                        self.moved.emit(piece)

    def stop(self) -> None:
        """End it; the gateway then ends the request. On Qt's thread."""
        loop, patience = self._loop, self._patience
        if loop is not None and patience is not None:
            loop.call_soon_threadsafe(self._end, patience, loop.time())

    @staticmethod
    def _end(patience: asyncio.Timeout, now_s: float) -> None:
        with contextlib.suppress(RuntimeError):  # it has just ended by itself
            patience.reschedule(now_s)


class Trying(QObject):
    """What a panel shows of it; asks in the name of an area. Signals: `changed`."""

    changed = Signal()

    def __init__(self, area: Area) -> None:
        super().__init__()
        self._area = area
        self._trial: Trial | None = None
        self._state = TryState.IDLE
        self._pieces: tuple[TryPiece, ...] = ()

    def view(self, *, is_serving: bool) -> TryView:
        """Return the panel."""
        return try_view(self._state, self._pieces, is_serving=is_serving)

    def ask(self, prompt: str) -> None:
        """Ask for one answer; a second one waits until the first has ended."""
        if self._trial is not None:
            return
        trial = self._trial = Trial()
        trial.moved.connect(self._on_piece)
        self._pieces, self._state = (), TryState.ASKED
        self._area.problem = None
        self._area.ask(
            "try", lambda client: trial.run(client, prompt), self._on_over, self._on_fault
        )
        self.changed.emit()

    def stop(self) -> None:
        """End the answer under way."""
        if self._trial is not None:
            self._trial.stop()

    def _on_piece(self, piece: TryPiece) -> None:
        self._pieces = (*self._pieces, piece)
        self._state = TryState.STREAMS
        self.changed.emit()

    def _on_over(self, _nothing: None) -> None:
        self._trial, self._state = None, TryState.DONE
        self.changed.emit()

    def _on_fault(self, error: ErrorInfo) -> None:
        self._area.problem = error
        self._on_over(None)
