"""Lines on their way into the log view: folded, and a flood in pieces."""

import time

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from studio.domain.metrics import LogLine
from studio.domain.tracebacks import Folder
from studio.ui.theme import Look
from studio.ui.widgets.log_feed import PIECE_LINES, LogFeed
from studio.ui.widgets.log_view import LogView
from tests.ui.fake_service import line

BURST_LINES = 20_000
MOST_STALL_S = 0.05
"""Of this process's own time: what other programs take is not ours to promise."""
TRACEBACK = (
    "(EngineCore pid=7) ERROR 11-29 14:29:59 [core.py:1] Traceback (most recent call last):",
    *(
        f'(EngineCore pid=7) ERROR 11-29 14:29:59 [core.py:1]   File "/srv/a.py", line {n}, in run'
        for n in range(17)
    ),
    "(EngineCore pid=7) ERROR 11-29 14:29:59 [core.py:1] ValueError: no room",
    "(EngineCore pid=7) INFO 11-29 14:29:59 [core.py:1] trying again",
)


@pytest.fixture
def feed(qtbot: QtBot, look: Look) -> LogFeed:
    """Return what feeds a view that is shown."""
    view = LogView(look, "log")
    view.resize(900, 500)
    qtbot.addWidget(view)
    with qtbot.waitExposed(view):
        view.show()
    return LogFeed(view)


def view_of(feed: LogFeed) -> LogView:
    """Return the view that it feeds."""
    view = feed.parent()
    assert isinstance(view, LogView)
    return view


def failing(count: int) -> list[LogLine]:
    """Return the lines of an engine that fails in a loop."""
    return [line(seq, TRACEBACK[seq % len(TRACEBACK)], level="error") for seq in range(count)]


def turns(qapp: QApplication, feed: LogFeed) -> list[float]:
    """Return how long each turn of the event loop took until nothing waits, in seconds."""
    taken = []
    while feed.is_busy:
        began = time.process_time()
        qapp.processEvents()
        taken.append(time.process_time() - began)
    return taken


def test_twenty_thousand_lines_of_tracebacks_leave_room_for_a_click(
    qapp: QApplication, feed: LogFeed
) -> None:
    """Folding them all takes longer than that; each turn of the loop only a little of it."""
    view = view_of(feed)
    view.append_lines([line(seq, "an ordinary line") for seq in range(100_000)])
    view.search("room")
    burst = failing(BURST_LINES)

    began = time.process_time()
    feed.add(burst, 0)
    taken = [time.process_time() - began, *turns(qapp, feed)]

    assert len(taken) >= BURST_LINES // PIECE_LINES
    assert sorted(taken)[-2] < MOST_STALL_S, taken
    folded = [one for one in view.lines.shown if "traceback of 19 lines" in one.text]
    assert len(folded) == BURST_LINES // len(TRACEBACK)


def test_what_comes_in_pieces_is_what_would_come_at_once(qapp: QApplication, feed: LogFeed) -> None:
    """A traceback lies across the border of two pieces."""
    lines = failing(2 * PIECE_LINES + 7)
    whole = Folder(patience=2)
    whole.grow_older()

    feed.add(lines[:-7], 3)
    feed.add(lines[-7:], 2)
    turns(qapp, feed)

    assert view_of(feed).lines.shown == whole.folded(lines)
    assert view_of(feed).lines.dropped == 5


def test_an_ordinary_second_is_there_at_once(feed: LogFeed) -> None:
    """Whoever searches right after it finds it."""
    feed.add([line(seq, "ordinary") for seq in range(PIECE_LINES)], 0)

    assert not feed.is_busy
    assert view_of(feed).lines.count == PIECE_LINES


def test_other_lines_take_the_place_of_those_that_still_wait(
    qapp: QApplication, feed: LogFeed
) -> None:
    """Another file is opened while a long one comes in."""
    feed.add([line(seq, "old") for seq in range(4 * PIECE_LINES)], 0)
    feed.replace([line(seq, "new") for seq in range(PIECE_LINES + 1)], whole=True)
    turns(qapp, feed)

    assert {one.text for one in view_of(feed).lines.shown} == {"new"}
    assert view_of(feed).lines.count == PIECE_LINES + 1


def test_while_it_is_held_nothing_comes_and_afterwards_all(
    qtbot: QtBot, qapp: QApplication, feed: LogFeed
) -> None:
    """Pause is pressed in the middle of a flood."""
    feed.add([line(seq, str(seq)) for seq in range(3 * PIECE_LINES)], 0)
    feed.hold(is_held=True)
    for _ in range(20):
        qapp.processEvents()
    assert view_of(feed).lines.count == PIECE_LINES

    with qtbot.waitSignal(feed.caught_up):
        feed.hold(is_held=False)
    assert view_of(feed).lines.count == 3 * PIECE_LINES
