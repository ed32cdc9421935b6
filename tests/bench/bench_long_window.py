"""A window in a process of its own that looks at a busy fake service for long, and is counted.

`python -m tests.bench.bench_long_window [--minutes 10] [--hidden-s 60]`: what it holds and costs as
minutes pass, then what it costs while it is hidden. One line of JSON for each look.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import msgspec
import psutil

from studio.domain.events import Event, KeysChanged, LogAppended, Ticked
from studio.ui.viewmodels.frame import PageId
from tests.fakes.waiting import until
from tests.ui.fake_clients import FakeClients
from tests.ui.fake_http import TOKEN
from tests.ui.fake_monitor import FakeMonitor
from tests.ui.fake_service import KEY, FakeService, line, tick

ROOT = Path(__file__).resolve().parents[2]
_LINES = 20
"""Log lines a second."""
_KEYS_S = 30
"""So often somebody makes or changes a key."""

PROGRAM = """
import gc, json, os, sys, threading
from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QApplication
from studio.ui.main import run
from studio.ui.viewmodels.frame import PageId
from studio.ui.window import MainWindow

class Asked(QObject):
    asked = Signal(str)

    def hear(self, words):
        verb, _, rest = words.strip().partition(" ")
        (window,) = (one for one in QApplication.topLevelWidgets() if isinstance(one, MainWindow))
        if verb == "page":
            window.show_page(PageId(rest))
        elif verb == "hide":
            window.hide()
        gc.collect()
        print(json.dumps({
            "objects": len(gc.get_objects()),
            "files": len(os.listdir("/proc/self/fd")),
            "widgets": len(QApplication.allWidgets()),
            "qobjects": len(window.findChildren(QObject)),
            "ticks": len(window._session.ticks),
        }), flush=True)

asked = Asked()
asked.asked.connect(asked.hear, Qt.ConnectionType.QueuedConnection)

def read():
    for words in sys.stdin:
        asked.asked.emit(words)

async def connect():
    from studio.control.client import ControlClient
    return ControlClient(sys.argv[1], sys.argv[2])

threading.Thread(target=read, daemon=True).start()
sys.exit(run(sys.argv[3:], connect))
"""


class Counts(msgspec.Struct, frozen=True, kw_only=True):
    """What a window holds."""

    objects: int
    files: int
    widgets: int
    qobjects: int
    ticks: int
    rss_mb: float = 0.0


class LongWindow:
    """The window's process and the service that it looks at."""

    def __init__(self, home: str) -> None:
        self.service = FakeService()
        FakeMonitor(self.service)
        FakeClients(self.service)
        self.service.keys = [KEY]
        self.service.be_ready(seconds=301)
        self.service.open()
        self.second = 301
        self.lines = 0
        environment = {**os.environ, "WEIR_HOME": home, "PYTHONPATH": str(ROOT)}
        self._child = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, self.service.address, TOKEN],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.process = psutil.Process(self._child.pid)
        until(
            lambda: self.service.listeners > 0 or self._child.poll() is not None,
            "the window's first word to the service",
        )

    def ask(self, words: str) -> Counts:
        """Tell the window what to do; return what it holds afterwards."""
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        self._child.stdin.write(words + "\n")
        self._child.stdin.flush()
        said = json.loads(self._child.stdout.readline())
        return Counts(**said, rss_mb=round(self.process.memory_info().rss / 1e6, 1))

    def live(self, *, load: bool = True) -> None:
        """Let a busy second happen."""
        self.second += 1
        first = self.lines
        self.lines += _LINES
        lines = tuple(line(seq, f"step {seq}: 3 running") for seq in range(first, self.lines))
        events: list[Event] = [Ticked(tick=tick(self.second, load=load))]
        events.append(LogAppended(lines=lines, dropped=0))
        if self.second % _KEYS_S == 0:
            self.service.keys = [msgspec.structs.replace(KEY, requests=self.second)]
            events.append(KeysChanged())
        self.service.publish(*events)

    def watched(self, seconds: int, rate: float = 1.0, *, load: bool = True) -> float:
        """Let seconds pass, `rate` of them in each real one; return its share of a core, in %."""
        before, began = sum(self.process.cpu_times()[:2]), time.monotonic()
        for number in range(seconds):
            self.live(load=load)
            time.sleep(max(0.0, began + (number + 1) / rate - time.monotonic()))
        spent = sum(self.process.cpu_times()[:2]) - before
        return 100 * spent / (time.monotonic() - began)

    def close(self) -> None:
        """End both."""
        self._child.terminate()
        self._child.communicate(timeout=20)
        self.service.close()


def say(figures: dict[str, object]) -> None:
    """Print one look."""
    sys.stdout.write(json.dumps(figures) + "\n")
    sys.stdout.flush()


def main() -> None:
    """Look at a window for minutes, and print what is seen."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=int, default=10)
    parser.add_argument("--hidden-s", type=int, default=60)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        window = LongWindow(home)
        try:
            for page in PageId:
                window.ask(f"page {page.value}")
            window.ask("page monitor")
            for minute in range(options.minutes):
                cpu = window.watched(60)
                seen = msgspec.to_builtins(window.ask("count"))
                say({"minute": minute + 1, "cpu_percent": round(cpu, 2), **seen})
            window.ask("hide")
            window.watched(5)
            cpu = window.watched(options.hidden_s)
            say({"hidden_cpu_percent": round(cpu, 2)})
        finally:
            window.close()


if __name__ == "__main__":
    main()
