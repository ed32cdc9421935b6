"""The connect page at work: clients, plans and files through the service; one answer to try it."""

import asyncio
import contextlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from studio.domain.clients import (
    ClientList,
    Connected,
    ConnectPlan,
    ConnectRequest,
    TryPiece,
    Undone,
)
from studio.domain.control import KeyInfo
from studio.domain.errors import ErrorInfo
from studio.domain.events import Event, KeysChanged
from studio.ui.area import Area
from studio.ui.bridge import Bridge
from studio.ui.desk import Controller, Desk
from studio.ui.language import t
from studio.ui.pages.connect import ConnectPage
from studio.ui.state import Known, Link
from studio.ui.viewmodels.connect import (
    TryState,
    choices,
    connect_view,
    first_choice,
    key_choices,
    try_view,
)

if TYPE_CHECKING:
    from studio.control.client import ControlClient


class ConnectArea(Area):
    """What is known of chat clients."""

    def __init__(self, bridge: Bridge) -> None:
        super().__init__(bridge)
        self.clients: ClientList | None = None
        self.keys: tuple[KeyInfo, ...] = ()
        self.chosen: str | None = None
        self.key: str | None = None
        self.plan: ConnectPlan | None = None
        self.done: Connected | Undone | None = None
        self._stale = False

    @property
    def is_busy(self) -> bool:
        """Whether something is being written."""
        return bool(self.pending & {"write", "undo"})

    def refresh(self) -> None:
        """Look again which clients there are."""
        self.ask("clients", lambda client: client.clients(), self._on_clients, self._on_problem)
        self.refresh_keys()

    def refresh_keys(self) -> None:
        """Read the keys again."""
        self.ask("keys", lambda client: client.keys(), self._on_keys)

    def choose(self, client: str) -> None:
        """Bring a client to the front."""
        if client != self.chosen:
            self.chosen, self.key, self.plan, self.done = client, None, None, None
            self.problem = None
            self.read_plan()

    def choose_key(self, key: str | None) -> None:
        """Put another key into the client in front."""
        self.key, self.done = key, None
        self.read_plan()

    def read_plan(self) -> None:
        """Ask what would be written; while that is asked already, again afterwards."""
        chosen = self.chosen
        if chosen is None:
            return
        request = ConnectRequest(key=self.key)

        async def question(client: "ControlClient") -> tuple[str, ConnectPlan]:
            return chosen, await client.plan_client(chosen, request)

        self._stale = not self.ask("plan", question, self._on_plan, self._on_no_plan)

    def write(self) -> None:
        """Do what was shown."""
        plan = self.plan
        if plan is None or plan.client.id != self.chosen:
            return
        request = ConnectRequest(key=self.key, seen=plan.digest)
        self.ask(
            "write", lambda client: client.connect_client(plan.client.id, request), self._on_done
        )

    def undo(self) -> None:
        """Take it back."""
        chosen = self.chosen
        if chosen is not None:
            self.ask("undo", lambda client: client.undo_client(chosen), self._on_done)

    def _on_clients(self, found: ClientList) -> None:
        self.clients = found
        chosen = first_choice(found, self.chosen)
        if chosen != self.chosen:
            self.chosen = chosen
        self.read_plan()

    def _on_keys(self, found: Sequence[KeyInfo]) -> None:
        self.keys = tuple(found)

    def _on_plan(self, found: tuple[str, ConnectPlan]) -> None:
        if found[0] == self.chosen:
            self.plan = found[1]
        self._again()

    def _on_no_plan(self, error: ErrorInfo) -> None:
        self.plan = None
        self.problem = error
        self._again()

    def _again(self) -> None:
        if self._stale:
            self.read_plan()

    def _on_problem(self, error: ErrorInfo) -> None:
        self.problem = error

    def _on_done(self, done: Connected | Undone) -> None:
        self.done, self.problem = done, None
        if isinstance(done, Connected):
            self.key = done.plan.key_name if self.key is not None else None
        self.refresh()


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


class ConnectController(Controller):
    """Asks only while the page is in front; an answer under way ends when it is left."""

    def __init__(self, desk: Desk) -> None:
        self.view = ConnectPage(desk.look)
        super().__init__(desk, self.view)
        self.area = ConnectArea(desk.bridge)
        self._trial: Trial | None = None
        self._try_state = TryState.IDLE
        self._pieces: tuple[TryPiece, ...] = ()
        self._is_front = False
        self._was_live = False
        view, area = self.view, self.area
        area.changed.connect(self._show)
        view.client_chosen.connect(area.choose)
        view.key_chosen.connect(area.choose_key)
        view.write_asked.connect(area.write)
        view.undo_asked.connect(area.undo)
        view.problem_dismissed.connect(area.dismiss)
        view.try_panel.asked.connect(self._on_ask)
        view.try_panel.stopped.connect(self._on_stop)
        desk.bridge.arrived.connect(self._on_events)

    def show_known(self, known: Known) -> None:
        """Ask again when the service is back, and show whether something serves."""
        is_live = known.link is Link.LIVE
        if is_live and not self._was_live and self._is_front:
            self.area.refresh()
        self._was_live = is_live
        self._show_try()

    def enter(self) -> None:
        """Look which clients there are now."""
        self._is_front = True
        if self.desk.session.known.link is Link.LIVE:
            self.area.refresh()
        self._show()

    def leave(self) -> None:
        """Stop an answer that nobody sees."""
        self._is_front = False
        self._on_stop()

    def begin_try(self) -> None:
        """Put the caret into the prompt of the panel."""
        self.view.try_panel.begin()

    def _show(self) -> None:
        area, view = self.area, self.view
        found = area.clients
        view.show_list(
            choices(found), area.chosen, "\n".join(found.notes) if found is not None else ""
        )
        plan = area.plan if area.plan and area.plan.client.id == area.chosen else None
        shown = connect_view(plan, area.done, is_busy=area.is_busy) if plan is not None else None
        view.show_client(shown, self._empty(has_plan=plan is not None))
        view.show_keys(key_choices(plan, area.keys), area.key)
        view.show_problem(area.problem)

    def _empty(self, *, has_plan: bool) -> str:
        if has_plan or self.area.problem is not None:
            return ""
        if self.desk.session.known.link is not Link.LIVE:
            return t("The service does not answer, so no client can be set up now.")
        return t("Looking which chat clients are on this machine.")

    def _show_try(self) -> None:
        known = self.desk.session.known
        is_serving = known.engine.is_serving and known.link is Link.LIVE
        self.view.try_panel.show_view(
            try_view(self._try_state, self._pieces, is_serving=is_serving)
        )

    def _on_events(self, events: Sequence[Event]) -> None:
        if self._is_front and any(isinstance(event, KeysChanged) for event in events):
            self.area.refresh_keys()

    def _on_ask(self, prompt: str) -> None:
        if self._trial is not None:
            return
        trial = self._trial = Trial()
        trial.moved.connect(self._on_piece)
        self._pieces, self._try_state = (), TryState.ASKED
        self.area.problem = None
        self.area.ask(
            "try", lambda client: trial.run(client, prompt), self._on_over, self._on_fault
        )
        self._show_try()

    def _on_stop(self) -> None:
        if self._trial is not None:
            self._trial.stop()

    def _on_piece(self, piece: TryPiece) -> None:
        self._pieces = (*self._pieces, piece)
        self._try_state = TryState.STREAMS
        self._show_try()

    def _on_over(self, _nothing: None) -> None:
        self._trial, self._try_state = None, TryState.DONE
        self._show_try()

    def _on_fault(self, error: ErrorInfo) -> None:
        self.area.problem = error
        self._on_over(None)
