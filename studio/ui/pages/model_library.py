"""The library: a table of all models, the one that is marked in full below it."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QScrollArea, QSplitter, QVBoxLayout, QWidget

from studio.domain.events import Stage
from studio.ui.language import t
from studio.ui.pages.model_files import FilesCard, table_rows
from studio.ui.theme import Look
from studio.ui.viewmodels.boot import StageView
from studio.ui.viewmodels.models import CheckView, ModelDeed, ModelRow, ModelView
from studio.ui.viewmodels.words import RemovalView, Role, Shape
from studio.ui.widgets.buttons import Button, CopyButton
from studio.ui.widgets.cards import Card
from studio.ui.widgets.facts import Facts
from studio.ui.widgets.flow import Flow
from studio.ui.widgets.progress import StageRow
from studio.ui.widgets.removal import RemovalCard
from studio.ui.widgets.sign import Sign
from studio.ui.widgets.table import Column, Kind, Table
from studio.ui.widgets.text import Elided, label, show_text

_WIDTHS = (0, 104, 104, 112, 96, 132)
_TABLE_SHARE = (3, 4)
"""At most, of the height: the table, and the model in front."""
_LEAST_ROWS = 3
_TABLE_LEAST = 140
_FIND_WIDTH = 240


class LibraryPart(QWidget):
    """Signals: `marked` (path), `sought` (text), `done` (ModelDeed), `removed`, `kept`."""

    marked = Signal(str)
    sought = Signal(str)
    done = Signal(object)
    removed = Signal()
    kept = Signal()

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self.table = Table(look, "models", t("Models"), _columns())
        header = self.table.horizontalHeader()
        for number, width in enumerate(_WIDTHS):
            if width:
                header.resizeSection(number, width)
        self.table.setMinimumHeight(_TABLE_LEAST)
        self.table.marked.connect(self.marked)
        self._empty = label("quiet", wrap=True)
        self._empty.setObjectName("models-empty")
        self._empty.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._lost = label("body", wrap=True)
        self._lost.setObjectName("models-lost")
        self.field = QLineEdit()
        self.field.setObjectName("models-find")
        self.field.setPlaceholderText(t("Find a model (Ctrl+F)"))
        self.field.setAccessibleName(t("Find a model (Ctrl+F)"))
        self.field.setClearButtonEnabled(True)
        self.field.setFixedWidth(_FIND_WIDTH)
        self.field.textChanged.connect(self.sought)
        self._summary = Elided("quiet")
        self._summary.setObjectName("models-summary")
        self.card = ModelCard(look)
        self.card.done.connect(self.done)
        self.files = FilesCard(look)
        self.question = RemovalCard(look, "model-remove", t("Keep it"))
        self.question.removed.connect(self.removed)
        self.question.kept.connect(self.kept)
        self._is_chosen = False
        self._lay_out()

    def show_rows(self, rows: tuple[ModelRow, ...], chosen: str | None, empty: str) -> None:
        """Show the table, or why it is empty."""
        self.table.show_rows(table_rows(rows))
        if chosen is not None and self.table.chosen != chosen:
            self.table.mark(chosen)
        self._split.setVisible(bool(rows))
        self._share()
        show_text(self._empty, empty)
        self._empty.setVisible(bool(empty))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Give the table what its rows need, and the model in front the rest."""
        super().resizeEvent(event)
        self._share()

    def _share(self) -> None:
        """Few models leave their room to the one in front, unless a person moved the bar."""
        if self._is_chosen:
            return
        whole = self._split.height() - self._split.handleWidth()
        most = whole * _TABLE_SHARE[0] // sum(_TABLE_SHARE)
        table = min(self.table.height_of(_LEAST_ROWS), most)
        self._split.setSizes([table, whole - table])

    def _on_moved(self) -> None:
        self._is_chosen = True

    def show_lost(self, text: str) -> None:
        """Say which models presets miss; nothing where none is."""
        show_text(self._lost, text)
        self._lost.setVisible(bool(text))

    def show_summary(self, text: str) -> None:
        """Say how much lies here."""
        self._summary.show_text(text)
        self.field.setVisible(bool(text))

    def show_model(self, view: ModelView | None, question: RemovalView | None) -> None:
        """Show the marked model, and the question about its end."""
        self.card.setVisible(view is not None)
        self.files.setVisible(view is not None)
        if view is not None:
            self.card.show_view(view)
        is_new = question is not None and self.question.isHidden()
        self.question.show_view(question)
        if is_new:
            self._bar.setValue(0)

    def _lay_out(self) -> None:
        gap = self._look.space("card_gap")
        content = QWidget()
        content.setObjectName("page")
        column = QVBoxLayout(content)
        column.setContentsMargins(0, gap // 2, 0, 0)
        column.setSpacing(gap)
        column.addWidget(self.question)
        column.addWidget(self.card)
        column.addWidget(self.files)
        column.addStretch(1)
        scroll = QScrollArea()
        scroll.setObjectName("models-scroll")
        scroll.setWidgetResizable(True)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setWidget(content)
        self._bar = scroll.verticalScrollBar()
        self._split = QSplitter(Qt.Orientation.Vertical)
        self._split.setChildrenCollapsible(False)
        self._split.splitterMoved.connect(self._on_moved)
        self._split.addWidget(self.table)
        self._split.addWidget(scroll)
        for place, share in enumerate(_TABLE_SHARE):
            self._split.setStretchFactor(place, share)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(gap // 2)
        whole.addWidget(self._lost)
        whole.addWidget(self._empty)
        whole.addWidget(self._split, 1)
        foot = QHBoxLayout()
        foot.addWidget(self._summary, 1)
        foot.addWidget(self.field)
        whole.addLayout(foot)
        whole.setStretchFactor(self._empty, 0)


class ModelCard(Card):
    """One model. Signal: `done` (ModelDeed)."""

    done = Signal(object)

    def __init__(self, look: Look) -> None:
        super().__init__(look, "model")
        self._look = look
        self._title = Elided("lead")
        self._title.setObjectName("model-title")
        self._sign = Sign(look)
        self._state = label("quiet")
        self._state.setObjectName("model-state")
        self._reasons = label(wrap=True)
        self._reasons.setObjectName("model-reasons")
        self._check = StageRow(look, "model-check")
        self._facts = Facts(look, "model-facts")
        self._buttons: dict[ModelDeed, Button] = {}
        self._row = QWidget()
        flow = Flow(look.space("step") * 2, self._row)
        for deed in ModelDeed:
            button = Button(look, f"model-{deed.value}")
            button.clicked.connect(self._on_clicked)
            self._buttons[deed] = button
            flow.addWidget(button)
        self._copy = CopyButton(look, "model-copy", t("Copy path"), kind="plain")
        flow.addWidget(self._copy)
        head = QHBoxLayout()
        head.setSpacing(look.space("step") * 2)
        head.addWidget(self._title, 1)
        head.addWidget(self._sign)
        head.addWidget(self._state)
        self.column.addLayout(head)
        for widget in (self._reasons, self._check, self._row, self._facts):
            self.column.addWidget(widget)

    def show_view(self, view: ModelView) -> None:
        """Show `view`."""
        self._title.show_text(view.title)
        show_text(self._state, view.sign.text)
        self._sign.show_sign(view.sign.shape, view.sign.role)
        show_text(self._reasons, "\n".join(f"• {one}" for one in view.reasons))
        self._reasons.setVisible(bool(view.reasons))
        self._check.setVisible(view.check is not None)
        if view.check is not None:
            self._check.show_stage(_stage(view.check))
        self._facts.show_facts(view.facts)
        self._copy.offer(view.path)
        for deed, button in view.deeds:
            self._buttons[deed].show_view(button)

    def _on_clicked(self) -> None:
        self.done.emit(
            next(deed for deed, button in self._buttons.items() if button is self.sender())
        )


def _columns() -> tuple[Column, ...]:
    return (
        Column("name", t("Model"), stretches=True),
        Column("state", t("State")),
        Column("parameters", t("Parameters"), Kind.NUMBER),
        Column("weights", t("Weights")),
        Column("size", t("Size"), Kind.SIZE),
        Column("uses", t("Used by")),
    )


def _stage(check: CheckView) -> StageView:
    return StageView(
        stage=Stage.MODEL,
        title=check.word,
        word=check.word,
        role=Role.WATER,
        shape=Shape.HALF,
        note="",
        share=check.share,
        running=True,
        amount=check.amount,
        rate="",
    )
