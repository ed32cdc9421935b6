"""Bars by day."""

import datetime

import pytest
from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot

from studio.ui.theme import Look
from studio.ui.viewmodels.usage import days
from studio.ui.widgets.day_bars import DayBars, Spark
from tests.ui.fake_keys import usage_row

TODAY = datetime.date(2026, 11, 29)
SHOWN = days([usage_row("k", "A", 1_000, begins_at="2026-11-28")], TODAY, 7)


@pytest.fixture
def bars(qtbot: QtBot, look: Look) -> DayBars:
    """Return a week."""
    made = DayBars(look, "bars", "Use by day")
    qtbot.addWidget(made)
    made.resize(600, 186)
    with qtbot.waitExposed(made):
        made.show()
    made.show_days(SHOWN)
    return made


def test_a_day_is_named_under_the_mouse_and_by_keys(qtbot: QtBot, bars: DayBars) -> None:
    """And all of them together when nothing is pointed at."""
    assert bars.said == "2 requests, 1,200 tokens"
    qtbot.mouseMove(bars, QPoint(590, 90))
    assert bars.said.startswith("29 Nov:")
    qtbot.mouseMove(bars, QPoint(10, 90))
    assert bars.said == "2 requests, 1,200 tokens"

    for _ in range(2):
        qtbot.keyClick(bars, Qt.Key.Key_Left)
    assert bars.said.startswith("28 Nov: 2 requests")
    assert "28 Nov: 2 requests" in bars.accessibleName()
    qtbot.keyClick(bars, Qt.Key.Key_Escape)
    assert bars.said == "2 requests, 1,200 tokens"


def test_fewer_days_than_before_leave_nothing_pointed_at(qtbot: QtBot, bars: DayBars) -> None:
    """A span was changed while one looked at its last day."""
    qtbot.keyClick(bars, Qt.Key.Key_Left)

    bars.show_days(SHOWN[:2])
    bars.show_days(())

    assert bars.said == "No key was used in this time."
    bars.grab()


def test_the_largest_day_fills_the_small_line(qtbot: QtBot, look: Look) -> None:
    """However little that was; no use draws the base alone."""
    spark = Spark(look)
    qtbot.addWidget(spark)
    spark.show_days(SHOWN)
    water = look.colour("water").rgb()

    def inked() -> int:
        image = spark.grab().toImage()
        return sum(
            image.pixel(x, y) == water for x in range(image.width()) for y in range(image.height())
        )

    assert inked() > 100
    assert spark.toolTip() == "2 requests, 1,200 tokens"
    spark.show_days(())
    assert inked() == 0
