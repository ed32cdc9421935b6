"""The sheet of keys."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from studio.ui.theme import Look
from studio.ui.viewmodels.frame import PageId
from studio.ui.viewmodels.keyboard import DEEDS, key_groups
from studio.ui.widgets.help_sheet import HelpSheet
from studio.ui.window import SMALLEST


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


def test_groups_stand_as_far_apart_as_the_margin(qtbot: QtBot, look: Look) -> None:
    """A gap in the middle looks like a group that is missing."""
    sheet = HelpSheet(look, key_groups(tuple(PageId)))
    look.dress(sheet)
    qtbot.addWidget(sheet)
    sheet.show()
    sheet.grab()  # lays everything out
    words = {one.text(): one for one in sheet.findChildren(QLabel)}
    above, below = words["Ctrl+9"], words["Inside a page"]

    apart = below.mapTo(sheet, below.rect().topLeft()) - above.mapTo(sheet, above.rect().topLeft())

    assert apart.y() - above.height() in range(12, look.space("page_margin") + 4)


def test_it_fits_into_the_smallest_window(qtbot: QtBot, look: Look) -> None:
    """Whoever has a small or a dense screen needs the button at its foot, too."""
    sheet = HelpSheet(look, key_groups(tuple(PageId)))
    look.dress(sheet)
    qtbot.addWidget(sheet)
    sheet.show()
    sheet.grab()

    wide = max(sheet.sizeHint().width(), sheet.minimumWidth())
    assert wide <= SMALLEST[0]
    assert sheet.heightForWidth(wide) <= SMALLEST[1]
