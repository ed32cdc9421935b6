"""The sheet of all keys: F1 or `?` opens it, Escape closes it."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from studio.ui.language import t
from studio.ui.theme import Look
from studio.ui.viewmodels.keyboard import KeyGroup
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.dialog import Dialog
from studio.ui.widgets.text import label

_WIDTH = 860
_KEYS_WIDTH = 66


class HelpSheet(Dialog):
    """Two columns: what works everywhere, and the rest."""

    def __init__(
        self, look: Look, groups: tuple[KeyGroup, ...], parent: QWidget | None = None
    ) -> None:
        super().__init__(look, "help-sheet", t("Keyboard"), parent=parent)
        self.setMinimumWidth(_WIDTH)
        self._look = look
        columns = QHBoxLayout()
        columns.setSpacing(look.space("page_margin") + look.space("card_gap"))
        first, second = QVBoxLayout(), QVBoxLayout()
        first.addLayout(self._group(groups[0]))
        first.addStretch(1)
        second.setSpacing(0)
        for place, group in enumerate(groups[1:]):
            if place:
                second.addSpacing(look.space("page_margin"))
            second.addLayout(self._group(group))
        second.addStretch(1)
        columns.addLayout(first, 1)
        columns.addLayout(second, 1)
        self.body.addLayout(columns)
        close = Button(look, "help-close", t("Close"))
        close.clicked.connect(self.accept)
        self.add_button(close)

    def _group(self, group: KeyGroup) -> QVBoxLayout:
        column = QVBoxLayout()
        column.setSpacing(self._look.space("step") * 2)
        column.addWidget(label("lead", group.title))
        grid = QGridLayout()
        grid.setHorizontalSpacing(self._look.space("card_padding"))
        grid.setVerticalSpacing(self._look.space("step") // 2)
        for place, (keys, words) in enumerate(group.keys):
            cap = _cap(keys)
            meaning = label("body", words, wrap=True)
            meaning.setBuddy(cap)
            grid.addWidget(cap, place, 0, Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignRight)
            grid.addWidget(meaning, place, 1)
        grid.setColumnStretch(1, 1)
        grid.setColumnMinimumWidth(0, _KEYS_WIDTH)
        column.addLayout(grid)
        return column


def _cap(keys: str) -> QLabel:
    cap = label("key", keys)
    cap.setObjectName(f"key-{keys}")
    return cap
