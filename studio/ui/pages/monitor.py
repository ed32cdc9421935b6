"""The monitor page: charts over time, requests, what happened, alarms; one of them in front."""

import enum
from collections.abc import Mapping, Sequence

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QHBoxLayout, QMenu, QScrollArea, QStackedWidget, QVBoxLayout, QWidget

from studio.domain.errors import ErrorInfo
from studio.ui.language import t
from studio.ui.pages.happened import AlarmsPage, EventsPage
from studio.ui.pages.requests import RequestsPage
from studio.ui.theme import Look
from studio.ui.viewmodels.chart_kinds import SPANS, ChartKind
from studio.ui.viewmodels.problem import problem_view
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.cards import ProblemCard
from studio.ui.widgets.chart_board import ChartBoard
from studio.ui.widgets.segments import Segments
from studio.ui.widgets.text import Elided, label, show_text


class Part(enum.StrEnum):
    """What is in front."""

    CHARTS = "charts"
    REQUESTS = "requests"
    EVENTS = "events"
    ALARMS = "alarms"


class Export(enum.StrEnum):
    """What can be saved of the charts."""

    CSV = "csv"
    PICTURE = "picture"


class MonitorPage(QWidget):
    """Signals: `part_chosen` (Part), `span_chosen` (id), `back_asked`, `chart_toggled` (id, shown),
    `usual_asked`, `export_asked` (Export).
    """

    part_chosen = Signal(object)
    span_chosen = Signal(str)
    back_asked = Signal()
    chart_toggled = Signal(str, bool)
    usual_asked = Signal()
    export_asked = Signal(object)

    def __init__(self, look: Look) -> None:
        super().__init__()
        self.setObjectName("page")
        self.part = Part.CHARTS
        self._look = look
        self.board = ChartBoard(look)
        self.requests = RequestsPage(look)
        self.events = EventsPage(look)
        self.alarms = AlarmsPage(look)
        self.problem = ProblemCard(look, "monitor-problem")
        self._tabs = Segments(
            "monitor", t("What to show"), [(part.value, _word(part)) for part in Part]
        )
        self._tabs.chosen.connect(self._on_tab)
        self._choose = Button(look, "choose-charts", t("Choose charts"), icon="monitor")
        self._choose.clicked.connect(self._on_choose)
        self._save = Button(look, "save-charts", t("Save"), icon="save")
        self._save.clicked.connect(self._on_save)
        self.spans = Segments("span", t("How far back"), [(one.id, t(one.words)) for one in SPANS])
        for one in SPANS:
            self.spans.button(one.id).setToolTip(t(one.tooltip))
        self.spans.chosen.connect(self.span_chosen)
        self._back = Button(look, "span-back", t("Back"), icon="back")
        self._back.setToolTip(t("The span before (Escape)"))
        self._back.clicked.connect(self.back_asked)
        self._said = Elided("small")
        self._said.setObjectName("monitor-said")
        self._saved = label("small")
        self._saved.setObjectName("monitor-saved")
        self._stack = QStackedWidget()
        self._offered: tuple[tuple[ChartKind, bool], ...] = ()
        self._lay_out()
        self.show_part(Part.CHARTS)

    def show_part(self, part: Part) -> None:
        """Bring a part to the front."""
        self.part = part
        self._stack.setCurrentIndex(list(Part).index(part))
        self._tabs.show_chosen(part.value)
        for button in (self._choose, self._save):
            button.setVisible(part is Part.CHARTS)

    def show_alarms(self, count: int) -> None:
        """Say on the tab how many alarms hold."""
        word = _word(Part.ALARMS)
        self._tabs.button(Part.ALARMS.value).setText(f"{word} · {count}" if count else word)

    def show_span(self, chosen: str | None, *, can_go_back: bool) -> None:
        """Mark the span; None: one that was drawn by hand."""
        if chosen is not None:
            self.spans.show_chosen(chosen)
        else:
            self.spans.show_none()
        self._back.setVisible(can_go_back)

    @property
    def said(self) -> str:
        """Return what stands beside the spans."""
        return self._said.text()

    @property
    def saved(self) -> str:
        """Return what came of saving."""
        return self._saved.text()

    def show_said(self, words: str) -> None:
        """Say what stands at the crosshair, or which span it is."""
        self._said.show_text(words)

    def show_saved(self, words: str) -> None:
        """Say what came of saving."""
        show_text(self._saved, words)
        self._saved.setVisible(bool(words))

    def show_problem(self, error: ErrorInfo | None) -> None:
        """Show why something could not be read; charts stay."""
        self.problem.show_problem(problem_view(error, can_retry=False) if error else None)

    def offer(self, kinds: Sequence[ChartKind], shown: Mapping[str, bool]) -> None:
        """Say which charts can be chosen, and which are."""
        self._offered = tuple((kind, shown[kind.id]) for kind in kinds)

    def menu_of_charts(self) -> QMenu:
        """Return a menu that stays honest: it is made when it is opened."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.setToolTipsVisible(True)
        for kind, is_shown in self._offered:
            action = menu.addAction(t(kind.title))
            action.setToolTip(t(kind.about))
            action.setCheckable(True)
            action.setChecked(is_shown)
            action.setData(kind.id)
            action.toggled.connect(self._on_toggled)
        menu.addSeparator()
        menu.addAction(t("The usual charts")).triggered.connect(self.usual_asked)
        return menu

    def menu_of_exports(self) -> QMenu:
        """Return what can be saved."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        words = {
            Export.CSV: t("Figures of this span as CSV…"),
            Export.PICTURE: t("These charts as a picture…"),
        }
        for export, word in words.items():
            action = menu.addAction(word)
            action.setData(export.value)
            action.triggered.connect(self._on_export)
        return menu

    def _on_tab(self, value: str) -> None:
        self.part_chosen.emit(Part(value))

    def _on_choose(self) -> None:
        self._pop_up(self.menu_of_charts(), self._choose)

    def _on_save(self) -> None:
        self._pop_up(self.menu_of_exports(), self._save)

    def _pop_up(self, menu: QMenu, button: QWidget) -> None:
        right = button.mapToGlobal(QPoint(button.width(), button.height() + 2))
        menu.popup(right - QPoint(menu.sizeHint().width(), 0))

    def _on_toggled(self, is_shown: bool) -> None:
        action = self.sender()
        if isinstance(action, QAction):
            self.chart_toggled.emit(str(action.data()), is_shown)

    def _on_export(self) -> None:
        action = self.sender()
        if isinstance(action, QAction):
            self.export_asked.emit(Export(str(action.data())))

    def _lay_out(self) -> None:
        margin, step = self._look.space("page_margin"), self._look.space("step")
        top = QHBoxLayout()
        top.setContentsMargins(margin, margin, margin, step * 2)
        top.setSpacing(step * 2)
        top.addWidget(self._tabs)
        top.addStretch(1)
        top.addWidget(self._choose)
        top.addWidget(self._save)
        for part in (self._charts(), self.requests, self.events, self.alarms):
            self._stack.addWidget(part)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(top)
        column.addWidget(self._stack, 1)

    def _charts(self) -> QWidget:
        margin, step = self._look.space("page_margin"), self._look.space("step")
        row = QHBoxLayout()
        row.setContentsMargins(margin, 0, margin, step * 2)
        row.setSpacing(step * 3)
        row.addWidget(self.spans)
        row.addWidget(self._back)
        row.addWidget(self._said, 1)
        content = QWidget()
        content.setObjectName("page")
        inside = QVBoxLayout(content)
        inside.setContentsMargins(margin, step, margin, margin)
        inside.setSpacing(self._look.space("card_gap"))
        inside.addWidget(self.problem)
        inside.addWidget(self._saved)
        inside.addWidget(self.board)
        inside.addStretch(1)
        scroll = QScrollArea()
        scroll.setObjectName("chart-scroll")
        scroll.setWidgetResizable(True)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setWidget(content)
        self._saved.hide()
        part = QWidget()
        column = QVBoxLayout(part)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(row)
        column.addWidget(scroll, 1)
        return part


def _word(part: Part) -> str:
    return {
        Part.CHARTS: t("Charts"),
        Part.REQUESTS: t("Requests"),
        Part.EVENTS: t("What happened"),
        Part.ALARMS: t("Alarms"),
    }[part]
