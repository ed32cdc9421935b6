"""tok/s as the monitor shows it against tokens that a client counts at the gateway.

    python -m tests.bench.bench_speed [--seconds 60] [--streams N] [--home FOLDER]

Without `--home`: the fake engine. With it: whatever that home serves, for example the real engine
on the processor (`weir up` first, then `weir down`).
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

from studio.domain.control import KeyRequest, UpRequest
from studio.host.paths import Paths, bundled_root
from tests.app.running import fake_paths, running
from tests.fakes.counting import Counted, counted


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--streams", type=int, nargs="+", default=[1, 4])
    parser.add_argument("--home", type=Path, default=None)
    options = parser.parse_args()
    today = datetime.datetime.now(tz=datetime.UTC).date()
    print(f"{platform.machine()}, {os.cpu_count()} cores, {today}\n")
    with _paths(options.home) as paths:
        found = asyncio.run(_all(paths, options.streams, options.seconds))
    print("| streams | seconds | shown | counted by the client | apart |\n|---|---|---|---|---|")
    for streams, one in found:
        print(
            f"| {streams} | {one.seconds:.0f} | {one.shown_tokens_per_s:.2f} tok/s"
            f" | {one.client_tokens_per_s:.2f} tok/s | {one.off:.2%} |"
        )


@contextlib.contextmanager
def _paths(home: Path | None) -> Iterator[Paths]:
    if home is not None:
        yield Paths(home=home.absolute(), catalogue=bundled_root())
        return
    with (
        tempfile.TemporaryDirectory() as folder,
        fake_paths(Path(folder), tokens_per_s=50.0) as paths,
    ):
        yield paths


async def _all(paths: Paths, streams: list[int], seconds: float) -> list[tuple[int, Counted]]:
    async with running(paths) as made:
        await made.studio.up(UpRequest())
        key = await made.studio.keys.create(KeyRequest(name=f"bench {os.getpid()}"))
        return [
            (count, await counted(made, key.key, seconds=seconds, streams=count))
            for count in streams
        ]


if __name__ == "__main__":
    main()
