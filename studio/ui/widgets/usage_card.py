"""What keys used, as a card: bars by day, and a table by key or by model."""

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QHBoxLayout, QHeaderView, QVBoxLayout

from studio.domain.keys import UsageBy
from studio.ui.language import t
from studio.ui.theme import Look
from studio.ui.viewmodels.usage import SPANS, DayView, UsageLine, columns
from studio.ui.widgets.box import Box
from studio.ui.widgets.cards import Card
from studio.ui.widgets.day_bars import DayBars
from studio.ui.widgets.segments import Segments
from studio.ui.widgets.table import Cell, Column, Kind, Row, Table
from studio.ui.widgets.text import label, show_text

_KEY_WIDTH = 180
_COLUMN = 84
_MOST_ROWS = 8


class UsageCard(Card):
    """Signal: `changed`: other days, another key, or rows of another kind are wanted."""

    changed = Signal()

    def __init__(self, look: Look) -> None:
        super().__init__(look, "usage")
        self.spans = Segments("usage", t("How far back"), [(one[0], t(one[1])) for one in SPANS])
        self.spans.show_chosen("30d")
        self.spans.chosen.connect(self.changed)
        self.key = Box()
        self.key.setObjectName("usage-key")
        self.key.setAccessibleName(t("Whose use"))
        self.key.setFixedWidth(_KEY_WIDTH)
        self.key.currentIndexChanged.connect(self.changed)
        words = ((UsageBy.KEY, t("By key")), (UsageBy.MODEL, t("By model")))
        self.kinds = Segments(
            "usage-by", t("Rows of the table"), [(one.value, word) for one, word in words]
        )
        self.kinds.show_chosen(UsageBy.KEY.value)
        self.kinds.chosen.connect(self.changed)
        self.bars = DayBars(look, "usage-days", t("Use by day"))
        self._said = label("small")
        self._said.setObjectName("usage-said")
        self.bars.pointed.connect(self._on_said)
        self.tables = {by: self._made(look, by) for by in (UsageBy.KEY, UsageBy.MODEL)}
        self._choices: tuple[tuple[str, str], ...] = ()
        self.key.addItem(t("All keys"), "")
        self._lay_out(look)

    @property
    def days(self) -> int:
        """Return how many days are wanted."""
        return next(days for name, _words, days in SPANS if name == self.spans.value)

    @property
    def by(self) -> UsageBy:
        """Return what the rows of the table are."""
        return UsageBy(self.kinds.value or UsageBy.KEY.value)

    @property
    def chosen(self) -> str:
        """Return the id of the key that is wanted alone; empty: all of them."""
        return str(self.key.currentData() or "")

    def show_keys(self, choices: tuple[tuple[str, str], ...]) -> None:
        """Offer keys, by id and name."""
        if choices == self._choices:
            return
        chosen, self._choices = self.key.currentData(), choices
        blocked = QSignalBlocker(self.key)
        self.key.clear()
        for identity, name in (("", t("All keys")), *choices):
            self.key.addItem(name, identity)
        self.key.setCurrentIndex(max(0, self.key.findData(chosen)))
        blocked.unblock()

    def show_use(
        self, days: tuple[DayView, ...], lines: tuple[UsageLine, ...], *, unread: str = ""
    ) -> None:
        """Show bars and rows; `unread` says why nothing can be said of them yet."""
        self.bars.show_days(() if unread else days, unread)
        self._on_said(self.bars.said)
        for by, table in self.tables.items():
            table.setVisible(by is self.by and bool(lines))
        table = self.tables[self.by]
        table.show_rows([Row(one.id, tuple(Cell(*cell) for cell in one.cells)) for one in lines])
        table.setFixedHeight(table.height_of(0, _MOST_ROWS))

    def _on_said(self, words: str) -> None:
        show_text(self._said, words)

    def _made(self, look: Look, by: UsageBy) -> Table:
        made = [
            Column(
                name,
                title,
                Kind.TEXT if name == "key" else Kind.NUMBER,
                stretches=name == "key",
                tooltip=tooltip,
            )
            for name, title, tooltip in columns(by_model=by is UsageBy.MODEL)
        ]
        table = Table(look, f"usage-{by.value}-table", t("Use by key or model"), made)
        header = table.horizontalHeader()
        header.setMinimumSectionSize(56)
        for place, column in enumerate(made):
            if not column.stretches:
                header.setSectionResizeMode(place, QHeaderView.ResizeMode.Interactive)
                header.resizeSection(place, _COLUMN)
        return table

    def _lay_out(self, look: Look) -> None:
        step = look.space("step")
        top = QHBoxLayout()
        top.setSpacing(step * 3)
        top.addWidget(label("lead", t("Use")))
        top.addWidget(self._said, 1)
        top.addWidget(self.key)
        top.addWidget(self.spans)
        foot = QHBoxLayout()
        foot.addWidget(self.kinds)
        foot.addStretch(1)
        tables = QVBoxLayout()
        for table in self.tables.values():
            table.hide()
            tables.addWidget(table)
        self.column.addLayout(top)
        self.column.addWidget(self.bars)
        self.column.addLayout(foot)
        self.column.addLayout(tables)
