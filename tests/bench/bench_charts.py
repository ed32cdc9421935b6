"""What eight charts of 3,600 points cost to repaint: `python -m tests.bench.bench_charts`.

Processor milliseconds for all eight charts together: drawn anew (another span, scale or theme),
one second later (what a tick costs), and with the crosshair alone moving; and once the first
picture, which also draws the card that all others keep. Before it stands what the first words of a
process cost: letters are loaded then, which in a window has happened before a chart is in sight.
One line of JSON at the end; a busy machine does not count.
"""

import argparse
import gc
import json
import os
import random
import statistics
import time
from collections.abc import Callable

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QApplication

from studio.ui.theme import Look, ThemeChoice
from studio.ui.viewmodels.chart_kinds import BY_ID
from studio.ui.viewmodels.monitor import Line
from studio.ui.viewmodels.track import Track
from studio.ui.viewmodels.words import Role
from studio.ui.widgets.time_chart import TimeChart
from tests.ui.conftest import ASSETS

CHARTS, POINTS = 8, 3_600
START = 1_796_000_000.0
GOAL_MS = 16.0


class Bench:
    """Eight restless charts."""

    def __init__(self, look: Look) -> None:
        self.charts = [TimeChart(look, BY_ID["decode"]) for _ in range(CHARTS)]
        self.chance = random.Random(1)
        self.tracks = [Track() for _ in range(CHARTS)]
        self.now = START
        for _ in range(POINTS):
            self.second()
        for chart, track in zip(self.charts, self.tracks, strict=True):
            chart.resize(480, 200)
            chart.show_lines((Line("decode_tokens_per_s", "decode", Role.WATER),), (track,), 1.0)
        self.image = QImage(self.charts[0].size(), QImage.Format.Format_ARGB32_Premultiplied)

    def second(self) -> None:
        """Let a second pass."""
        self.now += 1
        for track in self.tracks:
            track.append(self.now, 50 + self.chance.random() * 50)
            track.forget(self.now - POINTS - 60)

    def repaint(self) -> float:
        """Return what painting all of them took."""
        began = time.thread_time()
        for chart in self.charts:
            chart.render(self.image)
        return (time.thread_time() - began) * 1_000

    def tick(self) -> None:
        """Tell all of a second."""
        self.second()
        for chart in self.charts:
            chart.show_span(self.now - POINTS, self.now)
            chart.show_state(is_reading=False, is_live=True)

    def anew(self) -> None:
        """Throw away what was drawn."""
        self.tick()
        for chart in self.charts:
            chart.redraw()

    def point(self) -> None:
        """Move the crosshair."""
        for chart in self.charts:
            chart.point_at(self.now - self.chance.random() * POINTS)

    def letters(self, look: Look) -> float:
        """Return what the first words of the process took, in the two fonts of a chart."""
        began = time.thread_time()
        painter = QPainter(self.image)
        look.lettering.laid("Pool in use", "body", weight=600).paint(painter, 0, 0)
        look.lettering.laid("0123456789,. tok/s").paint(painter, 0, 0)
        painter.end()
        return (time.thread_time() - began) * 1_000

    def measure(self, step: Callable[[], None], runs: int) -> list[float]:
        """Return the times of repaints, each after `step`; the first ones warm up."""
        times = []
        for _ in range(runs + 2):
            step()
            times.append(self.repaint())
        return times[2:]


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--runs", type=int, default=40)
    runs = options.parse_args().runs
    application = QApplication([])
    look = Look(application, ASSETS, ThemeChoice.DARK)
    bench = Bench(look)
    gc.disable()  # as the window does: it collects between two pictures, never in one
    bench.anew()
    said = {"goal_ms": GOAL_MS, "letters_ms": round(bench.letters(look), 2)}
    said["first_ms"] = round(bench.repaint(), 2)
    for name, step in (("anew", bench.anew), ("second", bench.tick), ("crosshair", bench.point)):
        times = bench.measure(step, runs)
        said[f"{name}_ms"] = round(statistics.median(times), 2)
        said[f"{name}_worst_ms"] = round(max(times), 2)
    print(json.dumps(said))


if __name__ == "__main__":
    main()
