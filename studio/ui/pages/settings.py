"""The settings page: its parts on the left, the one in front on the right."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QAbstractButton,
    QButtonGroup,
    QFrame,
    QHBoxLayout,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from studio.ui.layouts import settle
from studio.ui.theme import Look
from studio.ui.viewmodels.settings import CardView, Kind, Section, SectionView, section_words
from studio.ui.widgets.cards import Card
from studio.ui.widgets.setting import SettingRow
from studio.ui.widgets.text import label, show_text, unquoted

_LIST_WIDTH = 152
_WIDEST = 860


class SettingsPage(QWidget):
    """Signals: `section_chosen` (Section), `edited` (Edit)."""

    section_chosen = Signal(object)
    edited = Signal(object)

    def __init__(self, look: Look) -> None:
        super().__init__()
        self.setObjectName("page")
        self._look = look
        self._group = QButtonGroup(self)
        self._group.buttonClicked.connect(self._on_clicked)
        self._buttons = {section: self._button(section) for section in Section}
        self._parts: dict[Section, _Part] = {}
        self._holder = QVBoxLayout()
        self._holder.setContentsMargins(0, 0, 0, 0)
        self._lay_out()

    def show_section(self, view: SectionView) -> None:
        """Bring a section to the front, with what is known of it."""
        self._buttons[view.section].setChecked(True)
        part = self._parts.get(view.section)
        if part is None:
            part = _Part(self._look, view.section)
            part.edited.connect(self.edited)
            self._parts[view.section] = part
            self._holder.addWidget(part)
        part.show_view(view)
        for section, other in self._parts.items():
            other.setVisible(section is view.section)
        settle()

    def offer(self, section: Section, *, is_there: bool) -> None:
        """Have a section among the others, or not."""
        self._buttons[section].setVisible(is_there)

    def _button(self, section: Section) -> QPushButton:
        words = section_words(section)
        made = QPushButton(words.text)
        made.setObjectName(f"section-{section.value}")
        made.setProperty("kind", "choice")
        made.setAccessibleName(words.text)
        made.setToolTip(words.tooltip)
        made.setCheckable(True)
        made.setCursor(Qt.CursorShape.PointingHandCursor)
        self._group.addButton(made)
        return made

    def _on_clicked(self, button: QAbstractButton) -> None:
        section = next(one for one, made in self._buttons.items() if made is button)
        self.section_chosen.emit(section)

    def _lay_out(self) -> None:
        margin, gap = self._look.space("page_margin"), self._look.space("card_gap")
        column = QVBoxLayout()
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        for button in self._buttons.values():
            button.setFixedWidth(_LIST_WIDTH)
            column.addWidget(button)
        column.addStretch(1)
        row = QHBoxLayout(self)
        row.setContentsMargins(margin - gap, margin, 0, 0)
        row.setSpacing(gap)
        row.addLayout(column)
        row.addLayout(self._holder, 1)


class _Part(QScrollArea):
    """One section. Signals: `edited` (Edit)."""

    edited = Signal(object)

    def __init__(self, look: Look, section: Section) -> None:
        super().__init__()
        self.setObjectName(f"part-{section.value}")
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._look = look
        self._title = label("title")
        self._about = label("quiet", wrap=True)
        self._empty = label("quiet", wrap=True)
        self._empty.setObjectName("settings-empty")
        self._cards: dict[str, _SettingCard] = {}
        gap, margin = look.space("card_gap"), look.space("page_margin")
        content = QWidget()
        content.setObjectName("page")
        content.setMaximumWidth(_WIDEST + margin)
        self._column = QVBoxLayout(content)
        self._column.setContentsMargins(0, 0, margin, margin)
        self._column.setSpacing(gap)
        self._column.addWidget(self._title)
        self._column.addWidget(self._about)
        self._column.addWidget(self._empty)
        self._column.addStretch(1)
        self.setWidget(content)

    def show_view(self, view: SectionView) -> None:
        """Show a section; cards that are there already are kept."""
        show_text(self._title, view.title)
        show_text(self._about, view.about)
        show_text(self._empty, view.empty)
        self._empty.setVisible(bool(view.empty))
        shown = {card.id for card in view.cards}
        for gone in [one for one in self._cards if one not in shown]:
            self._drop(gone)
        rows = [row for card in view.cards for row in card.rows]
        is_wide = all(row.kind is Kind.FACT for row in rows)  # one edge for the whole page
        for place, card in enumerate(view.cards):
            made = self._cards.get(card.id)
            if made is None:
                made = _SettingCard(self._look, card)
                made.edited.connect(self.edited)
                self._cards[card.id] = made
                self._column.insertWidget(3 + place, made)
            made.show_card(card, is_wide=is_wide)
            made.show()  # a layout shows what it is given only when the event loop comes round

    def _drop(self, card: str) -> None:
        gone = self._cards.pop(card)
        self._column.removeWidget(gone)
        gone.hide()
        gone.deleteLater()


class _SettingCard(Card):
    """Settings that belong together. Signals: `edited` (Edit)."""

    edited = Signal(object)

    def __init__(self, look: Look, view: CardView) -> None:
        super().__init__(look, f"card-{view.id}", view.title)
        self._look = look
        self._about = label("quiet", wrap=True)
        self.column.setSpacing(0)
        self.heading.setContentsMargins(0, 0, 0, look.space("step"))
        self._about.setContentsMargins(0, 0, 0, look.space("step"))
        self.column.addWidget(self._about)
        self._rows: dict[str, SettingRow] = {}
        self._order: tuple[bool, list[tuple[str, str]]] | None = None
        self._made: list[QWidget] = []

    def show_card(self, view: CardView, *, is_wide: bool) -> None:
        """Show the settings; where others come or go, they are made anew."""
        show_text(self._about, unquoted(view.about))
        self._about.setVisible(bool(view.about))
        order = (is_wide, [(row.id, row.kind.value) for row in view.rows])
        if order != self._order:
            self._rebuild(view, is_wide=is_wide)
            self._order = order
        for row in view.rows:
            self._rows[row.id].show_row(row)

    def _rebuild(self, view: CardView, *, is_wide: bool) -> None:
        for old in self._made:
            self.column.removeWidget(old)
            old.hide()
            old.deleteLater()
        self._made, self._rows = [], {}
        for place, row in enumerate(view.rows):
            if place:
                rule = QFrame()
                rule.setProperty("kind", "rule")
                rule.setFixedHeight(1)
                self._add(rule)
            made = SettingRow(self._look, row, is_wide=is_wide)
            made.edited.connect(self.edited)
            self._rows[row.id] = made
            self._add(made)

    def _add(self, widget: QWidget) -> None:
        self._made.append(widget)
        self.column.addWidget(widget)
        widget.show()
