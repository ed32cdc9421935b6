"""What the history costs: to write a second, to keep a year, and to be asked about any span.

    python -m tests.bench.bench_history [--days 400]

36 series as of a machine with one card that works half of every hour, with noise on all that is
measured. Twenty days are written minute by minute and copied, the last day second by second.
"""

import argparse
import datetime
import os
import platform
import random
import sqlite3
import statistics
import tempfile
import time
from pathlib import Path

from studio.monitor import history_read, history_schema, history_write
from studio.monitor.history_read import Question
from studio.monitor.history_write import Writer
from studio.monitor.tiers import TIERS, Stretch, pack_block
from tests.monitor.history_samples import BEGIN, load, new_file

DAY = 86_400
BATCH = 3
WRITTEN = 20
"""Days that are really written; the others are copies of them."""
SPANS = {
    "10 minutes": 600,
    "1 hour": 3_600,
    "2 hours": 7_200,
    "24 hours": DAY,
    "7 days": 7 * DAY,
    "30 days": 30 * DAY,
    "100 days": 100 * DAY,
    "400 days": 400 * DAY,
}


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--days", type=int, default=400)
    options = parser.parse_args()
    today = datetime.datetime.now(tz=datetime.UTC).date()
    print(f"{platform.machine()}, {os.cpu_count()} cores, {today}\n")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "history.db"
        file = new_file(path)
        file.execute("PRAGMA synchronous = NORMAL")
        end = _fill(file, options.days)
        _ask(file, end)
        file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        print(f"| file | {path.stat().st_size / 1e6:.1f} MB |")
        file.close()


def _fill(file: sqlite3.Connection, days: int) -> int:
    begin = BEGIN - BEGIN % (100 * DAY)  # every tier's blocks begin here
    began = time.perf_counter()
    writer = Writer(file)
    for day in range(WRITTEN):
        with history_schema.transaction(file):
            writer.add(load(begin + day * DAY, DAY, step_s=60, seed=day))
    print(f"| {WRITTEN} days, minute by minute | {time.perf_counter() - began:.1f} s |")
    at = begin + days * DAY
    with history_schema.transaction(file):
        writer.add(load(at, 60, seed=0))  # ends the blocks of the days before
        for part in range(1, days // WRITTEN):
            file.execute(
                "INSERT OR REPLACE INTO blocks (tier, series, begins, data)"
                " SELECT tier, series, begins + ?, data FROM blocks"
                " WHERE tier IN (2, 3) AND begins < ?",
                (part * WRITTEN * DAY, begin + WRITTEN * DAY),
            )
        _hours(file, begin, days)
    history_write.tidy(file)
    size = history_write.size_of(file)
    print(
        f"| {days} days, the same ones over and over | {size / 1e6:.1f} MB"
        f" of at most {history_write.MOST_BYTES / 1e6:.0f} |"
    )
    readings = list(load(at, DAY, seed=at))
    times, began = [], time.perf_counter()
    for first in range(0, len(readings), BATCH):
        batch_began = time.perf_counter()
        with history_schema.transaction(file):
            writer.add(readings[first : first + BATCH])
        times.append(time.perf_counter() - batch_began)
    whole = time.perf_counter() - began
    times.sort()
    print(
        f"| the last day, in {len(times):,} batches of {BATCH} s | {whole:.1f} s:"
        f" {whole / len(readings) * 1e6:.0f} µs a second of readings,"
        f" batches p50 {times[len(times) // 2] * 1e3:.2f} ms, p99"
        f" {times[len(times) * 99 // 100] * 1e3:.1f} ms, longest {times[-1] * 1e3:.0f} ms |"
    )
    return at + DAY


def _hours(file: sqlite3.Connection, begin: int, days: int) -> None:
    """Write the hours of all days, which the same days over and over do not fit."""
    chance = random.Random(5)
    put = "INSERT OR REPLACE INTO blocks (tier, series, begins, data) VALUES (?, ?, ?, ?)"
    for (series,) in file.execute("SELECT number FROM series").fetchall():
        for index, tier in ((4, TIERS[4]), (5, TIERS[5])):
            for block in range(begin - begin % tier.block_s, begin + days * DAY, tier.block_s):
                values = {n: sorted(chance.random() for _ in range(3)) for n in range(tier.slots)}
                data = pack_block({n: Stretch(*v, 9) for n, v in values.items()}, tier.slots)
                file.execute(put, (index, series, block, data))


def _ask(file: sqlite3.Connection, end: int) -> None:
    for name, span in SPANS.items():
        for wanted, what in ((("decode_tokens_per_s",), "one series"), (_THREE, "three series")):
            question = Question(wanted, end - span, end, end)
            times, answer = [], None
            for _ in range(7):
                began = time.perf_counter()
                answer = history_read.answer(file, question)
                times.append(time.perf_counter() - began)
            assert answer is not None
            points = max((len(one.points) for one in answer.series), default=0)
            print(
                f"| {name}, {what} | {points:,} points, {statistics.median(times) * 1e3:.1f} ms,"
                f" at most {max(times) * 1e3:.1f} ms |"
            )


_THREE = ("pool_used_tokens", "spill_bytes", "decode_tokens_per_s")

if __name__ == "__main__":
    main()
