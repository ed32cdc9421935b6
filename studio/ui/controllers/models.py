"""The models page at work: the library, the queue, folders, tokens."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, QTimer

from studio.domain.downloads import DownloadDeed, GetRequest, HubName
from studio.domain.errors import ErrorInfo
from studio.domain.events import DownloadsChanged, Event, ModelsChanged
from studio.domain.library import Library, ModelImport, RootChange
from studio.ui.desk import Controller, Desk
from studio.ui.language import t, told
from studio.ui.models import ModelsArea
from studio.ui.pages.models import ModelsPage, Part
from studio.ui.state import Known, Link
from studio.ui.viewmodels.downloads import downloads_view, limit_of, open_count
from studio.ui.viewmodels.model_files import files_view
from studio.ui.viewmodels.models import (
    ModelDeed,
    empty_words,
    found,
    lost_words,
    matching,
    model_rows,
    model_view,
    summary,
)
from studio.ui.viewmodels.models_done import import_stage, outcome_view
from studio.ui.viewmodels.models_places import remove_view, root_views
from studio.ui.viewmodels.problem import problem_view
from studio.ui.widgets.get_dialog import GetDialog
from studio.ui.widgets.hubs_dialog import HubsDialog
from studio.ui.widgets.import_dialog import ImportDialog
from studio.ui.widgets.path_dialog import PathDialog, Wanted

_IMPORT_MS = 500
_BUSY = frozenset({"remove", "roots", "import", "check"})


class ModelsController(Controller):
    """Asks while the page is in front; downloads and checks come as events."""

    def __init__(self, desk: Desk) -> None:
        self.view = ModelsPage(desk.look)
        super().__init__(desk, self.view)
        self.area = ModelsArea(desk.bridge)
        self._is_front = False
        self._was_live = False
        self._hubs: HubsDialog | None = None
        self._shown: tuple[Library | None, str | None, str, bool] | None = None
        self._timer = QTimer(self)
        self._timer.setInterval(_IMPORT_MS)
        self._timer.timeout.connect(self.area.read_import)
        self.area.changed.connect(self._show)
        desk.bridge.arrived.connect(self._on_events)
        self._connect()

    def show_known(self, known: Known) -> None:
        """Ask again when the service is back."""
        is_live = known.link is Link.LIVE
        has_changed, self._was_live = is_live is not self._was_live, is_live
        if self._is_front and has_changed:
            if is_live:
                self.area.refresh()
            self._show()

    def enter(self) -> None:
        """Look what lies where now."""
        self._is_front = True
        if self._is_live:
            self.area.refresh()
        self._show()

    def leave(self) -> None:
        """Ask nothing more."""
        self._is_front = False
        self._timer.stop()

    def begin_search(self) -> bool:
        """Find a model in the library."""
        self.view.show_part(Part.LIBRARY)
        self.view.library.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        return True

    def get(self, request: GetRequest) -> None:
        """Fetch a model, and show the queue."""
        self.view.show_part(Part.DOWNLOADS)
        self.area.get(request)

    def do(self, deed: ModelDeed) -> None:
        """Do what a button says with the model in front."""
        entry = found(self.area.library, self.area.chosen)
        if entry is None:
            return
        match deed:
            case ModelDeed.CHECK:
                self.area.check(entry.path)
            case ModelDeed.STOP:
                self.area.stop_check(entry.path)
            case ModelDeed.REMOVE:
                self.area.plan_removal(entry.path)
            case ModelDeed.FETCH if entry.repository is not None:
                self.get(GetRequest(repository=entry.repository, revision=entry.revision))
            case _:
                pass

    @property
    def _is_live(self) -> bool:
        return self.desk.session.known.link is Link.LIVE

    def _connect(self) -> None:
        view, area = self.view, self.area
        view.get_asked.connect(self.open_get)
        view.import_asked.connect(self.open_import)
        view.hubs_asked.connect(self.open_hubs)
        view.check_all_asked.connect(area.check_all)
        view.problem.dismissed.connect(area.dismiss)
        view.said.close_button.clicked.connect(area.forget_done)
        view.library.marked.connect(self._on_marked)
        view.library.sought.connect(self._on_sought)
        view.library.done.connect(self.do)
        view.library.files.unfolded.connect(area.want_files)
        view.library.removed.connect(area.remove)
        view.library.kept.connect(area.keep)
        view.queue.done.connect(self._on_download)
        view.queue.limited.connect(self._on_limit)
        view.queue.login_asked.connect(self.open_hubs)
        view.folders.added.connect(self.open_folder)
        view.folders.removed.connect(self._on_root_removed)

    def open_get(self) -> None:
        """Ask which model is wanted."""
        dialog = GetDialog(self.desk.look, self.view.window())
        dialog.given.connect(self.get)
        dialog.open()

    def open_import(self) -> None:
        """Ask which model is to be taken in."""
        dialog = ImportDialog(self.desk.look, self.view.window())
        dialog.wanted.connect(self._on_import)
        dialog.open()

    def open_hubs(self) -> None:
        """Show which tokens there are."""
        dialog = self._hubs = HubsDialog(self.desk.look, self.view.window())
        dialog.kept.connect(self._on_token)
        dialog.forgotten.connect(self._on_forgotten)
        dialog.finished.connect(self._on_hubs_closed)
        self.area.read_logins()
        dialog.open()

    def open_folder(self) -> None:
        """Ask for a folder to search."""
        dialog = PathDialog(
            self.desk.look,
            "folder",
            t("Add a folder"),
            about=t("A folder of models on the machine of the service. No file in it is touched."),
            verb=t("Search it"),
            wanted=Wanted.FOLDER,
            parent=self.view.window(),
        )
        dialog.given.connect(self._on_root_added)
        dialog.open()

    def _show(self) -> None:
        if not self._is_front:
            return
        area, view, is_live = self.area, self.view, self._is_live
        is_busy = bool(area.pending & _BUSY)
        can_act = is_live and not is_busy
        view.show_enabled(can_act=can_act)
        view.show_open(open_count(area.downloads))
        view.queue.show_view(downloads_view(area.downloads, is_live=is_live))
        view.folders.show_views(root_views(area.library, can_act=can_act), can_act=can_act)
        self._show_rows(is_live=is_live)
        entry = found(area.library, area.chosen)
        view.library.show_model(
            None
            if entry is None
            else model_view(entry, area.checks, is_live=is_live, is_busy=is_busy),
            remove_view(area.plan, can_act=can_act),
        )
        detail = area.detail if area.detail_of == area.chosen else None
        view.library.files.show_view(
            files_view(detail, unfolded=area.wants_files, is_asked="files" in area.pending)
        )
        view.said.show_view(outcome_view(area.done))
        view.show_import(import_stage(area.importing))
        self._show_problem(area.problem)
        self._follow_import()

    def _show_rows(self, *, is_live: bool) -> None:
        """Show the table where something of it is other than before: 500 rows take a while."""
        area, view = self.area, self.view.library
        shown = (area.library, area.chosen, view.field.text(), is_live)
        before, self._shown = self._shown, shown
        if before is not None and before[0] is shown[0] and before[1:] == shown[1:]:
            return
        rows = matching(model_rows(area.library, is_live=is_live), shown[2])
        empty = empty_words(area.library, is_live=is_live, sought=shown[2])
        view.show_rows(rows, area.chosen, empty)
        view.show_summary(summary(area.library))
        view.show_lost(lost_words(area.library))

    def _show_problem(self, error: ErrorInfo | None) -> None:
        card = problem_view(error, can_retry=False) if error is not None else None
        self.view.problem.show_problem(card)
        if self._hubs is not None:
            self._hubs.show_logins(
                self.area.logins, told(error.message) if error is not None else ""
            )

    def _follow_import(self) -> None:
        is_on = "import" in self.area.pending
        if is_on is not self._timer.isActive():
            (self._timer.start if is_on else self._timer.stop)()

    def _on_events(self, events: Sequence[Event]) -> None:
        is_other = False
        for event in events:
            match event:
                case DownloadsChanged(downloads=downloads):
                    self.area.hear_downloads(downloads)
                case ModelsChanged():
                    is_other = self.area.hear_models(event) or is_other
        if is_other and self._is_front:
            self.area.read_library()

    def _on_sought(self, _text: str) -> None:
        self._show()

    def _on_marked(self, path: str) -> None:
        if path:
            self.area.choose(path)

    def _on_download(self, identity: str, deed: DownloadDeed) -> None:
        self.area.change(identity, deed)

    def _on_limit(self, place: int) -> None:
        self.area.limit(limit_of(self.area.downloads, place))

    def _on_import(self, request: ModelImport) -> None:
        self.area.take_in(request)

    def _on_root_added(self, path: str, _more: str) -> None:
        self.area.change_roots(RootChange(add=path))

    def _on_root_removed(self, path: str) -> None:
        self.area.change_roots(RootChange(remove=path))

    def _on_token(self, hub: HubName, token: str) -> None:
        self.area.log_in(hub, token)

    def _on_forgotten(self, hub: HubName) -> None:
        self.area.log_in(hub, None)

    def _on_hubs_closed(self, _result: int) -> None:
        self._hubs = None
