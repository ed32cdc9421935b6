"""One plan or two: verdicts, bars of one length above one another, and one table of figures."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from studio.ui.theme import Look
from studio.ui.viewmodels.compare import CompareView, LineView, SideView
from studio.ui.widgets.cards import Card
from studio.ui.widgets.ledger import LedgerBar, Swatch
from studio.ui.widgets.note_list import NoteList
from studio.ui.widgets.sign import Sign
from studio.ui.widgets.text import Elided, label, show_text

_NAME_WIDTH = 116


class PlanTable(Card):
    """What one or two plans come to."""

    def __init__(self, look: Look, name: str) -> None:
        super().__init__(look, name, " ")
        self._look = look
        self._view: CompareView | None = None
        self._busy = label("small")
        self._busy.setObjectName(f"{name}-busy")
        self.column.removeWidget(self.heading)
        head = QHBoxLayout()
        head.addWidget(self.heading, 1)
        head.addWidget(self._busy)
        self.column.addLayout(head)
        self._sides = [_Side(look, f"{name}-side-{place}") for place in range(2)]
        for side in self._sides:
            self.column.addWidget(side)
        self._figures = _Lines(look, f"{name}-figures")
        self._parts = _Lines(look, f"{name}-parts")
        self.column.addSpacing(look.space("step"))
        self.column.addWidget(self._figures)
        self.column.addWidget(self._parts)

    @property
    def view(self) -> CompareView | None:
        """Return what is shown."""
        return self._view

    def show_view(self, view: CompareView) -> None:
        """Show `view`."""
        if view == self._view:
            return
        self._view = view
        show_text(self.heading, view.heading)
        show_text(self._busy, view.busy)
        for place, side in enumerate(self._sides):
            side.setVisible(place < len(view.sides))
            if place < len(view.sides):
                side.show_side(view.sides[place])
        titles = tuple(side.title for side in view.sides) if len(view.sides) > 1 else ()
        self._figures.show_lines(titles, view.figures)
        self._parts.show_lines((), view.parts)


class _Side(QWidget):
    """One plan's title, verdict, bars and what is to be said of it."""

    def __init__(self, look: Look, name: str) -> None:
        super().__init__()
        self.setObjectName(name)
        self._look = look
        self._title = Elided("small")
        self._sign = Sign(look)
        self._verdict = label("lead", wrap=True)
        self._verdict.setObjectName(f"{name}-verdict")
        self._notes = NoteList(look, f"{name}-notes", bullet="• ")
        self._bars: list[tuple[QLabel, LedgerBar, Elided]] = []
        self._bar_column = QVBoxLayout()
        self._bar_column.setSpacing(look.space("step"))
        top = QHBoxLayout()
        top.setSpacing(look.space("step") * 2)
        top.addWidget(self._sign, 0, Qt.AlignmentFlag.AlignVCenter)
        top.addWidget(self._verdict, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, look.space("step"))
        column.setSpacing(look.space("step"))
        column.addWidget(self._title)
        column.addLayout(top)
        column.addLayout(self._bar_column)
        column.addWidget(self._notes)

    def show_side(self, view: SideView) -> None:
        """Show `view`."""
        self._title.show_text(view.title)
        self._title.setVisible(bool(view.title))
        self._sign.show_sign(view.shape, view.role)
        show_text(self._verdict, view.verdict)
        self._notes.show_notes(view.notes)
        while len(self._bars) < len(view.ledgers):
            bar = LedgerBar(self._look, f"{self.objectName()}-bar")
            parts = (label("small", wrap=True), bar, Elided("small"))
            self._bars.append(parts)
            for widget in parts:
                self._bar_column.addWidget(widget)
        for place, (words, bar, line) in enumerate(self._bars):
            shown = place < len(view.ledgers)
            words.setVisible(shown)
            bar.setVisible(shown)
            line.setVisible(shown and bool(view.ledgers[place].line_words))
            if shown:
                ledger = view.ledgers[place]
                show_text(words, ledger.title)
                bar.show_ledger(ledger)
                line.show_text(ledger.line_words)


class _Lines(QWidget):
    """A small table; labels are kept and only their words change."""

    def __init__(self, look: Look, name: str) -> None:
        super().__init__()
        self.setObjectName(name)
        self._look = look
        self._rows: list[tuple[Swatch, Elided, list[QLabel]]] = []
        self._heads = [Elided("small") for _ in range(2)]
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(look.space("step") * 3)
        self._grid.setVerticalSpacing(look.space("step") // 2)
        self._grid.setColumnStretch(1, 1)
        self._grid.setColumnMinimumWidth(1, _NAME_WIDTH)
        for across, head in enumerate(self._heads):
            head.setAlignment(Qt.AlignmentFlag.AlignRight)
            self._grid.addWidget(head, 0, 2 + across)

    def show_lines(self, titles: tuple[str, ...], lines: tuple[LineView, ...]) -> None:
        """Show the lines, with a title over each column where there are two."""
        for place, head in enumerate(self._heads):
            head.setVisible(place < len(titles) and bool(lines))
            head.show_text(titles[place] if place < len(titles) else "")
        while len(self._rows) < len(lines):
            self._add_row()
        for place, row in enumerate(self._rows):
            self._show_row(row, lines[place] if place < len(lines) else None)
        self.setVisible(bool(lines))

    def _show_row(self, row: tuple[Swatch, Elided, list[QLabel]], line: LineView | None) -> None:
        swatch, name, values = row
        swatch.setVisible(line is not None and line.segment is not None)
        name.setVisible(line is not None)
        for across, value in enumerate(values):
            shown = line is not None and across < len(line.values)
            value.setVisible(shown)
            if line is not None and shown:
                show_text(value, line.values[across].text, line.values[across].tooltip)
                value.setFont(self._look.font("body", weight=600 if line.differs else 400))
        if line is None:
            return
        words = f"{line.name}  ≠" if line.differs else line.name
        name.show_text(words, line.values[0].tooltip if line.segment is None else "")
        if line.segment is not None:
            swatch.show_segment(line.segment)

    def _add_row(self) -> None:
        place = len(self._rows) + 1
        swatch, name = Swatch(self._look), Elided("small")
        values = [label() for _ in range(2)]
        self._grid.addWidget(swatch, place, 0, Qt.AlignmentFlag.AlignVCenter)
        self._grid.addWidget(name, place, 1)
        for across, value in enumerate(values):
            value.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            self._grid.addWidget(value, place, 2 + across)
        self._rows.append((swatch, name, values))
