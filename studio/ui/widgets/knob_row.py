"""One setting as a row: what it means, its name and range, and the field, box or switch for it."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QGridLayout,
    QHBoxLayout,
    QLineEdit,
    QVBoxLayout,
    QWidget,
)

from studio.ui.language import t
from studio.ui.theme import Look
from studio.ui.viewmodels.knobs import KnobView
from studio.ui.widgets.box import Box
from studio.ui.widgets.buttons import IconButton
from studio.ui.widgets.text import Elided, label, show_text, unquoted

_FIELD_WIDTH = 144
_STEPS = {
    Qt.Key.Key_Up: 1,
    Qt.Key.Key_Down: -1,
    Qt.Key.Key_PageUp: 4,
    Qt.Key.Key_PageDown: -4,
}


class Field(QLineEdit):
    """A typed value. Signals: `stepped` (how far) by the arrow keys, `rested` without focus."""

    stepped = Signal(int)
    rested = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Step with the arrow keys."""
        steps = _STEPS.get(Qt.Key(event.key()))
        if steps is None:
            super().keyPressEvent(event)
        else:
            self.stepped.emit(steps)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Show what holds, when nobody types any more."""
        super().focusOutEvent(event)
        self.rested.emit()


class KnobRow(QWidget):
    """Signals: `typed` (name, text), `stepped` (name, how far)."""

    typed = Signal(str, str)
    stepped = Signal(str, int)

    def __init__(self, look: Look, view: KnobView) -> None:
        super().__init__()
        self.name = view.name
        self.setObjectName(f"knob-{view.name}")
        self._view = view
        self._meaning = label("body", wrap=True)
        self._expert = label("small", wrap=True)
        self._was = Elided("small")
        self._undo = IconButton(look, f"knob-{view.name}-undo", "undo", t("Undo this"))
        self._undo.clicked.connect(self._on_undo)
        policy = self._undo.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self._undo.setSizePolicy(policy)
        self._field: Field | None = None
        self._box: Box | None = None
        self._switch: QCheckBox | None = None
        self._lay_out(look, self._made_control(look, view))
        self.show_knob(view)

    @property
    def shape(self) -> tuple[bool, tuple[str, ...]]:
        """Return what kind of control this is: a row of another kind is made anew."""
        return self._view.is_switch, self._view.choices

    def show_knob(self, view: KnobView) -> None:
        """Show `view`; what is being typed is left alone."""
        self._view = view
        show_text(self._meaning, unquoted(view.meaning))
        show_text(self._expert, view.expert)
        self._was.show_text(view.was or view.size)
        self._undo.setVisible(view.is_changed)
        if self._field is not None:
            self._field.setPlaceholderText(view.placeholder)
            if not self._field.hasFocus():
                self._put(view.value)
        if self._box is not None and self._box.currentData() != view.value:
            self._box.setCurrentIndex(self._box.findData(view.value))
        if self._switch is not None:
            self._switch.setChecked(view.value == "true")
            self._switch.setText(t("on") if view.value == "true" else t("off"))

    def put(self, text: str) -> None:
        """Show a value that was stepped to."""
        self._put(text)
        self.typed.emit(self.name, text)

    def _put(self, text: str) -> None:
        if self._field is not None and self._field.text() != text:
            self._field.setText(text)

    def _made_control(self, look: Look, view: KnobView) -> QWidget:
        made: QWidget
        if view.is_switch:
            made = self._switch = QCheckBox()
            self._switch.clicked.connect(self._on_switch)
        elif view.choices:
            made = self._box = Box()
            for choice in view.choices:
                self._box.addItem(choice or view.placeholder, choice)
            if self._box.findData(view.value) < 0:
                self._box.addItem(view.value, view.value)
            self._box.activated.connect(self._on_box)
        else:
            made = self._field = Field()
            self._field.setFont(look.font("body"))
            self._field.textEdited.connect(self._on_edited)
            self._field.stepped.connect(self._on_stepped)
            self._field.rested.connect(self._on_rested)
        made.setObjectName(f"knob-{view.name}-value")
        made.setAccessibleName(view.spoken)
        made.setAccessibleDescription(view.expert)
        made.setFixedWidth(_FIELD_WIDTH)
        return made

    def _lay_out(self, look: Look, control: QWidget) -> None:
        step = look.space("step")
        words = QVBoxLayout()
        words.setSpacing(step // 2)
        words.addWidget(self._meaning)
        words.addWidget(self._expert)
        words.addStretch(1)
        side = QVBoxLayout()
        side.setSpacing(step // 2)
        top = QHBoxLayout()
        top.setSpacing(step)
        top.addWidget(control)
        side.addLayout(top)
        side.addWidget(self._was)
        side.addStretch(1)
        grid = QGridLayout(self)
        grid.setContentsMargins(0, step, 0, step)
        grid.setHorizontalSpacing(step * 3)
        grid.addLayout(words, 0, 0)  # an alignment here would lose the height of wrapped words
        grid.addLayout(side, 0, 1)
        grid.addWidget(self._undo, 0, 2, Qt.AlignmentFlag.AlignTop)
        grid.setColumnStretch(0, 1)

    def _on_switch(self, checked: bool) -> None:
        self.typed.emit(self.name, "true" if checked else "false")

    def _on_box(self) -> None:
        if self._box is not None:
            self.typed.emit(self.name, str(self._box.currentData()))

    def _on_edited(self, text: str) -> None:
        self.typed.emit(self.name, text)

    def _on_stepped(self, steps: int) -> None:
        self.stepped.emit(self.name, steps)

    def _on_rested(self) -> None:
        self._put(self._view.value)

    def _on_undo(self) -> None:
        self.typed.emit(self.name, self._view.default)
