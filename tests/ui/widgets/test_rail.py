"""The rail."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QToolButton
from pytestqt.qtbot import QtBot

from studio.ui.theme import Look, ThemeChoice
from studio.ui.viewmodels.frame import PageId, page_words
from studio.ui.viewmodels.settings_program import newer_words
from studio.ui.viewmodels.words import Text
from studio.ui.widgets.rail import Rail


def test_the_rail_lists_the_pages_that_exist_and_tells_which_was_chosen(
    qtbot: QtBot, look: Look
) -> None:
    """No dead entries."""
    rail = Rail(look, tuple(PageId))
    qtbot.addWidget(rail)
    pages = [item for item in rail.findChildren(QToolButton) if item.isCheckable()]
    assert [item.text().strip() for item in pages] == [page_words(page).text for page in PageId]

    with qtbot.waitSignal(rail.page_chosen) as chosen:
        pages[3].click()
    assert chosen.args == [PageId.KEYS]

    rail.mark(PageId.LOGS)
    assert [item.text().strip() for item in pages if item.isChecked()] == ["Logs"]


def test_collapsed_entries_keep_their_words_for_screen_readers(qtbot: QtBot, look: Look) -> None:
    """Icons alone, and names still."""
    rail = Rail(look, tuple(PageId))
    qtbot.addWidget(rail)
    rail.show_newer(newer_words("1.2.0"))

    rail.collapse(True)

    assert rail.collapsed
    for item in rail.findChildren(QToolButton):
        assert item.toolButtonStyle() is Qt.ToolButtonStyle.ToolButtonIconOnly
        assert item.accessibleName()
        assert item.toolTip()


def test_a_newer_version_has_an_entry_of_its_own(qtbot: QtBot, look: Look) -> None:
    """Also as an icon alone; where there is none, nothing stands there."""
    rail = Rail(look, tuple(PageId))
    qtbot.addWidget(rail)
    entry = rail.findChild(QToolButton, "rail-newer")
    assert entry is not None
    assert entry.isHidden()

    rail.show_newer(newer_words("1.2.0"))

    assert not entry.isHidden()
    assert entry.text().strip() == "1.2.0 is there"
    assert "1.2.0" in entry.accessibleName()
    with qtbot.waitSignal(rail.newer_asked):
        entry.click()
    rail.show_newer(None)
    assert entry.isHidden()


def test_the_theme_entry_says_which_theme_it_is(qtbot: QtBot, look: Look) -> None:
    """Three states in one button."""
    rail = Rail(look, tuple(PageId))
    qtbot.addWidget(rail)
    theme = rail.findChild(QToolButton, "rail-theme")
    assert theme is not None

    words = []
    for choice in ThemeChoice:
        rail.show_theme(choice)
        words.append(theme.text().strip())
    rail.show_version(Text(text="0.1.0", tooltip="Service 0.1.0"))

    assert words == ["System theme", "Dark", "Light"]
