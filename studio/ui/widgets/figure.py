"""One of the big three: a figure, its unit, and what it means in one line."""

from PySide6.QtWidgets import QHBoxLayout

from studio.ui.theme import Look
from studio.ui.viewmodels.serve import FigureView
from studio.ui.widgets.cards import Card
from studio.ui.widgets.text import label, show_text


class Figure(Card):
    """A card with one number that can be read from across the room."""

    def __init__(self, look: Look, name: str) -> None:
        super().__init__(look, name)
        self._look = look
        self._label = label("quiet")
        self._value = label("figure")
        self._value.setObjectName(f"{name}-value")
        self._unit = label("unit")
        self._meaning = label("small", wrap=True)
        self._view: FigureView | None = None
        row = QHBoxLayout()
        row.setSpacing(look.space("step") * 2)
        row.addWidget(self._value)
        row.addWidget(self._unit, 1)
        self.column.setSpacing(look.space("step") // 2)
        self.column.addWidget(self._label)
        self.column.addStretch(1)
        self.column.addLayout(row)
        self.column.addWidget(self._meaning)
        look.changed.connect(self._colour)

    def show_figure(self, view: FigureView) -> None:
        """Show `view`."""
        if view == self._view:
            return
        role_changed = self._view is None or self._view.role is not view.role
        self._view = view
        show_text(self._label, view.label)
        show_text(self._value, view.value)
        show_text(self._unit, view.unit)
        show_text(self._meaning, view.meaning)
        self.setToolTip(view.tooltip)
        self.setAccessibleName(f"{view.label}: {view.value} {view.unit}, {view.meaning}")
        if role_changed:
            self._colour()

    def _colour(self) -> None:
        if self._view is not None:
            self._value.setStyleSheet(f"color: {self._look.colour(self._view.role).name()};")
