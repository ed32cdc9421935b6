"""What the service costs while nothing happens: CPU and memory, with and without an engine.

    python -m tests.bench.bench_idle [--seconds N] [--home FOLDER]

Without `--home` an empty one is used and the service idles alone. With `--home` the service that
runs there (say, after `weir up --detach`) is measured beside its idle engine.
"""

import argparse
import datetime
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

WEIR = [sys.executable, "-m", "studio"]
START_S = 20.0


def main() -> None:
    """Print one row for each case."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--home", type=Path, default=None)
    options = parser.parse_args()
    today = datetime.datetime.now(tz=datetime.UTC).date()
    print(f"{platform.machine()}, {os.cpu_count()} cores, {today}, {options.seconds:.0f} s\n")
    print("| service | CPU, % of a core | RSS, MB | PSS, MB |")
    print("|---|---|---|---|")
    if options.home is not None:
        measure("beside an idle engine", address(options.home), options.seconds)
        return
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "WEIR_HOME": folder}
        service = subprocess.Popen(
            [*WEIR, "service", "run"], env=environment, stdout=subprocess.DEVNULL
        )
        try:
            deadline = time.monotonic() + START_S
            while not (Path(folder) / "service/service.json").exists():
                if time.monotonic() > deadline:
                    raise TimeoutError("the service did not start")
                time.sleep(0.05)
            measure("alone", service.pid, options.seconds)
        finally:
            service.terminate()
            service.wait()


def address(home: Path) -> int:
    """Return the process id of the service of `home`, which has to run already."""
    place = home / "service" / "service.json"
    if not place.is_file():
        sys.exit(f"No service runs in {home}: start one there with `weir up --detach`.")
    return int(json.loads(place.read_bytes())["pid"])


def measure(name: str, pid: int, seconds: float) -> None:
    """Print what the process used over `seconds`."""
    process = psutil.Process(pid)
    time.sleep(3)  # let the start settle
    before, started = process.cpu_times(), time.monotonic()
    time.sleep(seconds)
    after, elapsed = process.cpu_times(), time.monotonic() - started
    used_s = after.user + after.system - before.user - before.system
    memory = process.memory_full_info()
    share = used_s / elapsed * 100
    print(f"| {name} | {share:.2f} | {memory.rss / 1e6:.1f} | {memory.pss / 1e6:.1f} |")


if __name__ == "__main__":
    main()
