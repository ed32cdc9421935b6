"""The dialog that takes a model in."""

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from studio.domain.library import ImportWay, ModelImport
from studio.ui.theme import Look
from studio.ui.widgets.import_dialog import ImportDialog


def test_way_and_name_go_along_with_the_path(qtbot: QtBot, look: Look) -> None:
    """Leaving it where it is costs nothing, so it comes first."""
    dialog = ImportDialog(look)
    qtbot.addWidget(dialog)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, on=False)
    dialog.open()
    dialog.path.setText("/media/größe disk/model")
    with qtbot.waitSignal(dialog.wanted) as wanted:
        qtbot.keyClick(dialog.path, Qt.Key.Key_Return)
    assert wanted.args == [ModelImport(path="/media/größe disk/model")]

    dialog.way.button("copy").click()
    dialog.more.setText("mine")
    with qtbot.waitSignal(dialog.wanted) as wanted:
        qtbot.keyClick(dialog.path, Qt.Key.Key_Return)

    path = "/media/größe disk/model"
    assert wanted.args == [ModelImport(path=path, by=ImportWay.COPY, name="mine")]
