"""Two parts of the monitor page: what happened in the span, and alarms with their remedies."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHeaderView, QScrollArea, QVBoxLayout, QWidget

from studio.ui.language import t
from studio.ui.theme import Look
from studio.ui.viewmodels.happened import EndedLine, EventLine
from studio.ui.viewmodels.live import NoticeView
from studio.ui.widgets.notices import Notices
from studio.ui.widgets.table import Cell, Column, Kind, Row, Table
from studio.ui.widgets.text import label, show_text

_WHEN, _KIND, _NAME = 150, 150, 150
_HEAD, _ROW, _MOST_ROWS = 36, 34, 12


class EventsPage(QWidget):
    """Signal: `opened` (moment): show it in the charts."""

    opened = Signal(float)

    def __init__(self, look: Look) -> None:
        super().__init__()
        self.setObjectName("events-part")
        self._lines: dict[str, EventLine] = {}
        self._said = label("quiet", wrap=True)
        self._said.setObjectName("events-said")
        columns = (
            Column("when", t("When"), Kind.TEXT),
            Column("kind", t("What"), Kind.TEXT),
            Column("name", t("To what"), Kind.TEXT),
            Column("detail", t("With what figures"), Kind.TEXT, stretches=True),
        )
        self.table = Table(look, "events-table", t("What happened, the newest first"), columns)
        _size(self.table, (_WHEN, _KIND, _NAME))
        self.table.opened.connect(self._on_opened)
        margin, step = look.space("page_margin"), look.space("step")
        column = QVBoxLayout(self)
        column.setContentsMargins(margin, 0, margin, margin)
        column.setSpacing(step * 2)
        column.addWidget(self._said)
        column.addWidget(self.table, 1)

    def show_lines(self, lines: tuple[EventLine, ...], said: str) -> None:
        """Show events."""
        self._lines = {line.id: line for line in lines}
        self.table.show_rows(
            [
                Row(
                    line.id,
                    (
                        Cell(line.when, line.at),
                        Cell(line.kind),
                        Cell(line.name),
                        Cell(line.detail),
                    ),
                )
                for line in lines
            ]
        )
        show_text(self._said, said)

    def _on_opened(self, identity: str) -> None:
        self.opened.emit(self._lines[identity].at)


class AlarmsPage(QScrollArea):
    """Signals: `done` (Deed)."""

    done = Signal(object)

    def __init__(self, look: Look) -> None:
        super().__init__()
        self.setObjectName("alarms-part")
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._said = label("quiet", wrap=True)
        self._said.setObjectName("alarms-said")
        self._muted = label("small", wrap=True)
        self.notices = Notices(look)
        self.notices.done.connect(self.done)
        self._heading = label("lead", t("Over since the service started"))
        columns = (
            Column("when", t("When"), Kind.TEXT),
            Column("lasted", t("Lasted"), Kind.AGE),
            Column("severity", t("How bad"), Kind.TEXT),
            Column("title", t("What"), Kind.TEXT),
            Column("cause", t("Why"), Kind.TEXT, stretches=True),
        )
        self.table = Table(look, "ended-table", t("Alarms that are over"), columns)
        _size(self.table, (_WHEN, 96, 90, 210))
        content = QWidget()
        content.setObjectName("page")
        margin = look.space("page_margin")
        column = QVBoxLayout(content)
        column.setContentsMargins(margin, 0, margin, margin)
        column.setSpacing(look.space("card_gap"))
        for widget in (self._said, self.notices, self._muted, self._heading):
            column.addWidget(widget)
        column.addWidget(self.table)
        column.addStretch(1)
        self.setWidget(content)

    def show_alarms(
        self, said: str, notices: tuple[NoticeView, ...], muted: str, ended: tuple[EndedLine, ...]
    ) -> None:
        """Show what holds, and what is over."""
        show_text(self._said, said)
        show_text(self._muted, muted)
        self._muted.setVisible(bool(muted))
        self.notices.show_notices(notices)
        self._heading.setVisible(bool(ended))
        self.table.setVisible(bool(ended))
        self.table.setFixedHeight(_HEAD + _ROW * min(len(ended), _MOST_ROWS))
        self.table.show_rows(
            [
                Row(
                    line.id,
                    (
                        Cell(line.when, line.raised_at),
                        Cell(line.lasted, line.lasted_s),
                        Cell(line.severity),
                        Cell(line.title),
                        Cell(line.cause),
                    ),
                )
                for line in ended
            ]
        )


def _size(table: Table, widths: tuple[int, ...]) -> None:
    header = table.horizontalHeader()
    for place, width in enumerate(widths):
        header.setSectionResizeMode(place, QHeaderView.ResizeMode.Interactive)
        header.resizeSection(place, width)
