"""One setting in each of its kinds."""

import msgspec
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QComboBox, QLineEdit
from pytestqt.qtbot import QtBot

from studio.ui.theme import Look
from studio.ui.viewmodels.settings import Edit, Kind, Option, RowProblem, RowView, Verb
from studio.ui.widgets.setting import SettingRow
from tests.ui.test_window import button, click, shown, text

TWO = (Option(value="a", text="First"), Option(value="b", text="Second"))


class Made:
    """A setting and what was wished of it."""

    def __init__(self, qtbot: QtBot, look: Look, view: RowView) -> None:
        self.edits: list[Edit] = []
        self.view = view
        self.row = SettingRow(look, view)
        self.row.edited.connect(self.edits.append)
        qtbot.addWidget(self.row)
        self.row.show()

    def become(self, **fields: object) -> None:
        """Show the setting changed."""
        self.view = msgspec.structs.replace(self.view, **fields)
        self.row.show_row(self.view)

    def field(self) -> QLineEdit:
        """Return the one field."""
        found = self.row.findChild(QLineEdit)
        assert found is not None
        return found


def view(kind: Kind, **fields: object) -> RowView:
    """Return a setting called Proxy."""
    base = RowView(id="n.proxy", title="Proxy", kind=kind, about="What it is for.", button="Set")
    return msgspec.structs.replace(base, **fields)


def test_a_text_is_set_by_enter_or_press_and_only_when_it_differs(qtbot: QtBot, look: Look) -> None:
    """Setting what holds already would say that something changed."""
    made = Made(qtbot, look, view(Kind.TEXT, value="old", can_reset=True))
    assert not button(made.row, "set-n.proxy").isEnabled()
    qtbot.keyClick(made.field(), Qt.Key.Key_Return)
    assert made.edits == []

    made.field().clear()
    qtbot.keyClicks(made.field(), " new ")
    qtbot.keyClick(made.field(), Qt.Key.Key_Return)
    click(qtbot, made.row, "set-n.proxy")
    assert made.edits == [Edit(row="n.proxy", verb=Verb.SET, value="new")] * 2

    click(qtbot, made.row, "reset-n.proxy")
    assert made.edits[-1] == Edit(row="n.proxy", verb=Verb.RESET)


def test_what_is_being_typed_survives_news_and_a_refusal(qtbot: QtBot, look: Look) -> None:
    """A refusal is put right, not typed again."""
    made = Made(qtbot, look, view(Kind.TEXT, value="old"))
    made.field().clear()
    qtbot.keyClicks(made.field(), "socks5://x")

    made.become(note="Something else changed.")
    made.become(problem=RowProblem(text="It cannot be so.", code="proxy-invalid"))
    assert made.field().text() == "socks5://x"
    assert text(made.row, "problem-n.proxy") == "It cannot be so."
    assert not shown(made.row, "yes-n.proxy")

    made.become(value="taken", problem=None)
    assert made.field().text() == "taken"


def test_a_question_is_answered_in_place(qtbot: QtBot, look: Look) -> None:
    """Yes and no stand under what they are about."""
    made = Made(qtbot, look, view(Kind.CHOICE, value="a", options=TWO))
    made.become(problem=RowProblem(text="Everybody could.", code="gateway-exposed", consent="Yes"))

    click(qtbot, made.row, "yes-n.proxy")
    click(qtbot, made.row, "no-n.proxy")

    assert [edit.verb for edit in made.edits] == [Verb.CONSENT, Verb.DISMISS]


def test_a_choice_that_was_refused_goes_back(qtbot: QtBot, look: Look) -> None:
    """What is marked is what holds."""
    made = Made(qtbot, look, view(Kind.CHOICE, value="a", options=TWO))

    click(qtbot, made.row, "choose-n.proxy-b")
    assert made.edits == [Edit(row="n.proxy", verb=Verb.SET, value="b")]
    made.become(note="refused")
    assert button(made.row, "choose-n.proxy-a").isChecked()

    made.become(options=(*TWO, Option(value="c", text="Third")), value="c")
    assert button(made.row, "choose-n.proxy-c").isChecked()


def test_a_switch_and_a_list_that_opens_tell_what_was_wished(qtbot: QtBot, look: Look) -> None:
    """Each in its own way, with one meaning."""
    switch = Made(qtbot, look, view(Kind.SWITCH, value="off"))
    click(qtbot, switch.row, "switch-n.proxy")
    assert switch.edits == [Edit(row="n.proxy", verb=Verb.SET, value="on")]
    switch.become(value="off", note="refused")
    assert not button(switch.row, "switch-n.proxy").isChecked()

    pick = Made(qtbot, look, view(Kind.PICK, value="b", options=TWO))
    box = pick.row.findChild(QComboBox)
    assert box is not None
    assert box.currentText() == "Second"
    box.activated.emit(0)
    assert pick.edits == [Edit(row="n.proxy", verb=Verb.SET, value="a")]


def test_a_list_takes_entries_and_gives_them_back(qtbot: QtBot, look: Look) -> None:
    """What was added leaves the field, what was refused stays in it."""
    made = Made(qtbot, look, view(Kind.LIST, items=TWO, button="Add", remove="Remove"))
    assert not button(made.row, "add-n.proxy").isEnabled()
    qtbot.keyClicks(made.field(), "c")
    click(qtbot, made.row, "add-n.proxy")
    click(qtbot, made.row, "remove-n.proxy-a")
    assert made.edits == [
        Edit(row="n.proxy", verb=Verb.SET, value="c"),
        Edit(row="n.proxy", verb=Verb.REMOVE, value="a"),
    ]
    assert made.field().text() == "c"

    made.become(items=(*TWO, Option(value="c", text="Third")))
    assert made.field().text() == ""
    assert button(made.row, "remove-n.proxy-c").accessibleName() == "Remove Third"


def test_a_fact_can_be_copied_and_a_deed_is_pressed(qtbot: QtBot, look: Look) -> None:
    """Paths and addresses are wanted elsewhere."""
    fact = Made(qtbot, look, view(Kind.FACT, value="/home/ada", is_warning=True))
    label = fact.row.findChild(QAbstractButton)
    assert label is None or not label.isVisible()
    assert text(fact.row, "value-n.proxy") == "/home/ada"

    deed = Made(qtbot, look, view(Kind.DEED, value="Nobody keeps it.", button="Keep it"))
    click(qtbot, deed.row, "do-n.proxy")
    assert deed.edits == [Edit(row="n.proxy", verb=Verb.SET)]


@pytest.mark.parametrize("kind", [kind for kind in Kind if kind is not Kind.FACT])
def test_a_resting_setting_takes_nothing(qtbot: QtBot, look: Look, kind: Kind) -> None:
    """Without a service every press would be lost."""
    made = Made(qtbot, look, view(kind, options=TWO, value="a", is_enabled=False))

    for one in made.row.findChildren(QAbstractButton):
        if not one.isVisible():
            continue
        qtbot.mouseClick(one, Qt.MouseButton.LeftButton)

    assert made.edits == []
