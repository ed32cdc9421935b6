"""What the planner says of the marked preset, which cards it would use, and Start."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from studio.domain.hardware import Gpu
from studio.ui.language import t
from studio.ui.theme import Look
from studio.ui.viewmodels.plan import PlanView
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.cards import Card
from studio.ui.widgets.ledger import Ledger
from studio.ui.widgets.note_list import NoteList
from studio.ui.widgets.sign import Sign
from studio.ui.widgets.text import label, show_text

_DIGIT_WIDTH = 28
_A_ROW = 8
"""Cards beside each other: as many as one machine has, in the width of the column."""


class CardChoice(QWidget):
    """Which cards to use. Signals: `chosen` (indices, or None: as the preset wants)."""

    chosen = Signal(object)

    def __init__(self, look: Look) -> None:
        super().__init__()
        self.setObjectName("card-choice")
        self._look = look
        self._shown: tuple[int, ...] = ()
        self._buttons: dict[int, Button] = {}
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(look.space("step"))
        column.addWidget(label("small", t("Cards")))
        self._grid = QGridLayout()
        self._grid.setSpacing(look.space("step"))
        self._grid.setColumnStretch(_A_ROW, 1)
        column.addLayout(self._grid)
        self.hide()

    def show_cards(self, cards: tuple[Gpu, ...], used: tuple[int, ...]) -> None:
        """Show a button for each card where there are several; `used` are pressed."""
        self.setVisible(len(cards) > 1)
        wanted = tuple(card.index for card in cards)
        if wanted != self._shown:
            self._rebuild(cards)
        for index, button in self._buttons.items():
            button.setChecked(index in used)

    def _rebuild(self, cards: tuple[Gpu, ...]) -> None:
        for button in self._buttons.values():
            self._grid.removeWidget(button)
            button.hide()
            button.deleteLater()
        self._shown = tuple(card.index for card in cards)
        self._buttons = {}
        for place, card in enumerate(cards):
            button = Button(self._look, f"card-{card.index}", str(card.index), kind="digit")
            button.setCheckable(True)
            button.setFixedWidth(_DIGIT_WIDTH)
            button.setToolTip(card.name)
            button.setAccessibleName(
                t("Card {index}, {name}").format(index=card.index, name=card.name)
            )
            button.clicked.connect(self._on_clicked)
            self._grid.addWidget(button, place // _A_ROW, place % _A_ROW)
            self._buttons[card.index] = button

    def _on_clicked(self) -> None:
        picked = tuple(index for index, button in self._buttons.items() if button.isChecked())
        self.chosen.emit(picked or None)


class PlanCard(Card):
    """Verdict, ledger, figures, notes; the button is the chooser's."""

    def __init__(self, look: Look, name: str) -> None:
        super().__init__(look, name)
        self._look = look
        self._view: PlanView | None = None
        self._sign = Sign(look)
        self._verdict = label("lead", wrap=True)
        self._verdict.setObjectName(f"{name}-verdict")
        top = QHBoxLayout()
        top.addWidget(self._sign, 0, Qt.AlignmentFlag.AlignVCenter)
        top.addWidget(self._verdict, 1)
        self.start = Button(look, "start-preset", kind="primary", icon="start")
        self.cards = CardChoice(look)
        self._notes = NoteList(look, f"{name}-notes")
        self._ledgers: list[Ledger] = []
        self._bars = QVBoxLayout()
        self._bars.setSpacing(look.space("card_gap"))
        self._figures = QVBoxLayout()
        self._figures.setSpacing(look.space("step") // 2)
        self._values: list[tuple[QLabel, QLabel]] = []
        self.column.addLayout(top)
        self.column.addWidget(self.start)  # above what is long: in view in the smallest window
        self.column.addWidget(self.cards)
        self.column.addWidget(self._notes)
        self.column.addLayout(self._bars)
        self.column.addLayout(self._figures)

    def show_plan(self, view: PlanView) -> None:
        """Show `view`."""
        if view == self._view:
            return
        self._view = view
        self._sign.show_sign(view.shape, view.role)
        show_text(self._verdict, view.verdict)
        self._notes.show_notes(view.notes)
        while len(self._ledgers) < len(view.ledgers):
            ledger = Ledger(self._look, f"ledger-{len(self._ledgers)}")
            self._ledgers.append(ledger)
            self._bars.addWidget(ledger)
        for place, ledger in enumerate(self._ledgers):
            ledger.setVisible(place < len(view.ledgers))
            if place < len(view.ledgers):
                ledger.show_ledger(view.ledgers[place])
        self._show_figures(view)

    def _show_figures(self, view: PlanView) -> None:
        while len(self._values) < len(view.figures):
            row = QHBoxLayout()
            pair = (label("small"), label())
            row.addWidget(pair[0])
            row.addWidget(pair[1], 1, Qt.AlignmentFlag.AlignRight)
            self._figures.addLayout(row)
            self._values.append(pair)
        for place, (name, value) in enumerate(self._values):
            shown = place < len(view.figures)
            name.setVisible(shown)
            value.setVisible(shown)
            if shown:
                words, text = view.figures[place]
                show_text(name, words)
                show_text(value, text.text, text.tooltip)
