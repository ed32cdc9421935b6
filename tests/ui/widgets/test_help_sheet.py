"""The sheet of keys."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from studio.ui.theme import Look
from studio.ui.viewmodels.frame import PageId
from studio.ui.viewmodels.keyboard import DEEDS, key_groups
from studio.ui.widgets.help_sheet import HelpSheet


def test_it_lists_every_key_and_escape_closes_it(qtbot: QtBot, look: Look) -> None:
    """Whoever asks for help by keyboard leaves it by keyboard."""
    sheet = HelpSheet(look, key_groups(tuple(PageId)))
    sheet.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    qtbot.addWidget(sheet)
    sheet.open()
    caps = [one.text() for one in sheet.findChildren(QLabel) if one.property("kind") == "key"]
    assert len(caps) == len(DEEDS) + len(PageId) + 6
    assert "F1 / ?" in caps

    qtbot.keyClick(sheet, Qt.Key.Key_Escape)

    assert not sheet.isVisible()
