"""What an installation costs over plain uv, and what it costs to find one that is there.

`python -m tests.bench.bench_install` prints a table. Both sides make an environment on the same
interpreter, install the same lock from the same sources with `--compile-bytecode`, and take turns.
The Studio's side also chooses the interpreter, journals, probes and measures the folder. `--empty`
adds a round with an empty cache for each side, which downloads everything twice (about 0.8 GB).
"""

import argparse
import asyncio
import contextlib
import datetime
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from studio.domain.manifests import RuntimeRecipe
from studio.host import pip_config, process, uv, uv_cache
from studio.host.paths import Paths, bundled_root
from studio.runtimes import folder, interpreter, sizes
from studio.runtimes.catalog import Catalog
from studio.runtimes.install import install

RECIPE = "cpu-vllm-0.32.0"


def say(text: str) -> None:
    """Print a line at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


class Taken(NamedTuple):
    """What a run took: by the clock, and of processors (which other work disturbs less)."""

    wall_s: float
    cpu_s: float


class Stopwatch:
    """Measures from its making on, children that have ended included."""

    def __init__(self) -> None:
        self._begun = self._now()

    def taken(self) -> Taken:
        """Return what was taken since."""
        now = self._now()
        return Taken(now.wall_s - self._begun.wall_s, now.cpu_s - self._begun.cpu_s)

    def _now(self) -> Taken:
        times = os.times()
        used = times.user + times.system + times.children_user + times.children_system
        return Taken(time.perf_counter(), used)


def studio(recipe: RuntimeRecipe, home: Path, cache: Path) -> Taken:
    """Install into a new home that uses `cache`."""
    paths = Paths(home=home, catalogue=bundled_root())
    paths.cache.mkdir(parents=True)
    (paths.cache / "uv").symlink_to(cache)
    watch = Stopwatch()
    asyncio.run(install(recipe, paths, lambda _report: None))
    return watch.taken()


def plain(lock: Path, python: str, target: Path, cache: Path) -> Taken:
    """Run `uv venv` and `uv pip sync` as by hand."""
    arguments, variables = pip_config.uv_settings(pip_config.read_sources())
    variables |= {"UV_CACHE_DIR": str(cache), "UV_NO_PROGRESS": "1"}
    environment = process.helper_environment(variables)
    sync = [uv.binary(), "pip", "sync", "--python", str(target / "bin" / "python")]
    sync += ["--require-hashes", "--compile-bytecode", *arguments, str(lock)]
    watch = Stopwatch()
    for command in ([uv.binary(), "venv", "--python", python, str(target)], sync):
        subprocess.run(command, env=environment, check=True, capture_output=True)
    return watch.taken()


def recognise_ms(recipe: RuntimeRecipe, paths: Paths) -> float:
    """Return the milliseconds in which an installed runtime is recognised, median of 50."""
    taken = []
    for _ in range(50):
        begun = time.perf_counter()
        assert folder.installed(paths, recipe) is not None
        taken.append((time.perf_counter() - begun) * 1000)
    return statistics.median(taken)


def measure(rounds: int, cache: Path | None, place: Path, *, empty: bool) -> None:
    """Take turns and print a row for each cache state."""
    recipe = Catalog(Paths(home=place, catalogue=bundled_root())).recipe(RECIPE)
    lock = folder.lock_file(Paths(home=place, catalogue=bundled_root()), recipe)
    found = asyncio.run(
        interpreter.find_on_host(
            recipe.interpreter.series, Paths(home=place, catalogue=bundled_root())
        )
    )
    assert lock is not None
    assert found is not None
    say("| cache | uv venv + uv pip sync | weir | ratio | CPU: uv | CPU: weir | ratio |")
    say("|---|---|---|---|---|---|---|")
    if empty:
        by_hand = plain(lock, found.executable, place / "plain", place / "cache-plain")
        ours = studio(recipe, place / "home", made(place / "cache-ours"))
        row("empty", [by_hand], [ours])
        for name in ("plain", "ours"):
            say(f"fetched, {name}: {fetched_text(recipe, place / f'cache-{name}')}")
        clear(place, "plain", "home", "cache-plain", "cache-ours")
    warm = cache or made(place / "cache")
    plain(lock, found.executable, place / "plain", warm)  # fills the cache and the page cache
    clear(place, "plain")
    plains, ourses = [], []
    for number in range(rounds):
        plains.append(plain(lock, found.executable, place / "plain", warm))
        ourses.append(studio(recipe, place / f"home{number}", warm))
        clear(place, "plain", *([f"home{number}"] if number < rounds - 1 else []))
    row("warm", plains, ourses)
    last = Paths(home=place / f"home{rounds - 1}", catalogue=bundled_root())
    say(f"\nAn installed runtime is recognised in {recognise_ms(recipe, last):.2f} ms.")


def row(name: str, plains: list[Taken], ourses: list[Taken]) -> None:
    """Print the medians of both sides."""
    cells = []
    for part in range(2):
        by_hand = statistics.median(taken[part] for taken in plains)
        ours = statistics.median(taken[part] for taken in ourses)
        cells += [f"{by_hand:.1f} s", f"{ours:.1f} s", f"{ours / by_hand:.2f}"]
    say(f"| {name} | {' | '.join(cells)} |")


def fetched_text(recipe: RuntimeRecipe, cache: Path) -> str:
    """Say how many wheels a cache that was empty holds now, and how large they are."""
    paths = Paths(home=cache, catalogue=bundled_root())
    known = sizes.wheel_sizes(recipe, paths)
    got = {pin for _place, pin in uv_cache.unpacked(cache, known.keys())}
    return f"{len(got)} wheels, {sum(known[pin] for pin in got):,} bytes"


def made(path: Path) -> Path:
    """Create a folder."""
    path.mkdir(parents=True)
    return path


def clear(place: Path, *names: str) -> None:
    """Remove folders of a round."""
    for name in names:
        shutil.rmtree(place / name)


def machine() -> str:
    """Return date and machine in words."""
    name = platform.processor() or platform.machine()
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                name = line.partition(":")[2].strip()
                break
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    return f"{today}, {name}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the start."


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--cache", type=Path, help="a uv cache that may hold the packages already")
    parser.add_argument("--empty", action="store_true", help="also from an empty cache")
    options = parser.parse_args()
    say(machine() + "\n")
    with tempfile.TemporaryDirectory() as place:
        measure(options.rounds, options.cache, Path(place), empty=options.empty)


if __name__ == "__main__":
    main()
