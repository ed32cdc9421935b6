"""The log page."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QLabel
from pytestqt.qtbot import QtBot

from studio.ui.pages.logs import LogsPage
from studio.ui.theme import Look
from tests.ui.fake_service import line


@pytest.fixture
def page(qtbot: QtBot, look: Look) -> LogsPage:
    """Return a page with thirty lines."""
    made = LogsPage(look)
    made.resize(900, 500)
    qtbot.addWidget(made)
    with qtbot.waitExposed(made):
        made.show()
    levels = ("info", "warning", "error")
    made.replace_lines([line(seq, f"word {seq}", level=levels[seq % 3]) for seq in range(30)])
    return made


def count(page: LogsPage) -> str:
    """Return what the line under the log says."""
    label = page.findChild(QLabel, "log-count")
    assert label is not None
    return label.text()


def press(page: LogsPage, name: str) -> QAbstractButton:
    """Click a button and return it."""
    button = page.findChild(QAbstractButton, name)
    assert button is not None
    button.click()
    return button


def test_enter_steps_through_the_matches_and_escape_ends_the_search(
    qtbot: QtBot, page: LogsPage
) -> None:
    """Hands stay on the keyboard."""
    page.begin_search()
    qtbot.keyClicks(page.field, "word 2")
    assert count(page) == "30 lines · 11 of 11 matches"

    qtbot.keyClick(page.field, Qt.Key.Key_Return)
    assert count(page) == "30 lines · 1 of 11 matches"
    qtbot.keyClick(page.field, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert count(page) == "30 lines · 11 of 11 matches"
    press(page, "log-previous")
    assert count(page) == "30 lines · 10 of 11 matches"

    qtbot.keyClick(page.field, Qt.Key.Key_Escape)
    assert count(page) == "30 lines"
    assert not press(page, "log-next").isEnabled()


def test_the_filter_counts_what_it_shows(page: LogsPage) -> None:
    """Twenty of thirty."""
    press(page, "log-grave")

    assert count(page) == "20 lines"


def test_the_follow_button_tells_and_sets(qtbot: QtBot, page: LogsPage) -> None:
    """One sees whether the newest line is in view."""
    page.append_lines([line(seq, "more") for seq in range(30, 500)], 12)
    follow = page.findChild(QAbstractButton, "log-follow")
    assert follow is not None
    assert follow.isChecked()
    assert count(page) == "500 lines · 12 older lines not kept"

    page.view.verticalScrollBar().setValue(0)
    assert not follow.isChecked()
    follow.click()
    assert page.view.verticalScrollBar().value() == page.view.verticalScrollBar().maximum()
