"""The form for a vLLM that already runs."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QLineEdit, QPushButton
from pytestqt.qtbot import QtBot

from studio.domain.adopt import AdoptRequest
from studio.domain.errors import ErrorInfo
from studio.ui.theme import Look
from studio.ui.widgets.adopt_dialog import AdoptDialog


@pytest.fixture
def dialog(qtbot: QtBot, look: Look) -> AdoptDialog:
    """Return the open form."""
    made = AdoptDialog(look)
    made.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)  # the fixture closes it again
    qtbot.addWidget(made)
    with qtbot.waitExposed(made):
        made.open()
    return made


def do(dialog: AdoptDialog) -> QPushButton:
    """Return the button that does it."""
    found = dialog.findChild(QPushButton, "adopt-do")
    assert isinstance(found, QPushButton)
    return found


def words(dialog: AdoptDialog, name: str) -> str:
    """Return what a label says; nothing while it is hidden."""
    found = dialog.findChild(QLabel, name)
    assert isinstance(found, QLabel)
    return found.text() if not found.isHidden() else ""


def test_what_is_typed_goes_out_once_and_the_key_is_never_readable(dialog: AdoptDialog) -> None:
    """The field hides it, the request leaves it out of what may be logged, a second press rests."""
    sent: list[AdoptRequest] = []
    dialog.wanted.connect(sent.append)
    assert not do(dialog).isEnabled()
    dialog.address.setText(" http://127.0.0.1:8000 ")
    dialog.key.setText("geheim")

    do(dialog).click()
    do(dialog).click()

    assert sent == [AdoptRequest(url="http://127.0.0.1:8000", key="geheim")]
    assert "geheim" not in repr(sent)
    assert dialog.key.echoMode() is QLineEdit.EchoMode.Password
    assert not dialog.address.isEnabled()


def test_a_refusal_stands_in_the_form_and_nothing_typed_is_lost(dialog: AdoptDialog) -> None:
    """The caret waits at what is wrong; the next try takes the refusal away."""
    dialog.address.setText("http://127.0.0.1:8000")
    do(dialog).click()
    error = ErrorInfo(code="adopt-key-refused", message="It wants a key.")

    dialog.show_error(error)

    assert "It wants a key, or another" in words(dialog, "adopt-fault")
    assert dialog.address.text() == "http://127.0.0.1:8000"
    assert dialog.key.hasFocus()
    dialog.key.setText("k")
    do(dialog).click()
    assert words(dialog, "adopt-fault") == ""


def test_what_was_adopted_takes_the_forms_place(dialog: AdoptDialog) -> None:
    """The key is out of the window then, and the way to what serves is one press."""
    followed: list[bool] = []
    dialog.followed.connect(lambda: followed.append(True))
    dialog.key.setText("geheim")

    dialog.show_done(("It is adopted.", "To note."))

    assert words(dialog, "adopt-said") == "It is adopted.\n\nTo note."
    assert dialog.key.text() == ""
    assert do(dialog).isHidden()
    follow = dialog.findChild(QPushButton, "adopt-follow")
    assert isinstance(follow, QPushButton)
    follow.click()
    assert followed == [True]
