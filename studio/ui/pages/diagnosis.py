"""Diagnosis and boots: causes with their remedies, a log or a report dropped here, past boots."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import (
    QFileDialog,
    QGridLayout,
    QHBoxLayout,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from studio.domain.errors import ErrorInfo
from studio.ui.language import t
from studio.ui.theme import Look
from studio.ui.viewmodels.diagnosis import BootView, CauseView, RemedyLine
from studio.ui.viewmodels.problem import problem_view
from studio.ui.widgets.buttons import Button, CopyButton
from studio.ui.widgets.cards import Card, ProblemCard
from studio.ui.widgets.sign import Sign
from studio.ui.widgets.text import Elided, label, selectable, show_text


class DiagnosisPage(QScrollArea):
    """Signals: `file_given` (path), `line_asked` (text of a line), `remedy_asked` (RemedyLine),
    `again_asked`, `problem_dismissed`.
    """

    file_given = Signal(str)
    line_asked = Signal(str)
    remedy_asked = Signal(object)
    again_asked = Signal()
    problem_dismissed = Signal()

    def __init__(self, look: Look) -> None:
        super().__init__()
        self.setObjectName("page-diagnosis")
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAcceptDrops(True)
        self._look = look
        self.problem = ProblemCard(look, "diagnosis-problem")
        self.problem.dismissed.connect(self.problem_dismissed)
        self._headline = label(wrap=True)
        self._headline.setObjectName("diagnosis-headline")
        self._open = Button(look, "diagnosis-open", t("Open a log…"))
        self._open.clicked.connect(self._on_open)
        self._last = Button(look, "diagnosis-last", t("What failed last"), icon="restart")
        self._last.clicked.connect(self.again_asked)
        self._causes: tuple[CauseView, ...] = ()
        self._can_act = True
        self._cards = QVBoxLayout()
        self._cards.setSpacing(look.space("card_gap"))
        self._lay_out()

    def show_view(
        self,
        headline: str,
        causes: tuple[CauseView, ...],
        *,
        can_act: bool,
        is_of_file: bool = False,
    ) -> None:
        """Show what is known; `can_act`: nothing is under way; `is_of_file`: a file was read."""
        show_text(self._headline, headline)
        self._last.setVisible(is_of_file)
        if (causes, can_act) == (self._causes, self._can_act):
            return
        self._causes, self._can_act = causes, can_act
        while (item := self._cards.takeAt(0)) is not None:
            old = item.widget()
            if old is not None:
                old.hide()
                old.deleteLater()
        for number, cause in enumerate(causes):
            card = _CauseCard(self._look, f"cause-{number}", cause, can_act=can_act)
            card.line_asked.connect(self.line_asked)
            card.remedy_asked.connect(self.remedy_asked)
            self._cards.addWidget(card)

    def show_problem(self, error: ErrorInfo | None) -> None:
        """Show what was refused, or nothing."""
        self.problem.show_problem(problem_view(error, can_retry=False) if error else None)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Take one file."""
        urls = event.mimeData().urls()
        if len(urls) == 1 and urls[0].isLocalFile():
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Read the file."""
        self.file_given.emit(event.mimeData().urls()[0].toLocalFile())
        event.acceptProposedAction()

    def _on_open(self) -> None:
        kinds = t("Logs and reports (*.log *.txt *.zip *.gz);;All files (*)")
        path, _kind = QFileDialog.getOpenFileName(self, t("Open a log"), "", kinds)
        if path:
            self.file_given.emit(path)

    def _lay_out(self) -> None:
        content = QWidget()
        content.setObjectName("page")
        column = QVBoxLayout(content)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(self._look.space("card_gap"))
        head = QHBoxLayout()
        head.addWidget(self._headline, 1)
        head.addWidget(self._last)
        head.addWidget(self._open)
        column.addLayout(head)
        column.addWidget(self.problem)
        column.addLayout(self._cards)
        column.addStretch(1)
        self.setWidget(content)


class _CauseCard(Card):
    """One cause. Signals: `line_asked` (text), `remedy_asked` (RemedyLine)."""

    line_asked = Signal(str)
    remedy_asked = Signal(object)

    def __init__(self, look: Look, name: str, cause: CauseView, *, can_act: bool) -> None:
        super().__init__(look, name, kind="problem")
        self._cause = cause
        self._offers: dict[str, RemedyLine] = {}
        title = selectable("lead", t("Cause"))
        title.setObjectName(f"{name}-title")
        title.setWordWrap(True)
        title.setText(cause.title)
        self.column.addWidget(title)
        if cause.evidence:
            evidence = selectable("evidence", t("Lines of the log that prove it"))
            evidence.setWordWrap(True)
            evidence.setText(cause.evidence)
            self.column.addWidget(evidence)
        for number, remedy in enumerate(cause.remedies):
            self.column.addLayout(self._row(look, f"{name}-remedy-{number}", remedy, can_act))
        foot = QHBoxLayout()
        show = Button(look, f"{name}-show", t("Show in the log"), icon="search")
        show.setEnabled(bool(cause.first_line))
        show.clicked.connect(self._on_show)
        foot.addWidget(show)
        foot.addStretch(1)
        foot.addWidget(label("code", cause.code))
        self.column.addLayout(foot)

    def _row(self, look: Look, name: str, remedy: RemedyLine, can_act: bool) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(look.space("step") * 3)
        row.addWidget(label(text=remedy.text, wrap=True), 1)
        if remedy.number is not None:
            self._offers[name] = remedy
            words = t("Do it")
            button = Button(look, name, words, kind="primary")
            button.setAccessibleName(f"{words}: {remedy.text}")
            button.setEnabled(can_act)
            button.clicked.connect(self._on_remedy)
            row.addWidget(button)
        elif remedy.command is not None:
            copy = CopyButton(look, name, t("Copy command"))
            copy.setToolTip(remedy.command)
            copy.offer(remedy.command)
            row.addWidget(copy)
        return row

    def _on_show(self) -> None:
        self.line_asked.emit(self._cause.first_line)

    def _on_remedy(self) -> None:
        self.remedy_asked.emit(self._offers[self.sender().objectName()])


class BootsPage(QScrollArea):
    """The last boots, the newest first."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self.setObjectName("page-boots")
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._look = look
        self._rows: tuple[BootView, ...] | None = None
        self._empty = ""

    def show_rows(self, rows: tuple[BootView, ...], empty: str) -> None:
        """Show the boots, or why there is none."""
        if (rows, empty) == (self._rows, self._empty):
            return
        self._rows, self._empty = rows, empty
        content = QWidget()
        content.setObjectName("page")
        column = QVBoxLayout(content)
        column.setContentsMargins(0, 0, 0, 0)
        if empty:
            column.addWidget(label("quiet", empty, wrap=True))
        else:
            column.addWidget(self._table(rows))
        column.addStretch(1)
        self.setWidget(content)

    def _table(self, rows: tuple[BootView, ...]) -> Card:
        card = Card(self._look, "boots")
        grid = QGridLayout()
        grid.setHorizontalSpacing(self._look.space("step") * 4)
        grid.setVerticalSpacing(self._look.space("step"))
        grid.setColumnStretch(1, 1)
        heads = (t("Began"), t("Preset"), "", t("Outcome"), t("Kind"), t("Boot"), t("Pool"))
        for place, head in enumerate(heads):
            heading = label("small", head)
            heading.setContentsMargins(0, 0, 0, self._look.space("step"))
            grid.addWidget(heading, 0, place)
        for number, row in enumerate(rows):
            sign = Sign(self._look)
            sign.show_sign(row.shape, row.role)
            grid.addWidget(sign, 2 * number + 1, 2)
            cells = (row.at, row.preset, None, row.outcome, row.kind, row.seconds, row.pool)
            for place, cell in enumerate(cells):
                if cell is not None:
                    grid.addWidget(_cell(cell), 2 * number + 1, place)
            phases = label("small", row.phases, wrap=True)
            phases.setObjectName(f"boot-{number}-phases")
            phases.setContentsMargins(0, 0, 0, self._look.space("step") * 2)
            grid.addWidget(phases, 2 * number + 2, 1, 1, len(cells) - 1)
        card.column.addLayout(grid)
        return card


def _cell(text: str) -> Elided:
    made = Elided()
    made.show_text(text)
    return made
