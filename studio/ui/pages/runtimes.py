"""The runtimes page: the disk on top, the list on the left, one runtime on the right."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from studio.ui.language import t
from studio.ui.pages.runtime_detail import (
    NotesCard,
    OpenCard,
    RuntimeCard,
    UpdateCards,
    VersionsCard,
)
from studio.ui.pages.runtime_signers import SignersCard
from studio.ui.theme import Look
from studio.ui.viewmodels.boot import StageView
from studio.ui.viewmodels.problem import ProblemView
from studio.ui.viewmodels.runtimes import RuntimesKnown, empty_words, picks, runtime_view
from studio.ui.viewmodels.runtimes_beside import (
    StopView,
    TrailStep,
    can_forget,
    open_views,
    update_views,
    version_views,
)
from studio.ui.viewmodels.runtimes_done import DoneView
from studio.ui.viewmodels.words import RemovalView
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.cards import Card, ProblemCard
from studio.ui.widgets.disk_meter import DiskMeter
from studio.ui.widgets.done import DoneCard
from studio.ui.widgets.picks import Picks
from studio.ui.widgets.progress import StageRow
from studio.ui.widgets.removal import RemovalCard
from studio.ui.widgets.text import label, show_text
from studio.ui.widgets.trail import Trail


class RuntimesPage(QWidget):
    """Holds the parts; the controller listens to them. Signals: `import_asked`, `free_asked`."""

    import_asked = Signal()
    free_asked = Signal()

    def __init__(self, look: Look) -> None:
        super().__init__()
        self.setObjectName("page")
        self._look = look
        self.disk = DiskMeter(look)
        self._import = Button(look, "runtime-import", t("Install from a file…"))
        self._import.clicked.connect(self.import_asked)
        self._free = Button(look, "runtime-free", t("Free up space…"))
        self._free.clicked.connect(self.free_asked)
        self.disk.add_button(self._import)
        self.disk.add_button(self._free)
        self.picks = Picks(look, "runtime", t("Runtimes"))
        self.problem = ProblemCard(look, "runtimes-problem")
        self.work = WorkCard(look)
        self.said = DoneCard(look, "runtime-done")
        self.garbage = RemovalCard(look, "garbage", t("Keep all"), role="evidence")
        self.card = RuntimeCard(look)
        self.updates = UpdateCards(look)
        self.versions = VersionsCard(look)
        self.open = OpenCard(look)
        self.notes = NotesCard(look)
        self.signers = SignersCard(look)
        self._empty = label("quiet", wrap=True)
        self._empty.setObjectName("runtimes-empty")
        self._outcome: tuple[ProblemView | None, DoneView | None, RemovalView | None] = (
            None, None, None,
        )  # fmt: skip
        self._lay_out()

    def show_known(self, known: RuntimesKnown) -> None:
        """Show list and runtime."""
        self.picks.show_picks(picks(known), known.chosen)
        self.picks.setVisible(bool(known.listed and known.listed.runtimes))
        can_act = known.is_live and not known.is_busy
        for button in (self._import, self._free):
            button.setEnabled(can_act)
        view = runtime_view(known)
        show_text(self._empty, "" if view is not None else empty_words(known))
        self._empty.setVisible(view is None)
        self.card.setVisible(view is not None)
        if view is not None:
            self.card.show_view(view)
            self.notes.show_view(view)
        else:
            self.notes.hide()
        self.updates.show_views(update_views(known) if view is not None else ())
        self.versions.show_views(version_views(known))
        self.open.show_views(open_views(known), can_forget=can_forget(known), can_act=can_act)

    def show_outcome(
        self, problem: ProblemView | None, said: DoneView | None, garbage: RemovalView | None
    ) -> None:
        """Show what was refused, done, or would be removed; what is new comes into view."""
        if (problem, said, garbage) == self._outcome:
            return
        self._outcome = (problem, said, garbage)
        self.problem.show_problem(problem)
        self.said.show_view(said)
        self.garbage.show_view(garbage)
        if any(self._outcome):
            self._bar.setValue(0)

    def _lay_out(self) -> None:
        margin, gap = self._look.space("page_margin"), self._look.space("card_gap")
        content = QWidget()
        content.setObjectName("page")
        column = QVBoxLayout(content)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(gap)
        for widget in (
            self.problem, self.work, self.said, self.garbage, self._empty, self.card,
            self.updates, self.open, self.versions, self.notes, self.signers,
        ):  # fmt: skip
            column.addWidget(widget)
        column.addStretch(1)
        scroll = QScrollArea()
        scroll.setObjectName("runtimes-scroll")
        scroll.setWidgetResizable(True)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setWidget(content)
        self._bar = scroll.verticalScrollBar()
        row = QHBoxLayout()
        row.setSpacing(gap)
        row.addWidget(self.picks)
        row.addWidget(scroll, 1)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(margin, margin, margin, margin - gap)
        whole.setSpacing(gap)
        whole.addWidget(self.disk)
        whole.addLayout(row, 1)


class WorkCard(Card):
    """What is being done to a runtime, and how far it is. Signal: `stopped` (its name)."""

    stopped = Signal(str)

    def __init__(self, look: Look) -> None:
        super().__init__(look, "runtime-work")
        self._row = StageRow(look, "runtime-stage")
        self._trail = Trail(look, "runtime-trail")
        self._stop: StopView | None = None
        self._about = label("quiet", wrap=True)
        self._about.setObjectName("runtime-stop-about")
        self._button = Button(look, "runtime-stop")
        self._button.clicked.connect(self._on_clicked)
        self._ending = QWidget()
        row = QHBoxLayout(self._ending)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(look.space("step") * 3)
        row.addWidget(self._about, 1)
        row.addWidget(self._button)
        for widget in (self._row, self._trail, self._ending):
            self.column.addWidget(widget)
        self.hide()

    def show_stage(
        self, view: StageView | None, steps: tuple[TrailStep, ...], stop: StopView | None
    ) -> None:
        """Show `view` and how it is stopped, or nothing."""
        self.setVisible(view is not None)
        if view is not None:
            self._row.show_stage(view)
        self._trail.show_steps(steps)
        self._stop = stop
        self._ending.setVisible(stop is not None)
        if stop is not None:
            show_text(self._about, stop.about)
            self._button.show_view(stop.button)

    def _on_clicked(self) -> None:
        if self._stop is not None:
            self.stopped.emit(self._stop.runtime)
