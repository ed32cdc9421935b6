"""The dialog's frame."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QLineEdit
from pytestqt.qtbot import QtBot

from studio.ui.theme import Look
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.dialog import Dialog
from tests.ui.tree import tree_text


def test_a_dialog_says_what_it_is_about_and_escape_leaves_it(qtbot: QtBot, look: Look) -> None:
    """Words first, buttons last; what is empty is not there."""
    dialog = Dialog(look, "key", "New key")
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, on=False)
    qtbot.addWidget(dialog)
    field = QLineEdit("agent")
    field.setObjectName("key-name")
    dialog.body.addWidget(field)
    dialog.add_button(Button(look, "key-make", "Make it"))
    dialog.open()
    assert "key-about" not in tree_text(dialog)

    dialog.show_about("For one program.")
    dialog.show_note("Not made yet.")
    said = tree_text(dialog)

    assert said.index("For one program.") < said.index("#key-name") < said.index("Make it")
    assert "Not made yet." in said
    qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    assert not dialog.isVisible()


def test_a_name_stands_closer_to_its_field_than_to_the_one_before(qtbot: QtBot, look: Look) -> None:
    """With equal gaps nobody sees which of two fields a name belongs to."""
    dialog = Dialog(look, "key", "New key")
    qtbot.addWidget(dialog)
    first, second = QLineEdit(), QLineEdit()
    dialog.add_field("Title", first)
    dialog.add_field("Name", second)
    with qtbot.waitExposed(dialog):
        dialog.open()
    (name,) = [one for one in dialog.findChildren(QLabel) if one.text() == "Name"]

    above = name.geometry().top() - first.geometry().bottom()
    assert second.geometry().top() - name.geometry().bottom() < above
