"""The dialog that asks for a path."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QPushButton
from pytestqt.qtbot import QtBot

from studio.ui.theme import Look
from studio.ui.widgets.path_dialog import PathDialog, Wanted


def made(qtbot: QtBot, look: Look, wanted: Wanted, more: str = "") -> PathDialog:
    """Return a dialog that is open."""
    dialog = PathDialog(
        look, "import", "Install", about="A file.", verb="Install", wanted=wanted, more=more
    )
    qtbot.addWidget(dialog)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, on=False)
    dialog.open()
    return dialog


def button(dialog: PathDialog, name: str) -> QPushButton:
    """Return a button of it."""
    found = dialog.findChild(QPushButton, f"import-{name}")
    assert found is not None
    return found


def test_a_path_is_typed_and_enter_gives_it(qtbot: QtBot, look: Look) -> None:
    """Without a path there is nothing to do."""
    dialog = made(qtbot, look, Wanted.FILE, "Fingerprint")
    assert not button(dialog, "do").isEnabled()
    dialog.path.setText(" /media/stick/größe 1.weir ")
    dialog.more.setText("ab:cd")

    with qtbot.waitSignal(dialog.given) as given:
        qtbot.keyClick(dialog.path, Qt.Key.Key_Return)

    assert given.args == ["/media/stick/größe 1.weir", "ab:cd"]
    assert dialog.isHidden()


@pytest.mark.parametrize("wanted", list(Wanted))
def test_a_path_may_be_chosen_and_a_choice_that_was_cancelled_changes_nothing(
    qtbot: QtBot, look: Look, monkeypatch: pytest.MonkeyPatch, wanted: Wanted
) -> None:
    """The system's own dialog knows the person's folders."""
    dialog = made(qtbot, look, wanted)
    assert dialog.more.isHidden()
    answers = iter(("/chosen", ""))
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: next(answers))
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (next(answers), ""))

    for _time in range(2):
        qtbot.mouseClick(button(dialog, "choose"), Qt.MouseButton.LeftButton)

    assert dialog.path.text() == "/chosen"
    qtbot.mouseClick(button(dialog, "close"), Qt.MouseButton.LeftButton)
    assert dialog.isHidden()
