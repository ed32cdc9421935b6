"""From the death of an engine to its being shown, and to the next one serving.

    python -m tests.bench.bench_death [--rounds N] [--boot-s SECONDS] [--home FOLDER]

Without `--home`: the fake engine with two workers, in a home of its own. With it: whatever that
home serves (`weir up` first, then `weir down`), for example the real engine on the processor.
"""

import argparse
import asyncio
import contextlib
import datetime
import os
import platform
import tempfile
from collections.abc import Iterator
from pathlib import Path

from studio.host.paths import Paths, bundled_root
from studio.serving import machine
from tests.app.running import fake_paths, running
from tests.fakes import deaths


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--boot-s", type=float, default=0.3)
    parser.add_argument("--home", type=Path, default=None)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    machine.CRASH_LIMIT, machine.CRASH_WINDOW_S = 10_000, 0.0  # the brake out, the delay the first
    with _paths(options.home, options.boot_s) as paths:
        rounds = asyncio.run(_rounds(paths, options.rounds, options.seed))
    today = datetime.datetime.now(tz=datetime.UTC).date()
    print(f"{platform.machine()}, {os.cpu_count()} cores, {today}\n")
    print(deaths.table(rounds))
    print(
        f"\nLate: {sum(one.down_s > 2.0 for one in rounds)} of {len(rounds)} shown after more than "
        f"2 s, {sum(one.over_boot_s > 1.0 for one in rounds)} more than 1 s over the own boot."
    )


@contextlib.contextmanager
def _paths(home: Path | None, boot_s: float) -> Iterator[Paths]:
    if home is not None:
        yield Paths(home=home.absolute(), catalogue=bundled_root())
        return
    with (
        tempfile.TemporaryDirectory() as folder,
        fake_paths(Path(folder), boot_s=boot_s, workers=2) as paths,
    ):
        yield paths


async def _rounds(paths: Paths, count: int, seed: int) -> list[deaths.Round]:
    async with running(paths) as made:
        return await deaths.kill_parts(made.studio, deaths.PARTS, count, seed)


if __name__ == "__main__":
    main()
