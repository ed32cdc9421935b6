"""What the window knows of models, downloads and hubs, and asks about them."""

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING

from studio.domain.downloads import (
    DownloadDeed,
    DownloadList,
    Fetched,
    GetRequest,
    HubName,
    LimitRequest,
    LoginInfo,
    LoginRequest,
)
from studio.domain.errors import ErrorInfo
from studio.domain.events import ModelsChanged
from studio.domain.library import (
    CheckInfo,
    CheckList,
    CheckRequest,
    ImportProgress,
    ImportState,
    Library,
    ModelDetail,
    ModelImport,
    ModelImported,
    RemovePlan,
    RemoveRequest,
    RootChange,
    RootInfo,
)
from studio.ui.area import Area
from studio.ui.bridge import Bridge

if TYPE_CHECKING:
    from studio.control.client import ControlClient

Outcome = Fetched | ModelImported | RemovePlan | LoginInfo
_CANCELLED = "download-cancelled"


class ModelsArea(Area):
    """The library, the queue, the tokens."""

    def __init__(self, bridge: Bridge) -> None:
        super().__init__(bridge)
        self.library: Library | None = None
        self.downloads: DownloadList | None = None
        self.checks: tuple[CheckInfo, ...] = ()
        self.importing: ImportProgress | None = None
        self.logins: dict[HubName, LoginInfo] = {}
        self.chosen: str | None = None
        self.plan: RemovePlan | None = None
        self.detail: ModelDetail | None = None
        self.detail_of: str | None = None
        """Which model that is."""
        self.wants_files = False
        self.done: Outcome | None = None
        self._seen: object = None
        self._stale = False

    def refresh(self) -> None:
        """Read everything again."""
        self.read_library()
        self.ask("downloads", lambda client: client.downloads(), self._on_downloads)

    def read_library(self) -> None:
        """Look what lies where; while that is looked at already, again afterwards."""
        self._stale = not self.ask(
            "library", lambda client: client.models(), self._on_library, self._on_problem
        )

    def hear_downloads(self, found: DownloadList) -> None:
        """Take the queue as an event brought it."""
        self.downloads = found
        self.changed.emit()

    def hear_models(self, news: ModelsChanged) -> bool:
        """Take how far checks are; tell whether the library is another than before."""
        self.checks = news.checks
        states = tuple((one.path, one.state) for one in news.checks)
        seen = (news.version, news.models, news.size_bytes, states)
        is_other, self._seen = seen != self._seen, seen
        self.changed.emit()
        return is_other

    def choose(self, path: str | None) -> None:
        """Bring a model to the front; a question about another one is withdrawn."""
        if path != self.chosen:
            self.chosen, self.plan = path, None
            self.read_files()
            self.changed.emit()

    def want_files(self, wanted: bool) -> None:
        """Know the files of the model in front, from now on or no longer."""
        self.wants_files = wanted
        self.read_files()
        self.changed.emit()

    def read_files(self) -> None:
        """Ask for the files of the model in front, if they are wanted; afterwards once more where
        another one came to the front meanwhile.
        """
        path = self.chosen
        if self.wants_files and path is not None:
            done = functools.partial(self._on_files, path)
            failed = functools.partial(self._on_no_files, path)
            self.ask("files", lambda client: client.model(path), done, failed)

    def get(self, request: GetRequest) -> None:
        """Fetch a model; it stands in the queue meanwhile."""
        self.problem = self.done = None
        name = f"get {request.repository}"
        self.ask(name, lambda client: client.get_model(request), self._on_outcome, self._on_no_get)

    def change(self, reference: str, deed: DownloadDeed) -> None:
        """Pause, resume, cancel or move a download."""
        self.problem = None
        self.ask(
            f"queue {reference}",  # of its own: a press on one row is not lost to another's
            lambda client: client.change_download(reference, deed),
            self._on_downloads,
            writes="downloads",
        )

    def limit(self, bytes_per_s: int | None) -> None:
        """Set the bandwidth of models."""
        request = LimitRequest(bytes_per_s=bytes_per_s)
        self.ask(
            "queue", lambda client: client.limit_downloads(request), self._on_downloads,
            writes="downloads",
        )  # fmt: skip

    def check(self, path: str) -> None:
        """Have every byte of a model compared."""
        self.problem = None
        request = CheckRequest(name=path)
        self.ask("check", lambda client: client.check_models(request), self._on_checks)

    def check_all(self) -> None:
        """Have every byte of every model compared."""
        self.problem = None
        self.ask("check", lambda client: client.check_models(CheckRequest()), self._on_checks)

    def stop_check(self, path: str) -> None:
        """End the check of a model."""
        request = CheckRequest(name=path)
        self.ask("check", lambda client: client.stop_model_check(request), self._on_checks)

    def plan_removal(self, path: str) -> None:
        """Ask what removing a model would free."""
        self.problem = self.done = None
        request = RemoveRequest(name=path, dry_run=True)
        done = functools.partial(self._on_plan, path)
        self.ask("remove", lambda client: client.remove_model(request), done)

    def remove(self) -> None:
        """Remove what was shown."""
        plan = self.plan
        if plan is not None:
            request = RemoveRequest(name=plan.path)
            self.ask("remove", lambda client: client.remove_model(request), self._on_removed)

    def keep(self) -> None:
        """Remove nothing."""
        self.plan = None
        self.changed.emit()

    def change_roots(self, change: RootChange) -> None:
        """Search a folder from now on, or no longer."""
        self.problem = None
        self.ask("roots", lambda client: client.change_model_roots(change), self._on_roots)

    def take_in(self, request: ModelImport) -> None:
        """Bring a model that lies here into the library."""
        self.problem = self.done = None
        self.ask("import", lambda client: client.import_model(request), self._on_outcome)

    def read_import(self) -> None:
        """Ask how far an import is."""
        self.ask("importing", lambda client: client.model_import(), self._on_import)

    def read_logins(self) -> None:
        """Ask which token each hub gets."""

        async def question(client: "ControlClient") -> list[LoginInfo]:
            return [await client.hub_login(hub) for hub in HubName]

        self.ask("logins", question, self._on_logins)

    def log_in(self, hub: HubName, token: str | None) -> None:
        """Keep a hub's token; None forgets it."""
        request = LoginRequest(hub=hub, token=token)
        self.ask("login", lambda client: client.log_in(request), self._on_login)

    def forget_done(self) -> None:
        """Close the card about what was done."""
        self.done = None
        self.changed.emit()

    def _on_library(self, found: Library) -> None:
        self.library = found
        paths = [one.path for one in found.models]
        if self.chosen not in paths:
            self.chosen, self.plan = next(iter(paths), None), None
        self.read_files()
        if self._stale:
            self.read_library()

    def _on_files(self, path: str, found: ModelDetail) -> None:
        self.detail, self.detail_of = found, path
        if path != self.chosen:
            self.read_files()

    def _on_no_files(self, path: str, error: ErrorInfo) -> None:
        """A model that another one took the place of meanwhile is nobody's problem."""
        if path == self.chosen:
            self.problem = error
        else:
            self.read_files()

    def _on_downloads(self, found: DownloadList) -> None:
        self.downloads = found

    def _on_checks(self, found: CheckList) -> None:
        self.checks = found.checks
        self.read_library()

    def _on_plan(self, path: str, plan: RemovePlan) -> None:
        """Ask whether that shall go, unless another model came to the front meanwhile."""
        if path == self.chosen:
            self.plan = plan

    def _on_removed(self, plan: RemovePlan) -> None:
        self.plan = None
        self._on_outcome(plan)

    def _on_roots(self, _roots: Sequence[RootInfo]) -> None:
        self.read_library()

    def _on_import(self, state: ImportState) -> None:
        self.importing = state.current

    def _on_logins(self, found: list[LoginInfo]) -> None:
        self.logins = {one.hub: one for one in found}

    def _on_login(self, info: LoginInfo) -> None:
        self.logins = {**self.logins, info.hub: info}
        self.done = info

    def _on_outcome(self, outcome: Outcome) -> None:
        self.done, self.importing = outcome, None
        self.refresh()

    def _on_problem(self, error: ErrorInfo) -> None:
        self.problem = error

    def _on_no_get(self, error: ErrorInfo) -> None:
        """Show why a download ended; that it was cancelled is known to whoever did it."""
        if error.code != _CANCELLED:
            self.problem = error
        self.ask("downloads", lambda client: client.downloads(), self._on_downloads)
