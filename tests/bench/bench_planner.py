"""How exact the planner is: recorded pools against what it makes of them, and how fast it is.

`python -m tests.bench.bench_planner` prints the tables of docs/benchmarks.md. The rows are those of
tests/data/planner/rows.toml; nothing is installed, started or downloaded.
"""

import statistics
import sys
import time
from collections.abc import Iterator

from studio.planner.memory import forecast
from studio.planner.pool import pool
from tests.planner.model_samples import (
    Row,
    card,
    engine_of,
    memory_table,
    pool_of,
    rows,
    shipped,
)

ROUNDS = 20


def say(text: str) -> None:
    """Print a line."""
    sys.stdout.write(text + "\n")


def pinned() -> Iterator[tuple[str, int, int]]:
    """Return the rows whose bytes are known: name, published, ours."""
    for row in rows("rows"):
        yield row["name"], row["tokens"], pool_of(row, row["kv_bytes"]).tokens
    for row in rows("refusals"):
        found = pool_of(row, row["kv_bytes"])
        yield f"refused: {row['name']}; longest context", row["longest"], found.longest_context


def attainable() -> Iterator[tuple[str, int, int]]:
    """Return the figures that a whole number of blocks must give, and the nearest that one does."""
    for row in rows("attainable"):
        one = pool_of(row, 1 << 33)
        for figure in row["figures"]:
            blocks = -(-figure * one.blocks_per_request // one.max_model_len)
            nearest = pool_of(row, blocks * one.bytes_per_block)
            yield row["name"], figure, nearest.tokens


def tokens_of(row: Row) -> int:
    """Return the pool of a row whose bytes are forecast."""
    target = shipped(row["model"])
    drafter = shipped(row["drafter"]) if "drafter" in row else None
    engine = engine_of(row)
    found = forecast(
        target,
        drafter,
        row["settings"],
        engine,
        card=card(row["host"]),
        table=memory_table(),
        is_wsl="wsl" in row["host"],
    )
    return pool(target, drafter, row["settings"], engine, found.kv_bytes or 0).tokens


def table(title: str, found: list[tuple[str, int, int]]) -> None:
    """Print one table and its worst error."""
    say(f"\n{title}\n\n| row | published | ours | error |\n|---|---|---|---|")
    for name, published, ours in found:
        error = ours / published - 1
        say(f"| {name} | {published:,} | {ours:,} | {f'{error:+.2%}' if error else '0'} |")
    worst = max(abs(ours / published - 1) for _, published, ours in found)
    say(f"\n{len(found)} rows, worst {worst:.2%}")


def main() -> None:
    """Print exactness, forecasts and time."""
    table("Bytes pinned or recorded", list(pinned()))
    table("Bytes unknown: a whole number of blocks", list(attainable()))
    forecasts = [
        (row["name"] + (" (solved from)" if "solved" in row else ""), row["tokens"], tokens_of(row))
        for row in rows("forecasts")
    ]
    table("Unpinned: bytes forecast", forecasts)
    spent = []
    for _ in range(ROUNDS):
        began = time.process_time()
        for row in rows("rows"):
            pool_of(row, row["kv_bytes"])
        spent.append(time.process_time() - began)
    count = len(rows("rows"))
    say(f"\n{count} pools take {statistics.median(spent) * 1_000:.1f} ms of processor time")


if __name__ == "__main__":
    main()
