"""A calm card in place: a few words, a few buttons, nothing that has to be answered."""

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout

from studio.ui.theme import Look
from studio.ui.viewmodels.words import Role, Shape
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.cards import Card
from studio.ui.widgets.sign import Sign
from studio.ui.widgets.text import label


class CalmCard(Card):
    """Signal: `chosen` (the value of a button)."""

    chosen = Signal(str)

    def __init__(
        self, look: Look, name: str, title: str, text: str, choices: Sequence[tuple[str, str]]
    ) -> None:
        """Make a button for each `(value, words)`; the first is the one that is proposed."""
        super().__init__(look, name, kind="secret")
        self.setAccessibleName(title)
        self.setAccessibleDescription(text)
        step = look.space("step")
        top = QHBoxLayout()
        top.setSpacing(step * 2)
        sign = Sign(look)
        sign.show_sign(Shape.DOT, Role.WATER)
        top.addWidget(sign)
        top.addWidget(label("lead", title), 1)
        self.column.addLayout(top)
        self.column.addWidget(label("body", text, wrap=True))
        row = QHBoxLayout()
        row.setSpacing(step * 2)
        self.buttons = {
            value: Button(look, f"{name}-{value}", words, kind="" if place else "primary")
            for place, (value, words) in enumerate(choices)
        }
        for value, button in self.buttons.items():
            button.setProperty("value", value)
            button.clicked.connect(self._on_clicked)
            row.addWidget(button)
        row.addStretch(1)
        self.column.addLayout(row)
        self.hide()

    def begin(self) -> None:
        """Come into view, with the proposed button under the keyboard."""
        self.show()
        next(iter(self.buttons.values())).setFocus()

    def _on_clicked(self) -> None:
        self.hide()
        self.chosen.emit(str(self.sender().property("value")))
