"""One chart over a span of time, with mouse and with keys."""

import itertools

import pytest
from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot

from studio.domain.history import HistoryEvent, HistoryEventKind
from studio.ui.theme import Look, ThemeChoice
from studio.ui.viewmodels.chart_kinds import BY_ID
from studio.ui.viewmodels.happened import marks_of
from studio.ui.viewmodels.monitor import lines_of
from studio.ui.viewmodels.track import Track
from studio.ui.widgets.time_chart import TimeChart, spread

START = 1_796_000_000.0
END = START + 600


@pytest.fixture
def chart(qtbot: QtBot, look: Look) -> TimeChart:
    """Return a shown chart of ten minutes."""
    made = TimeChart(look, BY_ID["decode"])
    made.resize(460, 180)
    qtbot.addWidget(made)
    with qtbot.waitExposed(made):
        made.show()
    track = Track([(START + n, float(n), float(n), float(n)) for n in range(600)])
    lines = lines_of(made.kind, ("decode_tokens_per_s",))
    made.show_lines(lines, (track,), 1.0)
    made.show_span(START, END)
    made.show_state(is_reading=False, is_live=True)
    return made


def test_the_mouse_points_and_leaves(qtbot: QtBot, chart: TimeChart) -> None:
    """And points nowhere beside the plot."""
    pointed: list[float | None] = []
    chart.pointed.connect(pointed.append)

    qtbot.mouseMove(chart, QPoint(200, 90))
    qtbot.mouseMove(chart, QPoint(10, 90))

    assert pointed[0] is not None
    assert START < pointed[0] < END
    assert pointed[-1] is None
    assert chart.values_at(pointed[0])[0][0] == "decode"
    assert chart.values_at(START - 500)[0][1] == "–"


def test_a_drag_zooms_and_a_click_does_not(qtbot: QtBot, chart: TimeChart) -> None:
    """In either direction; a double click goes back."""
    zoomed: list[tuple[float, float]] = []
    chart.zoomed.connect(lambda begin, end: zoomed.append((begin, end)))
    left, right = QPoint(120, 90), QPoint(260, 90)
    for begin, end in ((left, right), (right, left)):
        qtbot.mousePress(chart, Qt.MouseButton.LeftButton, pos=begin)
        qtbot.mouseMove(chart, end)
        qtbot.mouseRelease(chart, Qt.MouseButton.LeftButton, pos=end)
    qtbot.mouseClick(chart, Qt.MouseButton.LeftButton, pos=left)

    assert len(zoomed) == 2
    assert zoomed[0] == pytest.approx(zoomed[1])
    assert START < zoomed[0][0] < zoomed[0][1] < END
    with qtbot.waitSignal(chart.back_asked):
        qtbot.mouseDClick(chart, Qt.MouseButton.LeftButton, pos=left)


def test_keys_point_zoom_and_go_back(qtbot: QtBot, chart: TimeChart) -> None:
    """Everything the mouse can."""
    pointed: list[float | None] = []
    zoomed: list[tuple[float, float]] = []
    chart.pointed.connect(pointed.append)
    chart.pointed.connect(chart.point_at)
    chart.zoomed.connect(lambda begin, end: zoomed.append((begin, end)))

    qtbot.keyClick(chart, Qt.Key.Key_Left)
    qtbot.keyClick(chart, Qt.Key.Key_Left, Qt.KeyboardModifier.ShiftModifier)
    qtbot.keyClick(chart, Qt.Key.Key_Home)
    qtbot.keyClick(chart, Qt.Key.Key_Left)
    qtbot.keyClick(chart, Qt.Key.Key_Plus)
    assert pointed[0] is not None
    assert pointed[1] is not None
    assert END - 4 < pointed[0] < END
    assert pointed[1] < pointed[0] - 9
    assert pointed[2:] == [START, START]
    assert zoomed == [(START, START + 150)]

    qtbot.keyClick(chart, Qt.Key.Key_Escape)
    assert pointed[-1] is None
    with qtbot.waitSignal(chart.back_asked):
        qtbot.keyClick(chart, Qt.Key.Key_Escape)


def test_an_event_under_the_mouse_says_its_words(qtbot: QtBot, chart: TimeChart) -> None:
    """Its colour is not its only sign."""
    event = HistoryEvent(at=START + 300, kind=HistoryEventKind.DEATH, name="cpu-demo")
    chart.show_events(marks_of([event]))
    middle = next(x for x in range(64, 440) if abs(at_of(qtbot, chart, x) - event.at) < 2)

    qtbot.mouseMove(chart, QPoint(middle, 90))
    assert "Engine died: cpu-demo" in chart.toolTip()
    qtbot.mouseMove(chart, QPoint(middle + 40, 90))
    assert chart.toolTip() == ""


def at_of(qtbot: QtBot, chart: TimeChart, x: int) -> float:
    """Return the moment at a place."""
    found: list[float] = []
    chart.pointed.connect(found.append)
    qtbot.mouseMove(chart, QPoint(x, 90))
    chart.pointed.disconnect(found.append)
    return found[-1] if found and found[-1] is not None else 0.0


def test_it_says_its_value_to_screen_readers_and_why_it_is_blank(chart: TimeChart) -> None:
    """An empty chart is not a mystery."""
    assert chart.accessibleName() == "Decode, 599 tok/s"

    chart.show_lines((), (), 1.0)
    chart.show_state(is_reading=False, is_live=True)
    assert chart.empty == "Nothing measured in this span"
    chart.show_state(is_reading=False, is_live=False)
    assert chart.accessibleName() == "Decode, Appears when the service answers"


def test_another_theme_draws_other_colours(chart: TimeChart, look: Look) -> None:
    """What is kept as a picture must not outlive its colours."""
    dark = chart.grab().toImage()

    look.choose(ThemeChoice.LIGHT)

    assert chart.grab().toImage().pixelColor(20, 60) != dark.pixelColor(20, 60)


def test_a_chart_that_is_too_small_draws_nothing_and_does_not_fall(chart: TimeChart) -> None:
    """A window can be pulled to any size."""
    chart.setMinimumHeight(0)
    for size in ((1, 1), (140, 60), (4_000, 172)):
        chart.resize(*size)
        chart.grab()


def test_names_are_readable_where_lines_end_at_one_place() -> None:
    """Eight cards at the same temperature."""
    places = spread([50.0] * 8, 0.0, 120.0)

    gaps = [after - before for before, after in itertools.pairwise(places)]
    assert min(gaps) >= 13.9
    assert places[0] >= 0.0
    assert places[-1] <= 120.0
    assert spread([10.0, 90.0], 0.0, 120.0) == [10.0, 90.0]
    assert len(spread([5.0] * 40, 0.0, 100.0)) == 40
