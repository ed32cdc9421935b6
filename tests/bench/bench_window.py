"""First paint, idle memory, idle processor time of the window; proof that no GPU is touched.

`python -m tests.bench.bench_window [--runs N] [--idle-s S]`, on a display (`xvfb-run` will do).
The window runs as its own process against the fake service of the tests, which ticks once a second
as the real one does: first still, then under load. One line of JSON at the end.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import textwrap
import time
from pathlib import Path

import psutil

from studio.domain.events import EngineChanged, Ticked
from tests.ui.fake_http import TOKEN
from tests.ui.fake_service import READY, FakeService, tick

ROOT = Path(__file__).resolve().parents[2]

GOALS = {
    "first_paint_s": 1.0,
    "idle_rss_mb": 160.0,
    "idle_cpu_percent": 1.0,
    "live_cpu_percent": 4.0,
    "page_switch_ms": 50.0,
}

_PROGRAM = """
    import sys
    from studio.ui.main import run

    async def connect():
        from studio.control.client import ControlClient
        return ControlClient(sys.argv[1], sys.argv[2])

    sys.exit(run(sys.argv[3:], connect))
"""

_GPU_FILES = ("/dev/nvidia", "/dev/dri", "/dev/kfd")
_GPU_LIBRARIES = (
    "libGLX_",
    "libEGL_",
    "_dri.so",
    "libcuda",
    "libnvidia",
    "libgallium",
    "libvulkan",
)


def start(home: str, address: str, *options: str) -> subprocess.Popen[str]:
    """Start the window as a person does: a fresh interpreter."""
    environment = {**os.environ, "WEIR_HOME": home, "PYTHONPYCACHEPREFIX": f"{home}/bytecode"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed program has its bytecode
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(_PROGRAM), address, TOKEN, *options],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    )


def first_paint(home: str, runs: int) -> tuple[list[float], list[float], list[float]]:
    """Return seconds from exec to the first picture, of the very first run and of `runs` more;
    and of each run the slowest page in milliseconds, made and shown again.
    """
    times, made, switched = [], [], []
    for _ in range(runs + 1):
        with start(home, "http://127.0.0.1:9", "--smoke") as process:
            said, _error = process.communicate(timeout=60)
        figures = json.loads(said)
        times.append(float(figures["first_paint_s"]))
        made.append(max(figures["made_ms"].values()))
        switched.append(max(figures["switch_ms"].values()))
    return times, made, switched


def cpu_percent(process: psutil.Process, service: FakeService, seconds: int, load: bool) -> float:
    """Return the share of one core over `seconds`, with a tick each second."""
    newest = len(service.history)
    before = sum(process.cpu_times()[:2])
    began = time.monotonic()
    for number in range(seconds):
        service.publish(Ticked(tick=tick(newest + number, load=load)))
        time.sleep(max(0.0, began + number + 1 - time.monotonic()))
    spent = sum(process.cpu_times()[:2]) - before
    return 100 * spent / (time.monotonic() - began)


def gpu_traces(process: psutil.Process) -> list[str]:
    """Return every open GPU device and every loaded GPU driver of the process."""
    opened = [str(item.readlink()) for item in Path(f"/proc/{process.pid}/fd").iterdir()]
    mapped = {item.path for item in process.memory_maps()}
    devices = [path for path in opened if path.startswith(_GPU_FILES)]
    return devices + [path for path in mapped if any(name in path for name in _GPU_LIBRARIES)]


def live(home: str, idle_s: int) -> dict[str, object]:
    """Return the figures of a window that watches an engine."""
    service = FakeService()
    service.be_ready(seconds=301, load=False)
    service.open()
    window = start(home, service.address)
    try:
        while not service.listeners:
            time.sleep(0.05)
        process = psutil.Process(window.pid)
        time.sleep(3)
        figures: dict[str, object] = {
            "idle_cpu_percent": round(cpu_percent(process, service, idle_s, load=False), 2),
            "idle_rss_mb": round(process.memory_info().rss / 1e6, 1),
            "idle_uss_mb": round(process.memory_full_info().uss / 1e6, 1),
        }
        service.publish(EngineChanged(engine=READY))
        figures["live_cpu_percent"] = round(cpu_percent(process, service, idle_s, load=True), 2)
        figures["live_rss_mb"] = round(process.memory_info().rss / 1e6, 1)
        figures["gpu_traces"] = gpu_traces(process)
        figures["threads"] = process.num_threads()
        return figures
    finally:
        window.terminate()
        window.wait(10)
        service.close()


def main() -> None:
    """Measure, print, and fail when a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--idle-s", type=int, default=20)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        times, made, switched = first_paint(home, options.runs)
        figures = {
            "first_paint_s": statistics.median(times[1:]),
            "first_paint_worst_s": max(times[1:]),
            "first_paint_without_bytecode_s": times[0],
            "page_made_ms": statistics.median(made[1:]),
            "page_switch_ms": statistics.median(switched[1:]),
            **live(home, options.idle_s),
        }
    figures["platform"] = os.environ.get("QT_QPA_PLATFORM", "xcb")
    sys.stdout.write(json.dumps(figures) + "\n")
    missed = [name for name, goal in GOALS.items() if float(str(figures[name])) > goal]
    sys.exit(1 if missed or figures["gpu_traces"] else 0)


if __name__ == "__main__":
    main()
