"""What it costs to put a runtime into one signed file and to take it out in another home.

`python -m tests.bench.bench_bundle` prints a table. It takes an installed runtime (`--home`, else
WEIR_HOME, else the usual place), changes nothing in it, and works in a temporary folder of 4 GB
(`--scratch` names the disk). Beside it, in the same run: what `tar` and one `gzip` make of the
same folder.
"""

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from studio.domain.units import bytes_text
from studio.host.hashing import cores
from studio.host.paths import Paths, from_environment
from studio.host.probe import snapshot
from studio.runtimes import bundle_export, bundle_import, folder
from studio.runtimes.catalog import Catalog

RUNTIME = "cpu-vllm-0.32.0"


def say(text: str) -> None:
    """Print a line at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def timed(what: str, work: Callable[[], int]) -> None:
    """Run `work`, which returns the bytes it made, and print a row."""
    wall, own = time.perf_counter(), os.times()
    made = work()
    now = os.times()
    processor = sum(now[:4]) - sum(own[:4])
    taken = time.perf_counter() - wall
    say(f"| {what} | {taken:.1f} s | {processor:.1f} s | {bytes_text(made)} |")


def measure(paths: Paths, scratch: Path) -> None:
    """Run all sides and print the table."""
    recipe = Catalog(paths).recipe(RUNTIME)
    record = folder.current(paths, RUNTIME)
    assert record is not None, f"{RUNTIME} is not installed in {paths.home}"
    root = folder.folder_of(paths, record)
    there = Paths(home=scratch / "home", catalogue=paths.catalogue)
    there.home.mkdir()
    key = scratch / "key"
    bundle_export.signing.own(key)

    def export() -> int:
        glibc = snapshot(paths.home).glibc
        work = bundle_export.export(
            recipe, paths, lambda _report: None, to=scratch / "b", key=key, glibc=glibc
        )
        return asyncio.run(work).file_bytes

    async def take() -> int:
        fingerprint = bundle_export.signing.load(key).fingerprint
        head = await bundle_import.read_head(scratch / "b", there, fingerprint)
        done = await bundle_import.install(scratch / "b", head, recipe, there, lambda _report: None)
        return done.bytes

    def tar() -> int:
        target = scratch / "plain.tar.gz"
        subprocess.run(["tar", "-C", str(root), "-czf", str(target), "."], check=True)
        return target.stat().st_size

    say(f"{cores()} cores, load {os.getloadavg()[0]:.1f}")
    say("| what | time | processor | bytes |\n|---|---|---|---|")
    timed("export: verify, pack, sign", export)
    timed("import: unpack, verify, probe", lambda: asyncio.run(take()))
    timed("`tar -czf` of the same folder", tar)


def main() -> None:
    """Read the arguments and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--home", type=Path)
    parser.add_argument("--scratch", type=Path)
    arguments = parser.parse_args()
    paths = from_environment()
    if arguments.home is not None:
        paths = Paths(home=arguments.home, catalogue=paths.catalogue)
    with tempfile.TemporaryDirectory(dir=arguments.scratch) as scratch:
        measure(paths, Path(scratch))


if __name__ == "__main__":
    main()
