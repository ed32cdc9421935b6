"""What a start on demand adds to the engine's own boot, from a client's request to its first token.

    python -m tests.bench.bench_on_demand [--rounds N] [--boot-s SECONDS] [--home FOLDER]

Without `--home`: the fake engine, in a home of its own. With it: `cpu-demo` in that home (nothing
of it may run). The engine's own boot is from its process to its first generated token, as the
Studio measures it; the rest is ours: plan, checks, spawn, and the way of the first piece.
"""

import argparse
import asyncio
import contextlib
import datetime
import os
import platform
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import httpx

from studio.domain.control import KeyRequest
from studio.domain.demand import DemandChange
from studio.host.paths import Paths, bundled_root
from tests.app.running import Running, fake_paths, running
from tests.fakes.catalogue import PRESET

GOAL_S = 0.5


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--boot-s", type=float, default=1.0)
    parser.add_argument("--home", type=Path, default=None)
    options = parser.parse_args()
    preset = PRESET if options.home is None else "cpu-demo"
    with _paths(options.home, options.boot_s) as paths:
        rows = asyncio.run(_rounds(paths, preset, options.rounds))
    today = datetime.datetime.now(tz=datetime.UTC).date()
    print(f"{preset}, {platform.machine()}, {os.cpu_count()} cores, {today}\n")
    print(
        "| round | own boot, s | request to first token, s | over own boot, s |\n|---|---|---|---|"
    )
    for number, (boot_s, first_s) in enumerate(rows, 1):
        print(f"| {number} | {boot_s:.2f} | {first_s:.2f} | {first_s - boot_s:.2f} |")
    over_s = statistics.median(first_s - boot_s for boot_s, first_s in rows)
    print(f"\nMedian over own boot: {over_s:.2f} s; goal: at most {GOAL_S} s.")


@contextlib.contextmanager
def _paths(home: Path | None, boot_s: float) -> Iterator[Paths]:
    if home is not None:
        yield Paths(home=home.absolute(), catalogue=bundled_root())
        return
    with (
        tempfile.TemporaryDirectory() as folder,
        fake_paths(Path(folder), boot_s=boot_s) as paths,
    ):
        yield paths


async def _rounds(paths: Paths, preset: str, count: int) -> list[tuple[float, float]]:
    async with running(paths) as made:
        name = f"bench-{time.time():.0f}"
        key = await made.studio.keys.create(KeyRequest(name=name))
        await made.studio.on_demand.change(DemandChange(preset=preset))
        while made.studio.gateway().base_url is None:
            await asyncio.sleep(0.05)
        return [await _round(made, preset, key.key) for _ in range(count)]


async def _round(made: Running, preset: str, key: str) -> tuple[float, float]:
    body = {
        "model": preset, "stream": True, "max_tokens": 4,
        "messages": [{"role": "user", "content": "What is the capital of France?"}],
    }  # fmt: skip
    async with httpx.AsyncClient(timeout=900, trust_env=False) as http:
        began_s = time.perf_counter()
        url = f"{made.studio.gateway().base_url}/chat/completions"
        headers = {"Authorization": f"Bearer {key}"}
        async with http.stream("POST", url, json=body, headers=headers) as answer:
            async for line in answer.aiter_lines():
                if line.startswith("data: {"):
                    break
            first_s = time.perf_counter() - began_s
    boot_s = made.studio.engine().boot_s
    assert boot_s is not None
    await made.studio.stop()
    await made.studio.on_demand.change(DemandChange(is_on=True))
    return boot_s, first_s


if __name__ == "__main__":
    main()
