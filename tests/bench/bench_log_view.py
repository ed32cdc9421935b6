"""What a full log view of 100,000 lines costs the window: `python -m tests.bench.bench_log_view`.

The longest turn of the event loop, in milliseconds of this process's own time, of a burst of
20,000 lines (plain ones, and an engine that fails in a loop), of each letter that is typed into the
search, of each filter, and of tracebacks unfolded. One line of JSON at the end.
"""

import json
import os
import sys
import time
from collections.abc import Callable

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtWidgets import QAbstractButton, QApplication

from studio.domain.metrics import LogLine
from studio.ui.pages.logs import LogsPage
from studio.ui.theme import Look, ThemeChoice
from tests.ui.conftest import ASSETS
from tests.ui.fake_service import line
from tests.ui.widgets.test_log_feed import TRACEBACK

LINES, BURST = 100_000, 20_000
GOAL_MS = 50.0
_LEVELS = ("info", "info", "info", "warning", "info", "debug", "info", "error")


def ordinary(first: int, count: int) -> list[LogLine]:
    """Return what an engine writes when nothing is wrong."""
    return [
        line(seq, f"(EngineCore pid=27) INFO 11-29 [core.py:1] step {seq}: 3 running, 0 waiting",
             level=_LEVELS[seq % 8])
        for seq in range(first, first + count)
    ]  # fmt: skip


def failing(first: int, count: int) -> list[LogLine]:
    """Return what an engine writes that fails in a loop."""
    return [
        line(seq, TRACEBACK[seq % len(TRACEBACK)], level="error")
        for seq in range(first, first + count)
    ]


class Bench:
    """A page that is full."""

    def __init__(self, application: QApplication) -> None:
        self.application = application
        self.page = LogsPage(Look(application, ASSETS, ThemeChoice.DARK))
        self.page.resize(1_100, 720)
        self.page.show()
        self.page.replace_lines(ordinary(0, LINES))
        self.settle()

    def settle(self) -> float:
        """Let everything happen; return the longest turn of the event loop, in milliseconds."""
        longest, still = 0.0, 0
        while still < 3:
            began = time.process_time()
            self.application.processEvents()
            took = (time.process_time() - began) * 1_000
            longest, still = max(longest, took), still + 1 if took < 0.2 else 0
        return longest

    def turn(self, deed: Callable[[], object]) -> float:
        """Return the longest turn of a deed and of all that comes of it."""
        began = time.process_time()
        deed()
        took = (time.process_time() - began) * 1_000
        return round(max(took, self.settle()), 1)

    def press(self, name: str) -> Callable[[], object]:
        """Return the press of a button."""
        button = self.page.findChild(QAbstractButton, name)
        assert isinstance(button, QAbstractButton)
        return button.click

    def type(self, *texts: str) -> float:
        """Return the longest turn of a search that is typed."""
        return max(self.turn(lambda text=text: self.page.field.setText(text)) for text in texts)


def main() -> None:
    """Measure and print."""
    bench = Bench(QApplication([]))
    plain, bad = ordinary(LINES, BURST), failing(LINES + BURST, BURST)
    said = {
        "burst_ms": bench.turn(lambda: bench.page.append_lines(plain, 0)),
        "search_ms": bench.type("s", "st", "step 9", "step 99", "step 9", "", "nothing like it"),
        "burst_in_a_search_ms": bench.turn(lambda: bench.page.append_lines(plain, 0)),
        "burst_of_tracebacks_ms": bench.turn(lambda: bench.page.append_lines(bad, 0)),
        "unfolded_ms": bench.turn(bench.press("log-whole")),
        "folded_ms": bench.turn(bench.press("log-whole")),
    }
    bench.type("")
    for name in ("log-grave", "log-errors"):
        said[f"{name[4:]}_ms"] = bench.turn(bench.press(name))
        said[f"{name[4:]}_off_ms"] = bench.turn(bench.press(name))
    bench.press("log-only")()
    said["only_matches_ms"] = bench.type("s", "st", "step 9", "step 99", "step 9", "")
    said["burst_only_matches_ms"] = bench.turn(lambda: bench.page.append_lines(plain, 0))
    sys.stdout.write(json.dumps({"goal_ms": GOAL_MS, **said}) + "\n")
    sys.exit(any(value > GOAL_MS for value in said.values()))


if __name__ == "__main__":
    main()
