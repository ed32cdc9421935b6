"""Names with their values, one below the other; long values go on in the next line."""

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QWidget

from studio.ui.theme import Look
from studio.ui.viewmodels.words import Text
from studio.ui.widgets.text import Elided, selectable, show_text

_NAME_WIDTH = 96


class Facts(QWidget):
    """Two columns; values can be selected and copied."""

    def __init__(self, look: Look, name: str) -> None:
        super().__init__()
        self.setObjectName(name)
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(look.space("step") * 3)
        self._grid.setVerticalSpacing(look.space("step"))
        self._grid.setColumnMinimumWidth(0, _NAME_WIDTH)
        self._grid.setColumnStretch(1, 1)
        self._rows: list[tuple[Elided, QLabel]] = []

    def show_facts(self, facts: Sequence[tuple[str, Text]]) -> None:
        """Show name and value of each, and what the value says on hover."""
        while len(self._rows) < len(facts):
            self._add_row()
        for number, (name, value) in enumerate(self._rows):
            is_used = number < len(facts)
            name.setVisible(is_used)
            value.setVisible(is_used)
            if is_used:
                title, text = facts[number]
                name.show_text(title)
                show_text(value, text.text, text.tooltip)
                value.setAccessibleName(f"{title}: {text.text}")
        self.setVisible(bool(facts))

    def _add_row(self) -> None:
        name, value = Elided("quiet"), selectable("body", "")
        value.setWordWrap(True)
        value.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self._grid.addWidget(name, len(self._rows), 0, Qt.AlignmentFlag.AlignTop)
        self._grid.addWidget(value, len(self._rows), 1)
        self._rows.append((name, value))
