"""One setting's row: what is typed, chosen, switched, stepped and undone."""

import msgspec
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QCheckBox, QComboBox, QLabel, QLineEdit
from pytestqt.qtbot import QtBot

from studio.ui.theme import Look
from studio.ui.viewmodels.knobs import KnobView
from studio.ui.widgets.knob_row import KnobRow

TYPED = KnobView(
    name="max_num_seqs",
    meaning="How many requests are admitted at a time.",
    expert="max_num_seqs · 1 to 256 requests",
    value="8",
    default="8",
    placeholder="left to the engine",
    is_changed=False,
    was="",
    spoken="max_num_seqs. How many.",
)
CHOSEN = msgspec.structs.replace(TYPED, name="dtype", choices=("", "float16"), value="", default="")
SWITCH = msgspec.structs.replace(TYPED, name="tools", is_switch=True, value="true", default="true")


def made(qtbot: QtBot, look: Look, view: KnobView) -> tuple[KnobRow, list[tuple[str, str]]]:
    """Return a row and what it says."""
    row = KnobRow(look, view)
    qtbot.addWidget(row)
    row.show()
    said: list[tuple[str, str]] = []
    row.typed.connect(lambda name, text: said.append((name, text)))
    return row, said


def test_each_key_is_told_and_a_field_in_use_is_left_alone(qtbot: QtBot, look: Look) -> None:
    """Clearing a field to type another number must not fill it again."""
    row, said = made(qtbot, look, TYPED)
    field = row.findChild(QLineEdit)
    assert field is not None
    row.activateWindow()
    field.setFocus()
    qtbot.waitUntil(field.hasFocus)
    field.selectAll()
    qtbot.keyClick(field, Qt.Key.Key_Delete)
    row.show_knob(TYPED)
    assert field.text() == ""
    qtbot.keyClicks(field, "12")

    assert said == [("max_num_seqs", ""), ("max_num_seqs", "1"), ("max_num_seqs", "12")]
    row.show_knob(msgspec.structs.replace(TYPED, value="12", is_changed=True, was="before: 8"))
    field.clearFocus()
    assert field.text() == "12"


def test_an_empty_field_shows_what_holds_when_it_is_left(qtbot: QtBot, look: Look) -> None:
    """Empty means the default, and the field says which that is."""
    row, _ = made(qtbot, look, TYPED)
    field = row.findChild(QLineEdit)
    assert field is not None
    field.setText("")

    field.rested.emit()

    assert field.text() == "8"


def test_arrow_keys_ask_for_a_step(qtbot: QtBot, look: Look) -> None:
    """The service's range decides how far; `put` shows and tells it."""
    row, said = made(qtbot, look, TYPED)
    steps: list[int] = []
    row.stepped.connect(lambda _name, count: steps.append(count))
    field = row.findChild(QLineEdit)
    assert field is not None

    qtbot.keyClick(field, Qt.Key.Key_Up)
    qtbot.keyClick(field, Qt.Key.Key_PageDown)
    row.put("9")

    assert steps == [1, -4]
    assert said == [("max_num_seqs", "9")]


def test_a_choice_and_a_switch_tell_what_is_meant(qtbot: QtBot, look: Look) -> None:
    """The empty line is the engine's own choice."""
    row, said = made(qtbot, look, CHOSEN)
    box = row.findChild(QComboBox)
    assert box is not None
    assert box.itemText(0) == "left to the engine"
    box.setCurrentIndex(1)
    box.activated.emit(1)
    switch, told = made(qtbot, look, SWITCH)
    check = switch.findChild(QCheckBox)
    assert check is not None
    check.click()

    assert said == [("dtype", "float16")]
    assert told == [("tools", "false")]


def test_undo_shows_only_for_what_was_changed_and_takes_no_room_of_others(
    qtbot: QtBot, look: Look
) -> None:
    """Fields stand in one line whether or not one is changed."""
    row, said = made(qtbot, look, TYPED)
    undo = row.findChild(QAbstractButton, "knob-max_num_seqs-undo")
    assert undo is not None
    assert undo.isHidden()
    width = row.sizeHint().width()
    row.show_knob(msgspec.structs.replace(TYPED, value="4", is_changed=True, was="before: 8"))

    undo.click()

    assert row.sizeHint().width() == width
    assert said == [("max_num_seqs", "8")]


def test_a_narrow_row_shows_the_whole_range(qtbot: QtBot, look: Look) -> None:
    """“max_num_seqs · 1 to 256 r…” kept back the one thing that it is for."""
    row, _said = made(qtbot, look, TYPED)
    row.resize(360, row.heightForWidth(360))
    row.grab()

    expert = next(one for one in row.findChildren(QLabel) if one.text() == TYPED.expert)

    assert expert.fontMetrics().horizontalAdvance(TYPED.expert) > expert.width()
    assert expert.wordWrap()
    assert expert.height() >= expert.heightForWidth(expert.width())
