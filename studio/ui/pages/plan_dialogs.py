"""The plan page's questions: what to call a copy, another title, a deletion, an update."""

import re
from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QGridLayout,
    QHBoxLayout,
    QLineEdit,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from studio.ui.language import t
from studio.ui.theme import Look
from studio.ui.viewmodels.plan_page import ChangeView
from studio.ui.viewmodels.words import ButtonView
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.dialog import Dialog
from studio.ui.widgets.sign import Sign
from studio.ui.widgets.text import Elided, label

_LONGEST_TITLE = 120
_ID = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_WIDE = 640


class NameDialog(Dialog):
    """Asks for a title, and for a copy also for the name that programs say.

    Signals: `named` (id or "", title).
    """

    named = Signal(str, str)

    def __init__(
        self, look: Look, words: tuple[str, str, str], title: str, preset_id: str | None
    ) -> None:
        """`words` are the dialog's title, what it is about and its button."""
        super().__init__(look, "plan-name-dialog", words[0], about=words[1])
        self.title_field = _field("plan-name-title", t("Title"), title, _LONGEST_TITLE)
        self.id_field = _field("plan-name-id", t("Name"), preset_id or "", 64)
        self._has_id = preset_id is not None
        self.add_field(t("Title, as lists show it"), self.title_field)
        if self._has_id:
            self.add_field(t("Name, as commands say it: `weir up NAME`"), self.id_field)
        cancel = Button(look, "plan-name-cancel", t("Cancel"))
        cancel.clicked.connect(self.reject)
        self.ok = Button(look, "plan-name-ok", words[2], kind="primary")
        self.ok.clicked.connect(self._on_ok)
        self.add_button(cancel)
        self.add_button(self.ok)
        for field in (self.title_field, self.id_field):
            field.textChanged.connect(self._check)
            field.returnPressed.connect(self._on_ok)
        self._check()
        self.title_field.selectAll()

    def _check(self) -> None:
        name, title = self.id_field.text().strip(), self.title_field.text().strip()
        is_name = not self._has_id or _ID.fullmatch(name) is not None
        self.show_note("" if is_name else t("Small letters, digits, “-”, “_” and “.”."))
        self.ok.setEnabled(bool(title) and is_name)

    def _on_ok(self) -> None:
        if self.ok.isEnabled():
            name = self.id_field.text().strip() if self._has_id else ""
            self.named.emit(name, self.title_field.text().strip())
            self.accept()


class RemoveDialog(Dialog):
    """Asks before a preset is deleted. Signals: `agreed`."""

    agreed = Signal()

    def __init__(self, look: Look, title: str, about: str) -> None:
        super().__init__(look, "plan-remove-dialog", title, about=about)
        cancel = Button(look, "plan-remove-cancel", t("Keep it"))
        cancel.clicked.connect(self.reject)
        remove = Button(look, "plan-remove-ok", t("Delete"), kind="harm")
        remove.clicked.connect(self._on_agreed)
        self.add_button(cancel)
        self.add_button(remove)
        cancel.setDefault(True)
        cancel.setFocus()

    def _on_agreed(self) -> None:
        self.agreed.emit()
        self.accept()


class UpdateDialog(Dialog):
    """What changed since a preset was copied, line by line. Signals: `agreed` (names to take)."""

    agreed = Signal(object)

    def __init__(self, look: Look, changes: Sequence[ChangeView], origin: str) -> None:
        about = t(
            "“{origin}” has changed since yours was copied from it. Choose what you take over; "
            "everything else stays as you have it."
        ).format(origin=origin)
        super().__init__(look, "plan-update-dialog", t("Update your preset"), about=about)
        self.setMinimumWidth(_WIDE)
        self.boxes: dict[str, QCheckBox] = {}
        content = QWidget()
        content.setObjectName("page")
        column = QVBoxLayout(content)
        column.setContentsMargins(0, 0, look.space("step") * 2, 0)
        column.setSpacing(look.space("card_gap"))
        for change in changes:
            column.addWidget(self._row(look, change))
        column.addStretch(1)
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setWidget(content)
        self.body.addWidget(scroll, 1)
        cancel = Button(look, "plan-update-cancel", t("Not now"))
        cancel.clicked.connect(self.reject)
        self._ok = Button(look, "plan-update-ok", kind="primary")
        self._ok.clicked.connect(self._on_agreed)
        self.add_button(cancel)
        self.add_button(self._ok)
        self._count()

    def _row(self, look: Look, change: ChangeView) -> QWidget:
        row = QWidget()
        sign = Sign(look)
        sign.show_sign(change.shape, change.role)
        head = QHBoxLayout()
        head.setSpacing(look.space("step") * 2)
        if change.can_take:
            box = self.boxes[change.name] = QCheckBox(change.name)
            box.setObjectName(f"plan-take-{change.name}")
            box.setAccessibleName(t("Take over {name}").format(name=change.name))
            box.setChecked(change.takes)
            box.toggled.connect(self._count)
            head.addWidget(box, 1)
        else:
            head.addWidget(label("body", change.name), 1)
        head.addWidget(sign)
        head.addWidget(label("small", change.words))
        grid = QGridLayout(row)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(look.space("card_gap"))
        grid.setVerticalSpacing(2)
        grid.addLayout(head, 0, 0, 1, 3)
        words = (
            (t("when it was copied"), change.base),
            (t("yours"), change.mine),
            (t("the original now"), change.theirs),
        )
        for across, (name, value) in enumerate(words):
            grid.addWidget(label("small", name), 1, across)
            shown = Elided("mono")
            shown.show_text(value)
            grid.addWidget(shown, 2, across)
            grid.setColumnStretch(across, 1)
        return row

    def _count(self) -> None:
        taken = [name for name, box in self.boxes.items() if box.isChecked()]
        words = t("Take over {n}").format(n=len(taken)) if taken else t("Keep all of mine")
        self._ok.show_view(ButtonView(text=words))

    def _on_agreed(self) -> None:
        self.agreed.emit(tuple(name for name, box in self.boxes.items() if box.isChecked()))
        self.accept()


def _field(name: str, words: str, text: str, most: int) -> QLineEdit:
    made = QLineEdit(text)
    made.setObjectName(name)
    made.setAccessibleName(words)
    made.setMaxLength(most)
    return made
