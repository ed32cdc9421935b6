"""What a second runtime costs: disk, bytes fetched, time; and how long going back takes.

`python -m tests.bench.bench_store` prints tables. The stand-in pair has 20 packages of 1 MB, two of
which differ. `--real` installs cpu-vllm-0.32.0, empties uv's cache, installs cpu-vllm-0.31.0, then
0.32.0 with one patch less, beside the first; `--cache` names a uv cache to begin with. What uv got
is counted by what lies in its emptied cache afterwards, each wheel with its size.
"""

import argparse
import asyncio
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from studio.domain.manifests import InstalledRuntime
from studio.host import locks, uv_cache
from studio.host.paths import Paths, bundled_root
from studio.runtimes import folder, sizes, versions
from studio.runtimes.catalog import Catalog
from studio.runtimes.install import install
from studio.runtimes.stock import whole_lock
from tests.bench.bench_install import machine, say
from tests.fakes.wheels import make_wheel
from tests.runtimes import standin
from tests.runtimes.standin import StandIn

NEW, OLD = "cpu-vllm-0.32.0", "cpu-vllm-0.31.0"
PACKAGES, DIFFERENT, MEGABYTE = 20, 2, 1_000_000


def blocks(*places: Path) -> int:
    """Return the bytes on the disk of everything in `places`, each inode once: as `du` does."""
    found: dict[int, int] = {}
    for place in places:
        for top, folders, names in os.walk(place):
            for path in (Path(top), *(Path(top, name) for name in (*names, *folders))):
                stat = path.lstat()
                found[stat.st_ino] = stat.st_blocks * 512
    return sum(found.values())


def timed(paths: Paths, name: str, *, is_update: bool = False) -> tuple[InstalledRuntime, float]:
    """Install and return the record with the seconds that took."""
    recipe = Catalog(paths).recipe(name)
    began = time.perf_counter()
    made = asyncio.run(install(recipe, paths, lambda _report: None, is_update=is_update))
    return made, time.perf_counter() - began


def fetched(paths: Paths, name: str) -> tuple[int, int]:
    """Return how many wheels uv's cache holds of a runtime, and their bytes."""
    recipe = Catalog(paths).recipe(name)
    pins = locks.pins(whole_lock(paths, recipe))
    got = {pin for _place, pin in uv_cache.unpacked(paths.cache / "uv", pins)}
    known = sizes.wheel_sizes(recipe, paths)
    return len(got), sum(known[pin] for pin in got)


def row(what: str, disk: int, added: int, got: tuple[int, int], seconds: float) -> None:
    """Print a line of the table."""
    shown = f"{disk / 1e6:,.1f} MB | {added / 1e6:,.1f} MB | {got[0]}, {got[1] / 1e6:,.1f} MB"
    say(f"| {what} | {shown} | {seconds:.1f} s |")


def head() -> None:
    """Print the head of the table."""
    say("| installed | disk alone | disk added | wheels fetched | time |")
    say("|---|---|---|---|---|")


def real(place: Path, cache: Path | None) -> None:
    """Measure the two runtimes for the processor."""
    catalogue = place / "catalogue"
    shutil.copytree(bundled_root() / "runtimes", catalogue / "runtimes")
    paths = Paths(home=place / "home", catalogue=catalogue)
    if cache is not None:
        shutil.copytree(cache, paths.cache / "uv", symlinks=True)
    head()
    places: list[Path] = [paths.store]

    def one(name: str, what: str, *, is_update: bool = False) -> None:
        before = blocks(*places)
        made, seconds = timed(paths, name, is_update=is_update)
        root = folder.folder_of(paths, made)
        places.append(root)
        row(what, blocks(root), blocks(*places) - before, fetched(paths, name), seconds)
        shutil.rmtree(paths.cache / "uv", ignore_errors=True)

    one(NEW, f"{NEW}, first")
    one(OLD, f"{OLD} after it, uv's cache emptied")
    recipe = catalogue / "runtimes" / NEW / "runtime.toml"
    recipe.write_text(recipe.read_text().replace('  "0004-startup-shim.patch",\n', ""))
    one(NEW, f"{NEW} with one patch less, uv's cache emptied", is_update=True)
    going_back(paths, NEW)


def stand_in(place: Path) -> None:
    """Measure a pair of runtimes of 20 MB that share 90 %."""
    made = standin.make(place)
    os.environ["PIP_CONFIG_FILE"] = os.devnull
    os.environ["PIP_INDEX_URL"] = "http://127.0.0.1:1/simple"
    os.environ["PIP_FIND_LINKS"] = made.wheels.as_uri()
    lock = made.recipe_file.parent / "requirements.lock"
    kept = lock.read_text()
    lines = {number: package(made, number, "1.0") for number in range(PACKAGES)}
    lock.write_text(kept + "".join(lines.values()))
    made.edit("disk_bytes = 2_000_000", "disk_bytes = 30_000_000")
    head()
    first, seconds = timed(made.paths, standin.NAME)
    roots = [folder.folder_of(made.paths, first)]
    row("first", blocks(*roots), blocks(*roots), wheels(made, lock), seconds)
    shutil.rmtree(made.paths.cache / "uv")
    lines |= {number: package(made, number, "2.0") for number in range(DIFFERENT)}
    lock.write_text(kept + "".join(lines.values()))
    second, seconds = timed(made.paths, standin.NAME, is_update=True)
    roots.append(folder.folder_of(made.paths, second))
    added = blocks(*roots) - blocks(roots[0])
    row("second, uv's cache emptied", blocks(roots[1]), added, wheels(made, lock), seconds)
    going_back(made.paths, standin.NAME)


def package(made: StandIn, number: int, version: str) -> str:
    """Write a package of a megabyte and return its line of the lock."""
    name = f"weirpart{number}"
    files = {f"{name}/__init__.py": b"", f"{name}/data": os.urandom(MEGABYTE)}
    return make_wheel(made.wheels, name, files, version=version) + "\n"


def wheels(made: StandIn, lock: Path) -> tuple[int, int]:
    """Return how many wheels uv got, and their bytes."""
    pins = locks.pins(lock.read_text())
    got = {pin for _place, pin in uv_cache.unpacked(made.paths.cache / "uv", pins)}
    files = {
        locks.plain("==".join(path.name.split("-")[:2])): path.stat().st_size
        for path in made.wheels.glob("*.whl")
    }
    return len(got), sum(files[pin] for pin in got)


def going_back(paths: Paths, name: str) -> None:
    """Print how long a step back and forward takes, and that what was in use is in use again."""
    steps: tuple[tuple[str, Callable[[Paths, str], InstalledRuntime]], ...] = (
        ("back", versions.rollback),
        ("forward", versions.forward),
    )
    for what, step in steps:
        began = time.perf_counter()
        record = step(paths, name)
        seconds = time.perf_counter() - began
        assert folder.in_use(paths, name) == record
        say(f"\nA step {what}: {seconds * 1000:.1f} ms.")


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--real", action="store_true", help="also the runtimes for the processor")
    parser.add_argument("--cache", type=Path, help="a uv cache that may hold the packages already")
    options = parser.parse_args()
    say(machine() + "\n")
    if options.real:
        with tempfile.TemporaryDirectory(prefix="weir-bench-") as place:
            real(Path(place), options.cache)
    say("\nA stand-in pair that shares 90 %:\n")
    with tempfile.TemporaryDirectory(prefix="weir-bench-") as place:
        stand_in(Path(place))


if __name__ == "__main__":
    main()
