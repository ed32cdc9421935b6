"""Charts side by side."""

import pytest
from pytestqt.qtbot import QtBot

from studio.ui.theme import Look
from studio.ui.viewmodels.chart_kinds import KINDS
from studio.ui.viewmodels.track import Track
from studio.ui.widgets.chart_board import ChartBoard


@pytest.fixture
def board(qtbot: QtBot, look: Look) -> ChartBoard:
    """Return a shown board of five charts."""
    made = ChartBoard(look)
    qtbot.addWidget(made)
    made.resize(800, 700)
    made.show_kinds(KINDS[:5])
    with qtbot.waitExposed(made):
        made.show()
    return made


@pytest.mark.parametrize(("width", "columns"), [(500, 1), (800, 2), (1_300, 3)])
def test_as_many_columns_as_fit_and_no_empty_half_at_the_end(
    qtbot: QtBot, board: ChartBoard, width: int, columns: int
) -> None:
    """From a small window to a wide screen."""
    board.resize(width, 900)

    def rows() -> list[set[int]]:
        found: dict[int, set[int]] = {}
        for chart in board.charts.values():
            found.setdefault(chart.y(), set()).add(chart.x())
        return list(found.values())

    qtbot.waitUntil(lambda: len(rows()[0]) == columns)
    last = list(board.charts.values())[-1]
    qtbot.waitUntil(lambda: last.geometry().right() >= width - 2)


def test_one_crosshair_goes_through_all_charts(board: ChartBoard) -> None:
    """That is how a stall is matched with what happened on the card."""
    track = Track([(float(n), 1.0, 1.0, 1.0) for n in range(60)])
    board.show_data({"decode_tokens_per_s": track, "running": track}, 1.0)
    board.show_span(0.0, 60.0)
    before = {name: chart.grab().toImage() for name, chart in board.charts.items()}

    board.point_at(30.0)

    assert all(chart.grab().toImage() != before[name] for name, chart in board.charts.items())


def test_a_chart_that_stays_is_not_made_again(board: ChartBoard) -> None:
    """Its focus and what it shows survive the choice of another one."""
    kept = board.charts["decode"]

    board.show_kinds((KINDS[1], KINDS[7]))

    assert list(board.charts) == ["decode", "spill"]
    assert board.charts["decode"] is kept
