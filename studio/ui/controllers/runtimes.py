"""The runtimes page at work: what there is, what is done to it, the disk."""

from collections.abc import Awaitable
from typing import TYPE_CHECKING

import msgspec
from PySide6.QtCore import QStandardPaths, QTimer

from studio.domain.bundles import ExportRequest, ImportRequest, SignerList
from studio.domain.events import Stage, StageProgress, StageState
from studio.domain.runtimes import (
    CollectRequest,
    InstallRequest,
    PinRequest,
    RollbackRequest,
    VerifyRequest,
)
from studio.ui.desk import Controller, Desk
from studio.ui.language import t
from studio.ui.pages.runtimes import RuntimesPage
from studio.ui.runtimes import RuntimesArea
from studio.ui.state import Known, Link
from studio.ui.viewmodels.boot import stage_view
from studio.ui.viewmodels.disk import disk_view
from studio.ui.viewmodels.problem import ProblemView, Remedy, RemedyView, problem_view
from studio.ui.viewmodels.runtimes import Deed, RuntimesKnown
from studio.ui.viewmodels.runtimes_beside import (
    OpenView,
    UpdateView,
    garbage_view,
    stop_view,
    trail,
)
from studio.ui.viewmodels.runtimes_done import Done, done_view
from studio.ui.viewmodels.signers import signers_view
from studio.ui.widgets.path_dialog import PathDialog, Wanted

if TYPE_CHECKING:
    from studio.control.client import ControlClient
    from studio.ui.runtimes import Work

_UNKNOWN_SIGNER = "signer-unknown"
_QUIET_MS = 60_000
"""Longer than the longest step that says nothing: the trial of a new engine takes 50 s."""


class RuntimesController(Controller):
    """Asks while the page is in front; what is done to a runtime comes as events."""

    def __init__(self, desk: Desk) -> None:
        self.view = RuntimesPage(desk.look)
        super().__init__(desk, self.view)
        self.area = RuntimesArea(desk.bridge)
        self._stage: StageProgress | None = None
        self._silent: StageProgress | None = None
        """What has said nothing for long: whoever did it was killed, and it holds nobody up."""
        self.quiet = QTimer(self)
        self.quiet.setSingleShot(True)
        self.quiet.setInterval(_QUIET_MS)
        self.quiet.timeout.connect(self._on_quiet)
        self._signer = ""
        """Whom the last refused import asked about."""
        self._exported = ""
        self._trusted: SignerList | None = None
        """Who was trusted when that was shown last."""
        self._is_front = False
        self._was_live = False
        view, area = self.view, self.area
        area.changed.connect(self._show)
        view.picks.chosen.connect(area.choose)
        view.card.done.connect(self.do)
        view.work.stopped.connect(area.stop)
        view.updates.asked.connect(self._on_update)
        view.open.supplied.connect(self._on_supplied)
        view.open.forgotten.connect(self._on_forgotten)
        view.said.close_button.clicked.connect(area.forget_done)
        view.garbage.removed.connect(self._on_remove)
        view.garbage.kept.connect(area.keep_all)
        view.problem.dismissed.connect(area.dismiss)
        view.problem.chosen.connect(self._on_remedy)
        view.signers.trusted.connect(area.trust)
        view.signers.forgotten.connect(area.distrust)
        view.free_asked.connect(self._on_free)
        view.import_asked.connect(self._on_import)

    def show_known(self, known: Known) -> None:
        """Follow what is done to a runtime, by whomever; read again when it is over."""
        is_live = known.link is Link.LIVE
        stage = _running(known) if is_live else None
        if stage != self._silent:
            self._silent = None
        elif stage is not None:
            stage = None
        is_over = self._stage is not None and stage is None
        is_back = is_live and not self._was_live
        has_changed = stage != self._stage or is_live is not self._was_live
        if stage is None:
            self.quiet.stop()
        elif stage != self._stage:
            self.quiet.start()
        self._stage, self._was_live = stage, is_live
        if self._is_front and is_live and (is_over or is_back):
            self.area.refresh()
        elif self._is_front and has_changed:
            self._show()

    def enter(self) -> None:
        """Look what there is now."""
        self._is_front = True
        if self.desk.session.known.link is Link.LIVE:
            self.area.refresh()
        self._show()

    def leave(self) -> None:
        """Ask nothing more."""
        self._is_front = False

    def do(self, deed: Deed) -> None:
        """Do what a button says with the runtime in front."""
        name = self.area.chosen
        if name is None:
            return
        if deed is Deed.EXPORT:
            self._open_export(name)
            return
        works: dict[Deed, Work] = {
            Deed.INSTALL: lambda client, yes: client.install_runtime(
                name, InstallRequest(consent=yes)
            ),
            Deed.UPDATE: lambda client, yes: client.update_runtime(
                name, InstallRequest(consent=yes)
            ),
            Deed.VERIFY: lambda client, _yes: client.verify_runtime(name, VerifyRequest(full=True)),
            Deed.REPAIR: lambda client, _yes: client.repair_runtime(name),
            Deed.BACK: lambda client, _yes: client.roll_back(name, RollbackRequest()),
            Deed.FORWARD: lambda client, _yes: client.roll_back(
                name, RollbackRequest(forward=True)
            ),
            Deed.SERIES: lambda client, _yes: client.fetch_series(name),
        }
        self.area.do(works[deed])

    def export_to(self, folder: str, _more: str = "") -> None:
        """Write the runtime that the dialog was opened for into one file in a folder."""
        name = self._exported
        request = ExportRequest(to=f"{folder.rstrip('/')}/")
        self.area.do(lambda client, _yes: client.export_runtime(name, request))

    def import_from(self, path: str, trust: str) -> None:
        """Install a runtime out of a file; `trust` is the fingerprint of a signer, or empty."""

        def work(client: "ControlClient", yes: bool) -> Awaitable[Done]:
            wanted = trust or (self._signer if yes else "")
            return client.import_runtime(ImportRequest(path=path, trust=wanted or None))

        self.area.do(work)

    def _show(self) -> None:
        area, view = self.area, self.view
        is_live = self.desk.session.known.link is Link.LIVE
        known = RuntimesKnown(
            is_live=is_live,
            listed=area.listed,
            chosen=area.chosen,
            detail=area.detail,
            versions=area.versions,
            updates=area.updates,
            stage=self._stage,
            is_working="work" in area.pending,
            is_stopping="stop" in area.pending,
        )
        view.show_known(known)
        is_busy = "trust" in area.pending
        if self._trusted not in (None, area.signers):
            view.signers.clear()
        self._trusted = area.signers
        view.signers.show_view(signers_view(area.signers, can_act=is_live and not is_busy))
        view.disk.show_view(disk_view(area.disk, is_asked="disk" in area.pending))
        stage = self._stage
        shown = stage_view(stage) if stage is not None else None
        view.work.show_stage(shown, trail(stage), stop_view(known))
        garbage = garbage_view(area.garbage, can_act=is_live and not known.is_busy)
        view.show_outcome(self._problem(), done_view(area.done), garbage)

    def _problem(self) -> ProblemView | None:
        error = self.area.problem
        if error is None:
            return None
        card = problem_view(error, can_retry=self.area.can_retry)
        if error.code != _UNKNOWN_SIGNER:
            return card
        self._signer = str(error.data.get("fingerprint", ""))
        yes = RemedyView(remedy=Remedy.CONSENT, text=t("They are equal: trust and install"))
        return msgspec.structs.replace(card, is_question=True, remedies=(yes,))

    def _on_quiet(self) -> None:
        self._silent, self._stage = self._stage, None
        if self._is_front:
            self._show()

    def _on_remedy(self, remedy: Remedy) -> None:
        if remedy in (Remedy.CONSENT, Remedy.RETRY):
            self.area.again(consent=remedy is Remedy.CONSENT)

    def _on_update(self, update: UpdateView) -> None:
        target = update.target
        if update.is_beside:
            self.area.choose(target)
            self.do(Deed.INSTALL)
        else:
            self.do(Deed.UPDATE)

    def _on_supplied(self, open_: OpenView, typed: str) -> None:
        match open_.kind:
            case "confirm":
                self._pin(PinRequest(confirm=(open_.name,)))
            case "hash":
                self._pin(PinRequest(hashes={open_.name: typed}))
            case _:
                self._pin(PinRequest(commit=typed or None))

    def _on_forgotten(self) -> None:
        self._pin(PinRequest(forget=True))

    def _pin(self, request: PinRequest) -> None:
        name = self.area.chosen
        if name is not None:
            self.area.do(lambda client, _yes: client.pin_runtime(name, request))

    def _on_free(self) -> None:
        self.area.do(lambda client, _yes: client.collect_runtimes(CollectRequest(dry_run=True)))

    def _on_remove(self) -> None:
        self.area.do(lambda client, _yes: client.collect_runtimes(CollectRequest()))

    def _open_export(self, name: str) -> None:
        self._exported = name
        dialog = PathDialog(
            self.desk.look,
            "export",
            t("Export {name}").format(name=name),
            about=t(
                "One signed file that another machine installs without a network. It is written "
                "on the machine of the service."
            ),
            verb=t("Export"),
            wanted=Wanted.FOLDER,
            parent=self.view.window(),
        )
        place = QStandardPaths.StandardLocation.DocumentsLocation
        dialog.path.setText(QStandardPaths.writableLocation(place))
        dialog.given.connect(self.export_to)
        dialog.open()

    def _on_import(self) -> None:
        dialog = PathDialog(
            self.desk.look,
            "import",
            t("Install from a file"),
            about=t(
                "A file that `weir runtime export` or another window wrote. It needs no network; "
                "whoever signed it has to be trusted here, which is asked if they are not yet."
            ),
            verb=t("Install"),
            wanted=Wanted.FILE,
            more=t("Fingerprint of the signer, if you have it"),
            parent=self.view.window(),
        )
        dialog.given.connect(self.import_from)
        dialog.open()


def _running(known: Known) -> StageProgress | None:
    found = (
        one
        for one in known.stages
        if one.stage is Stage.RUNTIME and one.state is StageState.RUNNING
    )
    return next(found, None)
