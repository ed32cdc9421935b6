"""The home page: choose and start, watch it come up, then watch the weir."""

import time
from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from studio.domain.events import Stage
from studio.domain.metrics import Tick
from studio.ui.language import t
from studio.ui.pages.welcome import Welcome
from studio.ui.pages.wsl import WslPart
from studio.ui.serving import Served
from studio.ui.state import Known, Link, is_busy
from studio.ui.theme import Look
from studio.ui.viewmodels.boot import boot_view
from studio.ui.viewmodels.keys import secret_view
from studio.ui.viewmodels.live import NoticeView, failure_notice, notices, requests_view
from studio.ui.viewmodels.plan import plan_view
from studio.ui.viewmodels.presets import ChooserView, chooser_view
from studio.ui.viewmodels.problem import problem_view
from studio.ui.viewmodels.serve import Mode, mode_of, serve_view
from studio.ui.viewmodels.welcome import WelcomeView
from studio.ui.viewmodels.words import Text
from studio.ui.viewmodels.wsl import WslView
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.cards import Card, ProblemCard, SecretCard
from studio.ui.widgets.chart import Chart
from studio.ui.widgets.figure import Figure
from studio.ui.widgets.gauge import Gauge
from studio.ui.widgets.notices import Notices
from studio.ui.widgets.plan_card import PlanCard
from studio.ui.widgets.preset_list import PresetList
from studio.ui.widgets.progress import StageRow, Timeline
from studio.ui.widgets.requests import Requests
from studio.ui.widgets.text import label, show_text
from studio.ui.widgets.try_panel import TryPanel

_SIDE_WIDTH = 292


class ServePage(QWidget):
    """Signals: `preset_chosen` (id), `start_asked` (from the chooser), `cards_chosen` (indices).

    What the first run would do, and its one button, stay at the foot while the rest scrolls.
    """

    preset_chosen = Signal(str)
    start_asked = Signal()
    cards_chosen = Signal(object)

    def __init__(self, look: Look) -> None:
        super().__init__()
        self.setObjectName("page-serve")
        self.scroller = QScrollArea()
        self.scroller.setWidgetResizable(True)
        self.scroller.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.scroller.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._look = look
        self._served = Served()
        self.problem = ProblemCard(look, "problem")
        self.secret = SecretCard(look, "secret")
        self._chooser = _Chooser(look)
        self._chooser.presets.chosen.connect(self.preset_chosen)
        self._chooser.plan.cards.chosen.connect(self.cards_chosen)
        self._chooser.start.clicked.connect(self.start_asked)
        self.first_steps = self._chooser.first_steps
        self.welcome = Welcome(look)
        self.wsl = WslPart(look)
        self._progress = _Progress(look)
        self._weir = _Weir(look)
        self.alarms = Notices(look)
        self.requests = Requests(look)
        self.try_panel = TryPanel(look, "home-try")
        self._below = QWidget()
        self.charts = [Chart(look, f"chart-{name}") for name in ("pool", "decode", "ttft", "seats")]
        self._charts = QWidget()
        self._lay_out()

    def show_known(
        self,
        known: Known,
        now_s: float,
        chosen: str | None,
        choosing: bool,
        served: Served | None = None,
        welcome: WelcomeView | None = None,
        wsl: WslView | None = None,
    ) -> None:
        """Show everything but the ticks; `welcome` and `wsl` take the place of the chooser."""
        mode = mode_of(known, choosing=choosing)
        wsl = wsl if mode is Mode.CHOOSE else None
        welcome = welcome if mode is Mode.CHOOSE and wsl is None else None
        self.wsl.show_view(wsl)
        self._chooser.setVisible(mode is Mode.CHOOSE and welcome is None and wsl is None)
        self.welcome.show_view(welcome)
        self._progress.setVisible(mode is Mode.PROGRESS)
        self._weir.setVisible(mode is Mode.WEIR)
        served = served or Served()
        self._served = served
        self._below.setVisible(mode is Mode.WEIR)
        wrong = served.problem or known.problem
        wrong = None if served.is_fixing else wrong
        self.problem.show_problem(problem_view(wrong, offered=served.offered) if wrong else None)
        secret = known.secret
        base_url = known.gateway.base_url
        self.secret.show_secret(secret_view(secret, base_url) if secret else None)
        self._chooser.show_view(chooser_view(known, chosen))
        self._chooser.show_plan(known, served)
        self.alarms.show_notices(self._notices(known, mode, served, is_told=wrong is not None))
        if mode is Mode.WEIR:
            pool = served.pool if known.link is Link.LIVE else None
            self.requests.show_requests(requests_view(pool, served.queue, time.time()))
        if mode is Mode.PROGRESS:
            self._progress.show_known(known, now_s)

    def _notices(
        self, known: Known, mode: Mode, served: Served, *, is_told: bool
    ) -> tuple[NoticeView, ...]:
        """Return the alarms, and what failed last while no card tells of it already."""
        if known.link is not Link.LIVE:
            return ()
        found = notices(served.alarms, served.offered, is_fixing=served.is_fixing)
        if mode is not Mode.CHOOSE or is_told or known.engine.is_serving:
            return found
        last = failure_notice(
            served.failure,
            served.offered,
            can_start=not is_busy(known),
            is_fixing=served.is_fixing,
        )
        return (*last, *found)

    def show_ticks(self, known: Known, ticks: Sequence[Tick]) -> None:
        """Show gauge, figures and charts."""
        view = serve_view(known, ticks, self._served.pool)
        self._weir.gauge.show_gauge(view.gauge)
        for figure, figure_view in zip(self._weir.figures, view.figures, strict=True):
            figure.show_figure(figure_view)
        self._weir.show_facts(view.gauge.facts)
        for chart, chart_view in zip(self.charts, view.charts, strict=True):
            chart.show_chart(chart_view)
        self._charts.setVisible(view.show_charts)

    def _lay_out(self) -> None:
        content = QWidget()
        content.setObjectName("page")
        column = QVBoxLayout(content)
        margin = self._look.space("page_margin")
        column.setContentsMargins(margin, margin, margin, margin)
        column.setSpacing(self._look.space("card_gap"))
        grid = QGridLayout(self._charts)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setSpacing(self._look.space("card_gap"))
        for place, chart in enumerate(self.charts):
            grid.addWidget(chart, place // 2, place % 2)
        below = QHBoxLayout(self._below)
        below.setContentsMargins(0, 0, 0, 0)
        below.setSpacing(self._look.space("card_gap"))
        below.addWidget(self.requests, 1)
        below.addWidget(self.try_panel, 1)
        for part in (
            self.problem,
            self.secret,
            self.alarms,
            self._chooser,
            self.welcome,
            self.wsl,
            self._progress,
            self._weir,
            self._below,
        ):
            column.addWidget(part)
        column.addWidget(self._charts)
        column.addStretch(1)
        self.scroller.setWidget(content)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        whole.addWidget(self.scroller, 1)
        whole.addWidget(self.welcome.foot)
        whole.addWidget(self.wsl.foot)


class _Chooser(QWidget):
    def __init__(self, look: Look) -> None:
        super().__init__()
        self.presets = PresetList(look)
        self.plan = PlanCard(look, "plan")
        self.start = self.plan.start
        choose = Card(look, "chooser", " ")
        self._heading = choose.heading
        choose.column.addWidget(self.presets)
        choose.column.addStretch(1)
        machine = Card(look, "machine", t("This machine"))
        self._facts = QVBoxLayout()
        self._facts.setSpacing(look.space("step") * 2)
        machine.column.addLayout(self._facts)
        machine.column.addStretch(1)
        self.first_steps = Button(look, "first-steps", t("First steps"), kind="plain", icon="info")
        machine.column.addWidget(self.first_steps, 0, Qt.AlignmentFlag.AlignLeft)
        self._shown: tuple[str, ...] = ()
        self._values: list[QLabel] = []
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(look.space("card_gap"))
        side = QWidget()
        side.setFixedWidth(_SIDE_WIDTH)
        aside = QVBoxLayout(side)
        aside.setContentsMargins(0, 0, 0, 0)
        aside.setSpacing(look.space("card_gap"))
        aside.addWidget(self.plan)
        aside.addWidget(machine)
        aside.addStretch(1)
        row.addWidget(choose, 1, Qt.AlignmentFlag.AlignTop)
        row.addWidget(side)

    def show_view(self, view: ChooserView) -> None:
        show_text(self._heading, view.heading)
        self.presets.show_rows(view.rows, view.empty)
        self.start.show_view(view.button)
        labels = tuple(name for name, _ in view.facts)
        if labels != self._shown:
            self._rebuild_facts(labels)
        for value, (_, text) in zip(self._values, view.facts, strict=True):
            show_text(value, text.text, text.tooltip)

    def show_plan(self, known: Known, served: Served) -> None:
        view = plan_view(
            served.plan,
            served.plan_problem,
            is_planning=served.is_planning,
            is_live=known.link is Link.LIVE,
        )
        self.plan.show_plan(view)
        cards = known.host.gpus if known.host else ()
        self.plan.cards.show_cards(cards, served.plan.gpus if served.plan else ())

    def _rebuild_facts(self, labels: tuple[str, ...]) -> None:
        while (item := self._facts.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.deleteLater()
        self._shown, self._values = labels, []
        for name in labels:
            pair = QWidget()
            column = QVBoxLayout(pair)
            column.setContentsMargins(0, 0, 0, 0)
            column.setSpacing(1)
            value = label(wrap=True)
            column.addWidget(label("small", name))
            column.addWidget(value)
            self._values.append(value)
            self._facts.addWidget(pair)


class _Progress(Card):
    def __init__(self, look: Look) -> None:
        super().__init__(look, "progress", " ")
        self._stages = {stage: StageRow(look, f"stage-{stage.value}") for stage in Stage}
        self._timeline = Timeline(look, "timeline")
        for stage, row in self._stages.items():
            self.column.addWidget(row)
            if stage is Stage.BOOT:
                self._inset = QWidget()
                inside = QHBoxLayout(self._inset)
                inside.setContentsMargins(26, 0, 0, 4)
                inside.addWidget(self._timeline)
                self.column.addWidget(self._inset)

    def show_known(self, known: Known, now_s: float) -> None:
        view = boot_view(known, now_s)
        show_text(self.heading, view.heading)
        for stage in view.stages:
            self._stages[stage.stage].show_stage(stage)
        self._inset.setVisible(view.timeline is not None)
        if view.timeline is not None:
            self._timeline.show_timeline(view.timeline)


class _Weir(QWidget):
    def __init__(self, look: Look) -> None:
        super().__init__()
        self.gauge = Gauge(look, "gauge")
        self.figures = [Figure(look, f"figure-{name}") for name in ("pool", "spill", "speed")]
        card = Card(look, "weir")
        card.column.addWidget(self.gauge, 1)
        self._facts = QHBoxLayout()
        self._facts.setSpacing(look.space("card_gap"))
        self._values: list[tuple[str, QLabel]] = []
        card.column.addLayout(self._facts)
        side = QVBoxLayout()
        side.setSpacing(look.space("card_gap"))
        for figure in self.figures:
            figure.setFixedWidth(_SIDE_WIDTH)
            figure.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Expanding)
            side.addWidget(figure)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(look.space("card_gap"))
        row.addWidget(card, 1)
        row.addLayout(side)
        self.setMinimumHeight(352)

    def show_facts(self, facts: tuple[tuple[str, Text], ...]) -> None:
        if not self._values:
            for name, _ in facts:
                column = QVBoxLayout()
                column.setSpacing(1)
                value = label()
                column.addWidget(label("small", name))
                column.addWidget(value)
                self._facts.addLayout(column, 1)
                self._values.append((name, value))
        for (_, value), (_, text) in zip(self._values, facts, strict=True):
            show_text(value, text.text, text.tooltip)
