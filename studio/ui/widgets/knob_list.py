"""All settings of a preset: searched, the decisive ones first, the others behind one button."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLineEdit, QScrollArea, QVBoxLayout, QWidget

from studio.ui.language import t
from studio.ui.theme import Look
from studio.ui.viewmodels.knobs import KnobsView, KnobView
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.cards import Card
from studio.ui.widgets.knob_row import KnobRow
from studio.ui.widgets.text import label, show_text

_SEARCH_WIDTH = 168


class KnobList(Card):
    """Signals: `typed` (name, text), `stepped` (name, how far), `searched` (text), `folded`."""

    typed = Signal(str, str)
    stepped = Signal(str, int)
    searched = Signal(str)
    folded = Signal()

    def __init__(self, look: Look) -> None:
        super().__init__(look, "knobs")
        self._look = look
        self._rows: dict[str, KnobRow] = {}
        self._lines: list[QFrame] = []
        self._shown: tuple[str, ...] = ()
        self._note = label("small")
        self._note.setObjectName("knobs-note")
        self.field = QLineEdit()
        self.field.setObjectName("knobs-search")
        self.field.setPlaceholderText(t("Search the settings"))
        self.field.setAccessibleName(t("Search the settings"))
        self.field.setClearButtonEnabled(False)
        self.field.setFixedWidth(_SEARCH_WIDTH)
        self.field.textChanged.connect(self.searched)
        self._empty = label("quiet", wrap=True)
        self._fold = Button(look, "knobs-fold", kind="plain", icon="right")
        self._fold.clicked.connect(self.folded)
        head = QHBoxLayout()
        head.setSpacing(look.space("card_gap"))
        head.addWidget(label("lead", t("Settings")))
        head.addWidget(self._note, 1)
        head.addWidget(self.field)
        self.column.addLayout(head)
        self.column.addWidget(self._scroll(), 1)

    def row(self, name: str) -> KnobRow | None:
        """Return a row by the setting's name."""
        return self._rows.get(name)

    def show_knobs(self, view: KnobsView, *, unfolded: bool) -> None:
        """Show `view`; rows are kept, so that the focus stays where it is."""
        rows = (*view.rows, *view.rest)
        names = tuple(row.name for row in rows)
        for row in rows:
            self._show_row(row)
        if names != self._shown:
            self._arrange(names)
        show_text(self._note, view.note)
        show_text(self._empty, view.empty)
        self._empty.setVisible(bool(view.empty))
        self._fold.show_words(view.fold)
        self._fold.use_icon("down" if unfolded else "right")
        self._fold.setVisible(bool(view.fold))

    def begin_search(self) -> None:
        """Put the caret into the search."""
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.field.selectAll()

    def _scroll(self) -> QScrollArea:
        content = QWidget()
        content.setObjectName("knobs-content")
        self._column = QVBoxLayout(content)
        self._column.setContentsMargins(0, 0, self._look.space("step") * 2, 0)
        self._column.setSpacing(self._look.space("step"))
        self._column.addWidget(self._empty)
        self._column.addWidget(self._fold, 0, Qt.AlignmentFlag.AlignLeft)
        self._column.addStretch(1)
        scroll = QScrollArea()
        scroll.setObjectName("knobs-scroll")
        scroll.setWidgetResizable(True)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setWidget(content)
        return scroll

    def _show_row(self, view: KnobView) -> None:
        row = self._rows.get(view.name)
        if row is not None and row.shape != (view.is_switch, view.choices):
            self._drop(view.name)
            row = None
        if row is None:
            row = self._rows[view.name] = KnobRow(self._look, view)
            row.typed.connect(self.typed)
            row.stepped.connect(self.stepped)
            self._shown = ()
        else:
            row.show_knob(view)

    def _drop(self, name: str) -> None:
        row = self._rows.pop(name)
        self._column.removeWidget(row)
        row.hide()
        row.deleteLater()

    def _arrange(self, names: tuple[str, ...]) -> None:
        """Put the rows in order, with a hairline between two."""
        for row in self._rows.values():
            self._column.removeWidget(row)
        for line in self._lines:
            self._column.removeWidget(line)
            line.hide()
            line.deleteLater()
        self._lines = []
        place = 0
        for name in names:
            if place:
                line = QFrame()
                line.setProperty("kind", "rule")
                line.setFixedHeight(1)
                self._lines.append(line)
                self._column.insertWidget(place, line)
                line.show()
                place += 1
            self._column.insertWidget(place, self._rows[name])
            place += 1
        for name, row in self._rows.items():
            row.setVisible(name in names)
        self._shown = names
        self._tab_order(names)

    def _tab_order(self, names: tuple[str, ...]) -> None:
        before: QWidget = self.field
        for name in names:
            for child in self._rows[name].findChildren(QWidget):
                is_here = child.window() is self.window()  # a box keeps its list in another one
                if is_here and child.focusPolicy() & Qt.FocusPolicy.TabFocus:
                    QWidget.setTabOrder(before, child)
                    before = child
        QWidget.setTabOrder(before, self._fold)
