"""The dialog of hubs' tokens."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QLineEdit, QPushButton
from pytestqt.qtbot import QtBot

from studio.domain.downloads import HubName, LoginInfo
from studio.ui.theme import Look
from studio.ui.widgets.hubs_dialog import HubsDialog


def test_a_token_is_given_once_and_never_shown(qtbot: QtBot, look: Look) -> None:
    """Somebody may look over the shoulder."""
    dialog = HubsDialog(look)
    qtbot.addWidget(dialog)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, on=False)
    dialog.open()
    field = dialog.findChild(QLineEdit, "hub-huggingface-token")
    keep = dialog.findChild(QPushButton, "hub-huggingface-keep")
    forget = dialog.findChild(QPushButton, "hub-huggingface-forget")
    words = dialog.findChild(QLabel, "hub-huggingface-text")
    assert field is not None
    assert keep is not None
    assert forget is not None
    assert words is not None
    assert field.echoMode() is QLineEdit.EchoMode.Password
    assert not keep.isEnabled()
    field.setText(" hf_secret ")

    with qtbot.waitSignal(dialog.kept) as kept:
        qtbot.keyClick(field, Qt.Key.Key_Return)

    assert kept.args == [HubName.HUGGING_FACE, "hf_secret"]
    assert field.text() == ""
    info = LoginInfo(
        hub=HubName.HUGGING_FACE, endpoint="https://huggingface.co", source="weir models login"
    )
    dialog.show_logins({HubName.HUGGING_FACE: info}, "The token is no token.")
    assert "https://huggingface.co" in words.text()
    with qtbot.waitSignal(dialog.forgotten) as forgotten:
        forget.click()
    assert forgotten.args == [HubName.HUGGING_FACE]
    note = dialog.findChild(QLabel, "hubs-note")
    assert note is not None
    assert note.text() == "The token is no token."
