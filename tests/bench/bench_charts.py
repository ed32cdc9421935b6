"""What eight charts of 3,600 points cost to repaint: `python -m tests.bench.bench_charts`.

Every repaint gets a new view, as a tick does; then the crosshair alone moves. One line of JSON at
the end, processor milliseconds for all eight charts together: a busy machine does not count.
"""

import argparse
import json
import os
import random
import statistics
import time

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import msgspec
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication

from studio.ui.theme import Look, ThemeChoice
from studio.ui.viewmodels.charts import ChartView, LineView
from studio.ui.viewmodels.words import Role
from studio.ui.widgets.chart import Chart
from tests.ui.conftest import ASSETS

CHARTS, POINTS = 8, 3_600
GOAL_MS = 16.0


def view(seed: int) -> ChartView:
    """Return an hour of a restless line."""
    chance = random.Random(seed)
    points = tuple((float(POINTS - 1 - i), chance.random() * 100) for i in range(POINTS))
    return ChartView(
        title="Decode",
        unit="tok/s",
        lines=(LineView(name="decode", role=Role.WATER, points=points),),
        top=100.0,
        marks=((0.0, "0"), (50.0, "50"), (100.0, "100")),
        now="50 tok/s",
        empty="",
        decimals=0,
        span_s=float(POINTS),
    )


def repaints(charts: list[Chart], views: list[ChartView], runs: int, *, new: bool) -> list[float]:
    """Return the processor milliseconds of each repaint of all charts."""
    image = QImage(charts[0].size(), QImage.Format.Format_ARGB32_Premultiplied)
    times = []
    for _ in range(runs):
        shown = [msgspec.structs.replace(one) for one in views] if new else views
        for chart, one in zip(charts, shown, strict=True):
            chart.show_chart(one)
        began = time.thread_time()
        for chart in charts:
            chart.render(image)
        times.append((time.thread_time() - began) * 1_000)
    return times


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--runs", type=int, default=40)
    runs = options.parse_args().runs
    application = QApplication([])
    look = Look(application, ASSETS, ThemeChoice.DARK)
    charts = [Chart(look, f"chart-{number}") for number in range(CHARTS)]
    for chart in charts:
        chart.resize(480, 200)
    views = [view(number) for number in range(CHARTS)]
    repaints(charts, views, 2, new=True)
    fresh = repaints(charts, views, runs, new=True)
    repaints(charts, views, 1, new=False)
    same = repaints(charts, views, runs, new=False)
    said = {
        "new_view_ms": round(statistics.median(fresh), 2),
        "new_view_worst_ms": round(max(fresh), 2),
        "same_view_ms": round(statistics.median(same), 2),
        "goal_ms": GOAL_MS,
    }
    print(json.dumps(said))


if __name__ == "__main__":
    main()
