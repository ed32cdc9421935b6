"""One setting: its name and meaning on the left, what chooses it on the right."""

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLineEdit,
    QVBoxLayout,
    QWidget,
)

from studio.ui.language import t
from studio.ui.theme import Look
from studio.ui.viewmodels.settings import OFF, ON, Edit, Kind, Option, RowProblem, RowView, Verb
from studio.ui.viewmodels.words import Role, Shape
from studio.ui.widgets.box import Box
from studio.ui.widgets.buttons import Button, IconButton
from studio.ui.widgets.segments import Segments
from studio.ui.widgets.sign import Sign
from studio.ui.widgets.switch import Switch
from studio.ui.widgets.text import Elided, label, selectable, show_text, unquoted

_SHARES = (9, 11)
"""Of the width: words, and what chooses."""
_SHARES_OF_FACTS = (2, 5)
_SHORT = 112
_LEAST_LEFT = 150


class SettingRow(QFrame):
    """Signals: `edited` (Edit). What it is made of depends on the kind, which never changes."""

    edited = Signal(object)

    def __init__(self, look: Look, view: RowView, *, is_wide: bool = False) -> None:
        """`is_wide` leaves more room to what is on the right: for cards of facts alone."""
        super().__init__()
        self.setObjectName(f"setting-{view.id}")
        self._id = view.id
        self._look = look
        self._is_wide = is_wide
        self._title = label("body", wrap=True)
        self._about = label("small", wrap=True)
        self._note = label("small", wrap=True)
        self._note.setObjectName(f"note-{view.id}")
        self._problem = _Problem(look, view.id)
        self._problem.verb_asked.connect(self._on_verb)
        self._control = _CONTROLS[view.kind](look, view)
        self._control.edited.connect(self._on_edited)
        self._lay_out()
        self.show_row(view)

    def show_row(self, view: RowView) -> None:
        """Show `view`; what a person is typing is left alone."""
        show_text(self._title, view.title)
        show_text(self._about, unquoted(view.about))
        self._about.setVisible(bool(view.about))
        show_text(self._note, unquoted(view.note))
        self._note.setVisible(bool(view.note))
        self._problem.show_problem(view.problem)
        self._control.show_control(view)
        self._control.setEnabled(view.is_enabled or view.kind is Kind.FACT)

    def _lay_out(self) -> None:
        step = self._look.space("step")
        left = QVBoxLayout()
        left.setSpacing(2)
        left.setContentsMargins(0, 6, 0, 0)
        left.addWidget(self._title)
        left.addWidget(self._about)
        left.addStretch(1)
        right = QVBoxLayout()
        right.setSpacing(step)
        right.addWidget(self._control)
        right.addWidget(self._note)
        right.addWidget(self._problem)
        right.addStretch(1)
        grid = QGridLayout(self)
        grid.setContentsMargins(0, step * 2, 0, step * 2)
        grid.setHorizontalSpacing(step * 6)
        grid.addLayout(left, 0, 0)
        grid.addLayout(right, 0, 1)
        grid.setColumnMinimumWidth(0, _LEAST_LEFT)
        left_share, right_share = _SHARES_OF_FACTS if self._is_wide else _SHARES
        grid.setColumnStretch(0, left_share)
        grid.setColumnStretch(1, right_share)

    def _on_edited(self, verb: Verb, value: str) -> None:
        self.edited.emit(Edit(row=self._id, verb=verb, value=value))

    def _on_verb(self, verb: Verb) -> None:
        self._on_edited(verb, "")


class _Control(QWidget):
    """What chooses. Signals: `edited` (Verb, value)."""

    edited = Signal(object, str)

    def __init__(self, look: Look, view: RowView) -> None:
        super().__init__()
        self._look = look
        self._id = view.id

    def show_control(self, view: RowView) -> None:
        """Show the value of `view`."""


class _Fact(_Control):
    def __init__(self, look: Look, view: RowView) -> None:
        super().__init__(look, view)
        self._sign = Sign(look)
        self._sign.show_sign(Shape.TRIANGLE, Role.WARN)
        self._text = selectable("mono" if view.is_mono else "body", view.title)
        self._text.setObjectName(f"value-{view.id}")
        self._text.setWordWrap(True)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 6, 0, 0)
        row.setSpacing(look.space("step") * 2)
        row.addWidget(self._sign, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self._text, 1)

    def show_control(self, view: RowView) -> None:
        """Show what is known."""
        self._sign.setVisible(view.is_warning)
        show_text(self._text, unquoted(view.value), view.tooltip)


class _Deed(_Control):
    def __init__(self, look: Look, view: RowView) -> None:
        super().__init__(look, view)
        self._text = label("body", wrap=True)
        self._text.setObjectName(f"value-{view.id}")
        self._button = Button(look, f"do-{view.id}")
        self._button.clicked.connect(self._on_clicked)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(look.space("step") * 3)
        row.addWidget(self._text, 1)
        row.addWidget(self._button, 0, Qt.AlignmentFlag.AlignTop)

    def show_control(self, view: RowView) -> None:
        """Show what stands, and what can be done."""
        show_text(self._text, unquoted(view.value), view.tooltip)
        self._button.show_words(view.button)
        self._button.setToolTip(view.tooltip)

    def _on_clicked(self) -> None:
        self.edited.emit(Verb.SET, "")


class _Switch(_Control):
    def __init__(self, look: Look, view: RowView) -> None:
        super().__init__(look, view)
        self._switch = Switch(look, f"switch-{view.id}", view.title)
        self._switch.clicked.connect(self._on_clicked)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 2, 0, 0)
        row.addWidget(self._switch)
        row.addStretch(1)

    def show_control(self, view: RowView) -> None:
        """Show how it lies; a refused change puts it back."""
        self._switch.setChecked(view.value == ON)
        self._switch.setAccessibleDescription(view.about)

    def _on_clicked(self, is_on: bool) -> None:
        self.edited.emit(Verb.SET, ON if is_on else OFF)


class _Choice(_Control):
    def __init__(self, look: Look, view: RowView) -> None:
        super().__init__(look, view)
        self._name, self._words = f"choose-{view.id}", view.title
        self._options: tuple[Option, ...] = ()
        self._segments: Segments | None = None
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)

    def show_control(self, view: RowView) -> None:
        """Mark what holds."""
        if view.options != self._options or self._segments is None:
            self._offer(view.options)
        if self._segments is not None:
            self._segments.show_chosen(view.value)

    def _offer(self, options: tuple[Option, ...]) -> None:
        while (item := self._row.takeAt(0)) is not None:
            old = item.widget()
            if old is not None:
                old.hide()
                old.deleteLater()
        self._options = options
        choices = [(one.value, one.text) for one in options]
        self._segments = Segments(self._name, self._words, choices)
        self._segments.chosen.connect(self._on_chosen)
        self._row.addWidget(self._segments)
        self._row.addStretch(1)

    def _on_chosen(self, value: str) -> None:
        self.edited.emit(Verb.SET, value)


class _Pick(_Control):
    def __init__(self, look: Look, view: RowView) -> None:
        super().__init__(look, view)
        self._options: tuple[Option, ...] = ()
        self._box = Box()
        self._box.setObjectName(f"pick-{view.id}")
        self._box.setAccessibleName(view.title)
        self._box.setSizeAdjustPolicy(
            QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        )
        self._box.setMinimumContentsLength(12)
        self._box.activated.connect(self._on_activated)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self._box, 1)

    def show_control(self, view: RowView) -> None:
        """Mark what holds."""
        blocked = QSignalBlocker(self._box)
        if view.options != self._options:
            self._options = view.options
            self._box.clear()
            self._box.addItems([one.text for one in view.options])
        values = [one.value for one in view.options]
        self._box.setCurrentIndex(values.index(view.value) if view.value in values else -1)
        blocked.unblock()

    def _on_activated(self, index: int) -> None:
        self.edited.emit(Verb.SET, self._options[index].value)


class _Text(_Control):
    def __init__(self, look: Look, view: RowView) -> None:
        super().__init__(look, view)
        self._shown = ""
        self._field = _field(look, view)
        self._set = Button(look, f"set-{view.id}", view.button)
        self._set.setAccessibleName(f"{view.button} {view.title}")
        self._set.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._set.clicked.connect(self._on_set)
        self._field.returnPressed.connect(self._on_set)
        self._field.textEdited.connect(self._on_typed)
        self._reset = IconButton(
            look, f"reset-{view.id}", "restart", t("Let the default hold again")
        )
        self._reset.setAccessibleDescription(view.title)
        self._reset.clicked.connect(self._on_reset)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(look.space("step") * 2)
        row.addWidget(self._field, 0 if view.is_short else 1)
        row.addWidget(self._set)
        row.addWidget(self._reset)
        if view.is_short:
            self._field.setFixedWidth(_SHORT)
            row.addStretch(1)
        self._set.setEnabled(False)

    def show_control(self, view: RowView) -> None:
        """Show what holds, unless a person has typed something else meanwhile."""
        if self._field.text() == self._shown or view.value != self._shown:
            self._field.setText(view.value)
            self._field.setCursorPosition(0)
        self._shown = view.value
        self._field.setPlaceholderText(view.placeholder)
        self._reset.setVisible(view.can_reset)
        self._on_typed()

    def _on_typed(self) -> None:
        text = self._field.text().strip()
        self._set.setEnabled(bool(text) and text != self._shown)

    def _on_set(self) -> None:
        if self._set.isEnabled():
            self.edited.emit(Verb.SET, self._field.text().strip())

    def _on_reset(self) -> None:
        self._field.setText(self._shown)
        self.edited.emit(Verb.RESET, "")


class _List(_Control):
    def __init__(self, look: Look, view: RowView) -> None:
        super().__init__(look, view)
        self._items: tuple[Option, ...] | None = None
        self._entries = QVBoxLayout()
        self._entries.setSpacing(look.space("step"))
        self._field = _field(look, view)
        self._add = Button(look, f"add-{view.id}", view.button)
        self._add.setAccessibleName(f"{view.button} {view.title}")
        self._add.clicked.connect(self._on_add)
        self._field.returnPressed.connect(self._on_add)
        self._field.textEdited.connect(self._on_typed)
        self._reset = Button(look, f"reset-{view.id}", t("Forget all"), kind="plain")
        self._reset.setAccessibleDescription(view.title)
        self._reset.clicked.connect(self._on_reset)
        adding = QHBoxLayout()
        adding.setSpacing(look.space("step") * 2)
        adding.addWidget(self._field, 1)
        adding.addWidget(self._add)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(look.space("step"))
        column.addLayout(self._entries)
        column.addLayout(adding)
        # Not before they lie in here: what has no parent yet is shown as a window of its own.
        self._adds = bool(view.button)
        self._field.setVisible(self._adds)
        self._add.setVisible(self._adds)
        column.addWidget(self._reset, 0, Qt.AlignmentFlag.AlignLeft)
        self._on_typed()

    def show_control(self, view: RowView) -> None:
        """Show the entries; what was added is out of the field again."""
        self._reset.setVisible(view.can_reset)
        self._field.setPlaceholderText(view.placeholder)
        if view.items == self._items:
            return
        if self._items is not None and len(view.items) > len(self._items):
            self._field.clear()
        self._items = view.items
        while (item := self._entries.takeAt(0)) is not None:
            old = item.widget()
            if old is not None:
                old.hide()
                old.deleteLater()
        for one in view.items:
            entry = self._entry(one, view)
            self._entries.addWidget(entry)
            entry.show()
        self._on_typed()

    def _entry(self, one: Option, view: RowView) -> QWidget:
        holder = QFrame()
        holder.setProperty("kind", "well")
        step = self._look.space("step")
        row = QHBoxLayout(holder)
        row.setContentsMargins(step * 3, step, step, step)
        row.setSpacing(step * 2)
        text = Elided("mono" if view.is_mono else "body")
        text.show_text(one.text, one.tooltip)
        row.addWidget(text, 1)
        if view.remove:
            button = Button(self._look, f"remove-{self._id}-{one.value}", view.remove, kind="plain")
            button.setAccessibleName(f"{view.remove} {one.text}")
            button.setProperty("entry", one.value)
            button.clicked.connect(self._on_remove)
            row.addWidget(button)
        else:
            holder.setMinimumHeight(self._look.space("control_height"))
        return holder

    def _on_typed(self) -> None:
        self._add.setEnabled(bool(self._field.text().strip()))

    def _on_add(self) -> None:
        if self._add.isEnabled():
            self.edited.emit(Verb.SET, self._field.text().strip())

    def _on_remove(self) -> None:
        self.edited.emit(Verb.REMOVE, str(self.sender().property("entry")))

    def _on_reset(self) -> None:
        self.edited.emit(Verb.RESET, "")


class _Problem(QFrame):
    """Why it was not taken, with the button that says yes where that is what is missing."""

    verb_asked = Signal(object)

    def __init__(self, look: Look, row_id: str) -> None:
        super().__init__()
        self._sign = Sign(look)
        self._text = selectable("body", t("Why it was not taken"))
        self._text.setObjectName(f"problem-{row_id}")
        self._text.setWordWrap(True)
        self._lines = selectable("mono", t("What would be done"))
        self._lines.setObjectName(f"lines-{row_id}")
        self._lines.setWordWrap(True)
        self._yes = Button(look, f"yes-{row_id}", kind="primary")
        self._yes.clicked.connect(self._on_yes)
        self._no = Button(look, f"no-{row_id}", t("Leave it"))
        self._no.clicked.connect(self._on_no)
        step = look.space("step")
        row = QHBoxLayout()
        row.setSpacing(step * 2)
        row.addWidget(self._sign, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self._text, 1)
        buttons = QHBoxLayout()
        buttons.setSpacing(step * 2)
        buttons.addWidget(self._yes)
        buttons.addWidget(self._no)
        buttons.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, step, 0, step)
        column.setSpacing(step * 2)
        column.addLayout(row)
        column.addWidget(self._lines)
        column.addLayout(buttons)
        self.hide()

    def show_problem(self, problem: RowProblem | None) -> None:
        """Show it, or nothing."""
        self.setVisible(problem is not None)
        if problem is None:
            return
        asks = bool(problem.consent)
        shape, role = (Shape.TRIANGLE, Role.WARN) if asks else (Shape.CROSS, Role.HARM)
        self._sign.show_sign(shape, role)
        show_text(self._text, unquoted(problem.text), problem.code)
        show_text(self._lines, "\n".join(problem.lines))
        self._lines.setVisible(bool(problem.lines))
        self._yes.show_words(problem.consent)
        self._yes.setVisible(asks)
        self._no.show_words(t("Leave it") if asks else t("Close"))

    def _on_yes(self) -> None:
        self.verb_asked.emit(Verb.CONSENT)

    def _on_no(self) -> None:
        self.verb_asked.emit(Verb.DISMISS)


def _field(look: Look, view: RowView) -> QLineEdit:
    field = QLineEdit()
    field.setObjectName(f"field-{view.id}")
    field.setAccessibleName(view.title)
    field.setAccessibleDescription(view.about)
    if view.is_mono:
        field.setFont(look.font("small", mono=True))
    return field


_CONTROLS = {
    Kind.FACT: _Fact,
    Kind.DEED: _Deed,
    Kind.SWITCH: _Switch,
    Kind.CHOICE: _Choice,
    Kind.PICK: _Pick,
    Kind.TEXT: _Text,
    Kind.LIST: _List,
}
