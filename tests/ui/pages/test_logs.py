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


TRACEBACK = (
    "Traceback (most recent call last):", '  File "/srv/a.py", line 3, in load', "ValueError: no",
)  # fmt: skip


def test_errors_only_and_warnings_take_turns(page: LogsPage) -> None:
    """Two buttons, one filter."""
    press(page, "log-errors")
    assert count(page) == "10 lines"

    grave = press(page, "log-grave")
    assert count(page) == "20 lines"
    assert grave.isChecked()
    grave.click()
    assert count(page) == "30 lines"


def test_only_matches_filters_as_one_types(qtbot: QtBot, page: LogsPage) -> None:
    """A hundred lines that match, one below the other."""
    press(page, "log-only")
    qtbot.keyClicks(page.field, "word 2")
    assert count(page) == "11 lines · 11 of 11 matches"

    page.append_lines([line(30, "word 2 again"), line(31, "other")], 0)
    assert [item.text for item in page.view.lines.shown][-1] == "word 2 again"
    page.field.clear()
    assert count(page) == "32 lines"


def test_while_paused_nothing_moves_and_nothing_is_lost(page: LogsPage) -> None:
    """One reads a line; the engine writes a thousand."""
    pause = press(page, "log-pause")
    page.append_lines([line(seq, "new") for seq in range(30, 1030)], 5)
    assert count(page) == "30 lines · paused, 1,005 new lines wait"

    pause.click()
    assert count(page) == "1,030 lines · 5 older lines not kept"
    assert page.view.follow


def test_a_traceback_is_one_line_until_it_is_wanted_whole(qtbot: QtBot, page: LogsPage) -> None:
    """Sixty lines of frames hide the one that says why."""
    page.append_lines([line(30 + at, text, level="none") for at, text in enumerate(TRACEBACK)], 0)
    page.append_lines([line(33, "INFO:     goes on", level="info")], 0)
    assert [item.text for item in page.view.lines.shown][-2:] == [
        "ValueError: no [a.py:3 in load, traceback of 3 lines]",
        "INFO:     goes on",
    ]

    press(page, "log-whole")
    assert [item.text for item in page.view.lines.shown][-4:-1] == list(TRACEBACK)


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for the end of a traceback no longer than a blink."""
    monkeypatch.setattr("studio.ui.widgets.log_feed.FOLD_MS", 30)


@pytest.mark.usefixtures("patient")
def test_a_traceback_that_never_ends_appears_all_the_same(qtbot: QtBot, page: LogsPage) -> None:
    """The engine was killed while it spoke."""
    page.append_lines([line(30 + at, text, level="none") for at, text in enumerate(TRACEBACK)], 0)

    qtbot.waitUntil(lambda: count(page) == "31 lines")


def test_a_report_can_be_asked_for(qtbot: QtBot, page: LogsPage) -> None:
    """Whoever looks at the log is about to ask somebody."""
    with qtbot.waitSignal(page.report_asked):
        press(page, "log-report")
