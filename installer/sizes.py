"""Writes `sizes.toml` beside a recipe's lock: how large the wheel of each pin is.

    python -m installer.sizes cpu-vllm-0.32.0

Sizes come from the package index that this machine's pip is set up for, in one resolution of the
finished lock by uv (its `pylock.toml` carries them), or from the file of a wheel folder. They are
shown and added up before a download; what is fetched is checked by the hashes of the lock.
"""

import argparse
import os
import subprocess
import tempfile
import tomllib
import urllib.parse
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import TypedDict

import uv
from packaging.tags import Tag, compatible_tags, cpython_tags
from packaging.utils import parse_wheel_filename

from studio.domain.manifests import RuntimeRecipe
from studio.host import locks, pip_config
from studio.host.paths import Paths, bundled_root
from studio.runtimes.catalog import Catalog, recipe_folder
from studio.runtimes.packages import extra_indexes
from studio.runtimes.sizes import SIZES_FILE
from studio.runtimes.stock import whole_lock

PLATFORM = "linux-x86_64"
_NEWEST_GLIBC = 36
_OLDEST_GLIBC = 5


class Wheel(TypedDict, total=False):
    """One wheel of a pylock.toml."""

    url: str
    path: str
    name: str
    size: int


class Package(TypedDict, total=False):
    """One package of a pylock.toml."""

    name: str
    version: str
    wheels: list[Wheel]


def main() -> None:
    """Write the table of each runtime that is named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runtimes", nargs="+", metavar="RUNTIME")
    for name in parser.parse_args().runtimes:
        paths = Paths(home=Path(os.devnull), catalogue=bundled_root())
        recipe = Catalog(paths).recipe(name)
        lock = whole_lock(paths, recipe)
        indexes = extra_indexes(recipe) if recipe.packages is not None else ()
        listed = _listed(lock, ())
        try:
            packages = resolved(listed, recipe.interpreter.series, indexes)
        except subprocess.CalledProcessError:
            if not indexes:
                raise
            # What only they have stays without a size; an installation asks for it then.
            print(f"{name}: without {', '.join(indexes)}, which do not answer here")
            packages = resolved(_listed(lock, _of_indexes(recipe)), recipe.interpreter.series, ())
        found = sizes(lock, packages, recipe.interpreter.series)
        target = recipe_folder(paths, name) / SIZES_FILE
        target.write_text(text(found), "utf-8")
        whole = sum(found.values())
        print(f"{target}: {len(found)} of {len(locks.pins(lock))} wheels, {whole:,} bytes")


def _listed(lock: str, without: Collection[str]) -> str:
    """Return the part of a lock that an index lists: not what it names by an address."""
    listed = [
        line for line in lock.splitlines(keepends=True) if locks.address_of(line.strip()) is None
    ]
    text = "".join(listed)
    kept = {pin for pin in locks.pins(text) if pin.partition("==")[0] not in without}
    return locks.part(text, kept)


def _of_indexes(recipe: RuntimeRecipe) -> set[str]:
    """Return the packages that a recipe takes from indexes of its own."""
    indexes = recipe.packages.indexes if recipe.packages is not None else ()
    return {
        locks.plain(f"{one}==0").partition("==")[0] for each in indexes for one in each.packages
    }


def resolved(lock: str, series: str, indexes: Iterable[str]) -> list[Package]:
    """Return what uv's resolution of a finished lock says of its packages."""
    arguments, variables = pip_config.uv_settings(
        pip_config.read_sources(), extra_indexes=tuple(indexes)
    )
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "in.txt"), Path(folder, "pylock.toml")
        source.write_text(lock, "utf-8")
        command = [uv.find_uv_bin(), "pip", "compile", "-q", "--no-deps", "--no-header"]
        command += ["--format", "pylock.toml", "-o", str(target), "--python-version", series]
        command += ["--python-platform", f"x86_64-manylinux_2_{_NEWEST_GLIBC}"]
        command += [*arguments, str(source)]
        subprocess.run(command, check=True, env={**os.environ, **variables})
        packages: list[Package] = tomllib.loads(target.read_text("utf-8"))["packages"]
        return packages


def sizes(lock: str, packages: Iterable[Package], series: str) -> dict[str, int]:
    """Return the size of each pin's wheel, by the pin as the lock writes it."""
    ranks = {tag: rank for rank, tag in enumerate(_tags(series))}
    written = locks.exact(lock)
    found = {}
    for package in packages:
        pin = locks.plain(f"{package['name']}=={package['version']}")
        best = min(
            (
                (rank, wheel)
                for wheel in package.get("wheels", ())
                if (rank := _rank(_file_of(wheel), ranks)) is not None
            ),
            key=lambda pair: pair[0],
            default=None,
        )
        size = _size(best[1]) if best is not None else None
        if pin in written and size is not None:
            found[written[pin]] = size
    return found


def text(found: dict[str, int]) -> str:
    """Return the table as it is stored."""
    lines = [
        "# Bytes of each pin's wheel. Written by installer/sizes.py, not by hand.",
        "schema_version = 1",
        'source = "the package index that the lock was made from"',
        "",
        f"[platforms.{PLATFORM}]",
    ]
    lines += [f'"{pin}" = {size}' for pin, size in sorted(found.items())]
    return "\n".join([*lines, ""])


def _tags(series: str) -> Iterator[Tag]:
    version = tuple(int(part) for part in series.split("."))
    platforms = [
        f"manylinux_2_{minor}_x86_64" for minor in range(_NEWEST_GLIBC, _OLDEST_GLIBC - 1, -1)
    ]
    platforms += ["manylinux2014_x86_64", "manylinux2010_x86_64", "manylinux1_x86_64"]
    platforms.append("linux_x86_64")
    yield from cpython_tags(version, platforms=platforms)
    yield from compatible_tags(version, f"cp{series.replace('.', '')}", platforms)


def _rank(file: str, ranks: dict[Tag, int]) -> int | None:
    return min((ranks[tag] for tag in parse_wheel_filename(file)[3] if tag in ranks), default=None)


def _file_of(wheel: Wheel) -> str:
    place = wheel.get("name") or wheel.get("url") or wheel.get("path") or ""
    return urllib.parse.unquote(place.rpartition("/")[2])


def _size(wheel: Wheel) -> int | None:
    if "size" in wheel:
        return wheel["size"]
    place = urllib.parse.urlsplit(wheel.get("url", ""))
    path = Path(urllib.parse.unquote(place.path)) if place.scheme == "file" else None
    path = Path(wheel["path"]) if path is None and "path" in wheel else path
    return path.stat().st_size if path is not None and path.is_file() else None


if __name__ == "__main__":
    main()
