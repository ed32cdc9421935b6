"""The log view: floods, follow, search, keyboard."""

import time

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from studio.ui.theme import Look
from studio.ui.viewmodels.logs import Gravity
from studio.ui.widgets.log_view import LogView
from tests.ui.fake_service import line

BURST_LINES = 20_000
MOST_STALL_S = 0.05
"""Of this process's own time: what other programs take is not ours to promise."""


@pytest.fixture
def view(qtbot: QtBot, look: Look) -> LogView:
    """Return a view that is shown."""
    made = LogView(look, "log")
    made.resize(900, 500)
    qtbot.addWidget(made)
    with qtbot.waitExposed(made):
        made.show()
    return made


def test_a_burst_of_twenty_thousand_lines_does_not_stall_the_event_loop(
    qapp: QApplication, view: LogView
) -> None:
    """An engine that fails in a loop must not take the Stop button away."""
    view.append_lines([line(seq, "an ordinary line of the engine") for seq in range(80_000)])
    view.search("needle")
    qapp.processEvents()
    burst = [line(seq, f"line {seq} of a burst") for seq in range(80_000, 80_000 + BURST_LINES)]

    stalls = []
    for start in range(0, BURST_LINES, 4_000):
        began = time.process_time()
        view.append_lines(burst[start : start + 4_000])
        qapp.processEvents()
        stalls.append(time.process_time() - began)
    began = time.process_time()
    view.append_lines([line(seq, "all at once") for seq in ()] or burst)
    qapp.processEvents()
    stalls.append(time.process_time() - began)

    assert max(stalls) < MOST_STALL_S, stalls


def test_it_follows_until_one_scrolls_up_and_again_from_the_end(
    qtbot: QtBot, view: LogView
) -> None:
    """Reading must not be torn away by the next line."""
    view.append_lines([line(seq, str(seq)) for seq in range(1_000)])
    bar = view.verticalScrollBar()
    assert bar.value() == bar.maximum()

    bar.setValue(100)
    view.append_lines([line(1_000, "new")])
    assert not view.follow
    assert bar.value() == 100

    qtbot.keyClick(view, Qt.Key.Key_End)
    assert view.follow
    assert bar.value() == bar.maximum()


def test_the_place_stays_when_the_oldest_lines_go(view: LogView) -> None:
    """What one reads stays under the eyes."""
    view.append_lines([line(seq, str(seq)) for seq in range(104_000)])
    view.verticalScrollBar().setValue(50_000)
    reading = view.lines.shown[50_000].seq

    view.append_lines([line(seq, str(seq)) for seq in range(104_000, 107_000)])

    assert view.lines.shown[view.verticalScrollBar().value()].seq == reading


def test_search_starts_at_the_newest_and_goes_around(view: LogView) -> None:
    """The last error is the one that is looked for."""
    view.append_lines([line(seq, "needle" if seq % 100 == 0 else "hay") for seq in range(1_000)])

    view.search("NEEDLE")
    assert view.current_match == 9
    view.step(1)
    assert view.current_match == 0
    view.step(-1)
    view.step(-1)
    assert view.current_match == 8
    row = view.lines.matches[8]
    first = view.verticalScrollBar().value()
    assert first <= row < first + 40


def test_lines_are_selected_and_copied_by_mouse_and_keyboard(qtbot: QtBot, view: LogView) -> None:
    """A report is made of these lines."""
    view.append_lines([line(seq, f"text {seq}") for seq in range(10)])
    port = view.viewport()
    qtbot.mouseClick(port, Qt.MouseButton.LeftButton, pos=QPoint(50, 14))
    qtbot.keyClick(view, Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
    qtbot.keyClick(view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)

    copied = QApplication.clipboard().text().splitlines()
    assert [item.rpartition("text ")[2] for item in copied] == ["0", "1"]

    qtbot.keyClick(view, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    view.copy()
    assert len(QApplication.clipboard().text().splitlines()) == 10


def test_only_grave_lines_are_shown_on_request(view: LogView) -> None:
    """And the search looks at what is shown."""
    view.append_lines([line(0, "a"), line(1, "b", level="warning"), line(2, "a", level="error")])

    view.filter(Gravity.WARNINGS)
    view.search("a")

    assert [item.seq for item in view.lines.shown] == [1, 2]
    assert view.lines.matches == [1]


def test_an_empty_log_and_a_click_on_it_are_harmless(qtbot: QtBot, view: LogView) -> None:
    """The first thing that a new user clicks."""
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton)
    qtbot.keyClick(view, Qt.Key.Key_Down)
    qtbot.keyClick(view, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)

    assert view.selected_text() == ""


@pytest.mark.parametrize("text", ["x" * 5_000, "日本語 " * 200, "\x1b[31mred\x1b[0m", ""])
def test_any_line_can_be_drawn_and_searched(qapp: QApplication, view: LogView, text: str) -> None:
    """Models print everything."""
    view.append_lines([line(0, text, level="error")])
    view.search(text[:3])
    view.horizontalScrollBar().setValue(40)

    assert not view.grab().isNull()


def test_typing_a_search_over_a_hundred_thousand_lines_does_not_stall(
    qapp: QApplication, view: LogView
) -> None:
    """What is shown is filtered at each key."""
    view.append_lines([line(seq, f"line {seq} of the engine") for seq in range(100_000)])
    view.filter(Gravity.ALL, only_matches=True)

    stalls = []
    for typed in ("l", "li", "line 9", "line 99", "line 9", ""):
        began = time.process_time()
        view.search(typed)
        qapp.processEvents()
        stalls.append(time.process_time() - began)

    assert sorted(stalls)[len(stalls) // 2] < MOST_STALL_S, stalls
