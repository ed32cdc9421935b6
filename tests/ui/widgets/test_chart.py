"""The painted chart."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor, QImage, QPaintEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from studio.ui.theme import Look
from studio.ui.viewmodels.charts import charts
from studio.ui.widgets.chart import Chart
from tests.ui.fake_service import POOL, tick


class Counted(Chart):
    """A chart that counts how often it was painted."""

    painted = 0

    def paintEvent(self, event: QPaintEvent) -> None:
        """Count and paint."""
        self.painted += 1
        super().paintEvent(event)


@pytest.fixture
def chart(qtbot: QtBot, look: Look) -> Counted:
    """Return a chart that is shown."""
    made = Counted(look, "chart")
    made.resize(460, 180)
    qtbot.addWidget(made)
    with qtbot.waitExposed(made):
        made.show()
    return made


def coloured(image: QImage, colour: QColor) -> list[int]:
    """Return the columns that hold a pixel near `colour`."""
    columns = []
    for x in range(image.width()):
        for y in range(44, image.height() - 30):
            pixel = image.pixelColor(x, y)
            distance = abs(pixel.red() - colour.red()) + abs(pixel.blue() - colour.blue())
            if distance < 60 and abs(pixel.green() - colour.green()) < 40:
                columns.append(x)
                break
    return columns


def test_the_line_is_drawn_from_edge_to_edge(chart: Counted, look: Look) -> None:
    """Five minutes of ticks fill the axis."""
    chart.show_chart(charts([tick(second) for second in range(301)], POOL)[0])

    columns = coloured(chart.grab().toImage(), look.colour("water"))

    assert columns[0] < 80
    assert columns[-1] > chart.width() - 24
    assert len(columns) > 300


def test_a_still_chart_is_not_painted_again(qapp: QApplication, chart: Counted) -> None:
    """An idle window costs no processor time."""
    chart.show_chart(charts([tick(second, load=False) for second in range(301)], POOL)[0])
    qapp.processEvents()
    before = chart.painted

    for later in range(1, 20):
        ticks = [tick(second, load=False) for second in range(later, 301 + later)]
        chart.show_chart(charts(ticks, POOL)[0])
        qapp.processEvents()
    assert chart.painted == before

    chart.show_chart(charts([tick(second) for second in range(301)], POOL)[0])
    qapp.processEvents()
    assert chart.painted > before


def test_the_crosshair_moves_by_mouse_and_by_keyboard(
    qtbot: QtBot, chart: Counted, look: Look
) -> None:
    """Values are read without a mouse too."""
    chart.show_chart(charts([tick(second) for second in range(301)], POOL)[1])
    still = chart.grab().toImage()
    qtbot.mouseMove(chart, QPoint(200, 90))
    qtbot.waitUntil(lambda: chart.grab().toImage() != still)

    qtbot.keyClick(chart, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: chart.grab().toImage() == still)
    qtbot.keyClick(chart, Qt.Key.Key_Left, Qt.KeyboardModifier.ShiftModifier)
    qtbot.waitUntil(lambda: chart.grab().toImage() != still)


def test_its_words_reach_a_screen_reader(chart: Counted) -> None:
    """A picture without words is nothing to who cannot see it."""
    chart.show_chart(charts([tick(second) for second in range(3)], POOL)[3])

    assert chart.accessibleName() == "Requests, 5 running · 1 waiting"


def test_nothing_to_show_is_drawn_without_complaint(chart: Counted) -> None:
    """The first second of a fresh machine."""
    chart.show_chart(charts([], None)[0])

    assert not chart.grab().isNull()
