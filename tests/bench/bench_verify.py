"""What it costs to list a runtime's files, to look at a sample of them, and to read them all.

`python -m tests.bench.bench_verify` prints a table. It takes an installed runtime (`--home`, else
WEIR_HOME, else the usual place), changes nothing in it, and compares with `sha256sum` over the same
files in the same run, alone and one process for each core. Every side runs in turn, `--rounds`
times, after a first reading that brings the files into memory.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from studio.domain.manifests import InstalledRuntime
from studio.domain.units import bytes_text
from studio.host.hashing import cores
from studio.host.paths import Paths, from_environment
from studio.runtimes import folder, manifest, survey, verify

RUNTIME = "cpu-vllm-0.32.0"


def say(text: str) -> None:
    """Print a line at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def timed(work: Callable[[], object]) -> float:
    """Return how long `work` takes, in seconds."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def sha256sum(root: Path, names: bytes, processes: int) -> None:
    """Read the same files with coreutils, in `processes` at a time."""
    batch = ["-P", str(processes), "-n", "1000"] if processes > 1 else []
    subprocess.run(
        ["xargs", "-0", *batch, "sha256sum", "--"],
        input=names, cwd=root, stdout=subprocess.DEVNULL, check=True,
    )  # fmt: skip


def measure(paths: Paths, record: InstalledRuntime, rounds: int) -> None:
    """Run all sides in turn and print the table."""
    root = folder.folder_of(paths, record)
    listed = survey.survey(root, record.runtime_id)  # and the files are in memory now
    entries = [entry for entry in listed.entries if not entry.has(manifest.LINK)]
    names = b"".join(os.fsencode(entry.path) + b"\0" for entry in entries)
    size = sum(entry.size for entry in entries)
    say(f"{len(entries)} files, {bytes_text(size)}, {cores()} cores, median of {rounds}")
    with tempfile.TemporaryDirectory() as scratch:
        target = Path(scratch) / manifest.MANIFEST_FILE
        manifest.write(target, listed)

        def sample() -> None:
            # The list lies elsewhere when the runtime is older than lists.
            with manifest.opened(target.parent) as reader:
                assert reader is not None
                verify.look(root, reader)

        sides: dict[str, Callable[[], object]] = {
            "list all files (an installation's last step)": lambda: manifest.write(
                target, survey.survey(root, record.runtime_id)
            ),
            "verify a sample (each start)": sample,
            "verify --full": lambda: verify.examine(root, listed),
            "sha256sum": lambda: sha256sum(root, names, 1),
            f"sha256sum, {cores()} processes": lambda: sha256sum(root, names, cores()),
        }
        taken: dict[str, list[float]] = {side: [] for side in sides}
        for _round in range(rounds):
            for side, work in sides.items():
                taken[side].append(timed(work))
        say(f"the list: {bytes_text(target.stat().st_size)}")
    medians = {side: statistics.median(values) for side, values in taken.items()}
    for side, median in medians.items():
        rate = "" if "sample" in side else f"{size / median / 1e9:8.2f} GB/s"
        say(f"  {side:46}{median:8.3f} s{rate}")
    full = medians["verify --full"]
    for side in list(sides)[3:]:
        say(f"verify --full reads at {medians[side] / full:.2f} x the speed of {side}")


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--home", type=Path)
    parser.add_argument("--runtime", default=RUNTIME)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    paths = from_environment()
    if options.home is not None:
        paths = Paths(home=options.home.absolute(), catalogue=paths.catalogue)
    record = folder.current(paths, options.runtime)
    if record is None:
        sys.exit(f"{options.runtime} is not installed in {paths.home}")
    measure(paths, record, options.rounds)


if __name__ == "__main__":
    main()
