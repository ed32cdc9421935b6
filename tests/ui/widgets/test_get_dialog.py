"""The dialog that asks for a model."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from studio.domain.downloads import GetRequest, HubName
from studio.ui.theme import Look
from studio.ui.widgets.get_dialog import GetDialog


def test_all_fields_become_one_request(qtbot: QtBot, look: Look) -> None:
    """What the command line takes, the dialog takes."""
    dialog = GetDialog(look)
    qtbot.addWidget(dialog)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, on=False)
    dialog.open()
    do = dialog.findChild(QPushButton, "get-do")
    assert do is not None
    assert dialog.focusWidget() is dialog.repository
    dialog.repository.setText("owner-alone")
    assert not do.isEnabled()
    dialog.repository.setText(" Qwen/Qwen3-0.6B ")
    with qtbot.waitSignal(dialog.given) as given:
        qtbot.keyClick(dialog.repository, Qt.Key.Key_Return)
    assert given.args == [GetRequest(repository="Qwen/Qwen3-0.6B")]

    dialog.hubs.button("modelscope").click()
    dialog.revision.setText("v1.0")
    dialog.include.setText("*.safetensors, *.json")
    dialog.exclude.setText("old/")
    dialog.into.setText("/media/stick/größe")
    dialog.update_box.setChecked(True)
    with qtbot.waitSignal(dialog.given) as given:
        do.click()

    assert given.args == [
        GetRequest(
            repository="Qwen/Qwen3-0.6B", hub=HubName.MODEL_SCOPE, revision="v1.0",
            include=("*.safetensors", "*.json"), exclude=("old/",), into="/media/stick/größe",
            update=True,
        )
    ]  # fmt: skip
    assert dialog.isHidden()
