"""The connect page at work: clients, plans and files through the service; one answer to try it."""

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING

from studio.domain.clients import (
    ClientList,
    Connected,
    ConnectPlan,
    ConnectRequest,
    Undone,
)
from studio.domain.control import KeyInfo
from studio.domain.errors import ErrorInfo
from studio.domain.events import Event, KeysChanged
from studio.ui.area import Area
from studio.ui.bridge import Bridge
from studio.ui.desk import Controller, Desk
from studio.ui.language import t, told
from studio.ui.pages.connect import ConnectPage
from studio.ui.state import Known, Link
from studio.ui.trial import Trying
from studio.ui.viewmodels.connect import (
    choices,
    connect_view,
    empty_words,
    first_choice,
    is_too_early,
    key_choices,
)
from studio.ui.widgets.path_dialog import PathDialog, Wanted

if TYPE_CHECKING:
    from studio.control.client import ControlClient

    _Planned = tuple[str, str | None, ConnectPlan]
    """A client, the file that was named for it, and what would be written."""


class ConnectArea(Area):
    """What is known of chat clients."""

    def __init__(self, bridge: Bridge) -> None:
        super().__init__(bridge)
        self.clients: ClientList | None = None
        self.keys: tuple[KeyInfo, ...] = ()
        self.chosen: str | None = None
        self.key: str | None = None
        self.file: str | None = None
        """The client's configuration, where a person named it."""
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
            self.file = self.problem = None
            self.read_plan()

    def choose_key(self, key: str | None) -> None:
        """Put another key into the client in front."""
        self.key, self.done = key, None
        self.read_plan()

    def choose_file(self, path: str) -> None:
        """Take the client in front to keep its settings there; a refusal leaves what was so."""
        chosen = self.chosen
        if chosen is None:
            return
        self.problem, key = None, self.key
        request = ConnectRequest(key=key, file=path)

        def done(found: ConnectPlan) -> None:
            if chosen == self.chosen:
                self.file, self.plan, self.done = path, found, None
                if key != self.key:  # chosen meanwhile
                    self.read_plan()

        def failed(error: ErrorInfo) -> None:
            if chosen == self.chosen:
                self.problem = error

        self.ask("file", lambda client: client.plan_client(chosen, request), done, failed)

    def read_plan(self) -> None:
        """Ask what would be written; while that is asked already, again afterwards."""
        chosen, file = self.chosen, self.file
        if chosen is None:
            return
        request = ConnectRequest(key=self.key, file=file)

        async def question(client: "ControlClient") -> "_Planned":
            return chosen, file, await client.plan_client(chosen, request)

        failed = functools.partial(self._on_no_plan, chosen)
        self._stale = not self.ask("plan", question, self._on_plan, failed)

    def write(self) -> None:
        """Do what was shown."""
        plan = self.plan
        if plan is None or plan.client.id != self.chosen:
            return
        request = ConnectRequest(key=self.key, file=self.file, seen=plan.digest)
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

    def _on_plan(self, found: "_Planned") -> None:
        chosen, file, plan = found
        if (chosen, file) == (self.chosen, self.file):
            self.plan = plan
        self._again()

    def _on_no_plan(self, asked: str, error: ErrorInfo) -> None:
        """A client that another one took the place of meanwhile is nobody's problem."""
        if asked == self.chosen:
            self.plan, self.problem = None, error
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


class ConnectController(Controller):
    """Asks only while the page is in front; an answer under way ends when it is left."""

    def __init__(self, desk: Desk) -> None:
        self.view = ConnectPage(desk.look)
        super().__init__(desk, self.view)
        self.area = ConnectArea(desk.bridge)
        self.trying = Trying(self.area)
        self._is_front = False
        self._was_live = self._was_serving = False
        view, area = self.view, self.area
        area.changed.connect(self._show)
        view.client_chosen.connect(area.choose)
        view.key_chosen.connect(area.choose_key)
        view.write_asked.connect(area.write)
        view.undo_asked.connect(area.undo)
        view.file_asked.connect(self._on_file)
        view.problem_dismissed.connect(area.dismiss)
        view.try_panel.asked.connect(self.trying.ask)
        view.try_panel.stopped.connect(self.trying.stop)
        self.trying.changed.connect(self._show_try)
        desk.bridge.arrived.connect(self._on_events)

    def show_known(self, known: Known) -> None:
        """Ask again when the service is back, and show whether something serves."""
        is_live = known.link is Link.LIVE
        is_serving = is_live and known.engine.is_serving
        is_news = (is_live and not self._was_live) or (is_serving and not self._was_serving)
        if is_news and self._is_front:  # a plan needs the model that is served
            self.area.refresh()
        is_other = is_live is not self._was_live
        self._was_live, self._was_serving = is_live, is_serving
        if is_other:
            self._show()
        self._show_try()

    def enter(self) -> None:
        """Look which clients there are now, with the key that another page asks for."""
        self._is_front = True
        if self.desk.guide.key is not None:
            self.area.key, self.desk.guide.key = self.desk.guide.key, None
            self.area.done = None
        if self.desk.session.known.link is Link.LIVE:
            self.area.refresh()
        self._show()

    def leave(self) -> None:
        """Stop an answer that nobody sees."""
        self._is_front = False
        self.trying.stop()

    def show_what(self, what: str) -> None:
        """Bring a client to the front by its id."""
        self.area.choose(what)

    def begin_try(self) -> None:
        """Put the caret into the prompt of the panel."""
        self.view.try_panel.begin()

    def _on_file(self) -> None:
        plan = self.area.plan
        if plan is None:
            return
        dialog = PathDialog(
            self.desk.look,
            "client-file",
            t("The file of {client}").format(client=told(plan.client.title)),
            about=t(
                "Where it keeps its settings, on the machine of the service. What would change is "
                "shown before anything is written."
            ),
            verb=t("Show what changes"),
            wanted=Wanted.FILE,
            parent=self.view.window(),
        )
        dialog.path.setText(plan.path or "")
        dialog.given.connect(self._on_file_given)
        dialog.open()

    def _on_file_given(self, path: str, _more: str) -> None:
        self.area.choose_file(path)

    def _show(self) -> None:
        area, view = self.area, self.view
        found = area.clients
        view.show_list(
            choices(found),
            area.chosen,
            "\n".join(map(told, found.notes)) if found is not None else "",
        )
        plan = area.plan if area.plan and area.plan.client.id == area.chosen else None
        is_live = self.desk.session.known.link is Link.LIVE
        shown = (
            connect_view(plan, area.done, is_busy=area.is_busy, is_live=is_live) if plan else None
        )
        view.show_client(shown, empty_words(area.problem, is_live=is_live) if not plan else "")
        view.show_keys(key_choices(plan, area.keys), area.key)
        is_said = plan is None and is_too_early(area.problem)
        view.show_problem(None if is_said else area.problem)

    def _show_try(self) -> None:
        known = self.desk.session.known
        is_serving = known.engine.is_serving and known.link is Link.LIVE
        self.view.try_panel.show_view(self.trying.view(is_serving=is_serving))

    def _on_events(self, events: Sequence[Event]) -> None:
        if self._is_front and any(isinstance(event, KeysChanged) for event in events):
            self.area.refresh_keys()
