"""What spill and alarms cost in a second, and how soon an alarm is told.

Cost: a real engine-like family of processes, read, metered and judged as in the service, with eight
cards; processor time of this process. Latency: from the first second of evidence, for every alarm,
played through the judge; the real ones are in tests/e2e/test_alarm_causes.py.
"""

import argparse
import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import msgspec

from studio.app.spill import Spill
from studio.domain.metrics import EngineSample, Tick
from studio.domain.server import EngineSnapshot, EngineState
from studio.monitor.alarm_file import load
from studio.monitor.alarms import Judge
from studio.monitor.scene import Scene
from tests.monitor.causes import CASES, booted
from tests.monitor.scenes import CARD, FILE, TICK

CARDS = 8
WORKERS = 9
MOST_SHARE = 0.01


async def cost(seconds: int) -> tuple[float, float]:
    """Return the processor time of one second, and the longest wall time, in seconds."""
    file = load(FILE)
    engine = EngineSnapshot(state=EngineState.READY, pid=os.getpid())
    judge = Judge(file.rules)
    tick = msgspec.structs.replace(
        TICK, cards=tuple(msgspec.structs.replace(CARD, index=n) for n in range(CARDS))
    )
    walls = []
    with tempfile.TemporaryDirectory() as folder:
        spill = Spill(
            Path(folder) / "kept.json", file.intended, engine=lambda: engine, target=lambda: None
        )
        began = time.process_time()
        for second in range(seconds):
            started = time.perf_counter()
            done = await spill.complete(_at(tick, second), EngineSample())
            judge.judge(
                Scene(
                    at=float(second),
                    monotonic_s=1000.0 + second,
                    tick=done,
                    look=spill.last,
                    is_serving=True,
                    serving_since_s=1000.0,
                )
            )
            walls.append(time.perf_counter() - started)
        spent = time.process_time() - began
    return spent / seconds, max(walls)


def _at(tick: Tick, second: int) -> Tick:
    return msgspec.structs.replace(tick, at=float(second))


def latencies() -> dict[str, float]:
    """Return how long after the first second of evidence each alarm is raised."""
    found = {}
    for code, (change, seconds, _twin) in CASES.items():
        film = booted()
        begin = film.now + 1.0
        film.play(seconds, change)
        alarm = film.raised(code)[0]
        found[code] = alarm.raised_at - 1_790_000_000.0 - begin
    return found


def main() -> int:
    """Print the table; fails when a second costs more than a hundredth of a core."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=300)
    asked = parser.parse_args()
    argv = [sys.executable, "-S", "-c", "input()"]
    workers = [subprocess.Popen(argv, stdin=subprocess.PIPE) for _ in range(WORKERS)]
    try:
        share, wall_s = asyncio.run(cost(asked.seconds))
    finally:
        for worker in workers:
            worker.kill()
            worker.communicate()
    print(f"spill and alarms, {CARDS} cards, {WORKERS + 1} processes of the engine")
    print(f"  {share * 100:.2f} % of a core at one look a second (bound {MOST_SHARE * 100:.0f} %)")
    print(f"  longest second {wall_s * 1000:.1f} ms")
    found = latencies()
    print("alarm latency after the first evidence")
    for code, seconds in sorted(found.items(), key=lambda one: one[1]):
        print(f"  {code:<24}{seconds:6.1f} s")
    print(f"  median {statistics.median(found.values()):.1f} s")
    return 0 if share <= MOST_SHARE else 1


if __name__ == "__main__":
    sys.exit(main())
