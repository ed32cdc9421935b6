"""How much there is to fetch: the sizes of wheels, of those that the store does not hold.

A recipe may bring a table of its wheels' sizes (`sizes.toml` beside it, written by
`installer/sizes.py` from the same index as the lock). Without one only the whole is known, and the
part is reckoned from what the packages in the store take unpacked.
"""

import functools
from pathlib import Path

from studio.domain.manifests import Document, RuntimeRecipe
from studio.host import locks
from studio.host.documents import read_toml
from studio.host.paths import Paths
from studio.runtimes.catalog import recipe_folder
from studio.runtimes.interpreter import host_platform
from studio.runtimes.stock import whole_lock
from studio.runtimes.store import Store, package_keys

SIZES_FILE = "sizes.toml"
_OWN_BYTES = 32_000_000
"""Folders, bytecode of patched modules, records: what no runtime can share."""


class WheelSizes(Document, frozen=True, kw_only=True):
    """`sizes.toml`: bytes of each pin's wheel, `name==version` as the lock writes it."""

    schema_version: int
    source: str
    platforms: dict[str, dict[str, int]]


def fetch_bytes(recipe: RuntimeRecipe, paths: Paths) -> int:
    """Return the bytes of packages that an installation would fetch now; about, without a table.

    Raises: BadInput (`document-invalid`, `lock-missing`).
    """
    if recipe.packages is None:
        return 0
    store = Store(paths)
    keys = package_keys(whole_lock(paths, recipe), recipe.interpreter.series)
    held = store.held()  # hundreds of packages, and lists of presets ask for every recipe
    missing = {pin for pin, key in keys.items() if key not in held}
    known = wheel_sizes(recipe, paths)
    if missing <= known.keys():
        return sum(known[pin] for pin in missing)
    return _reckoned(recipe, store, keys, missing)


def disk_bytes(recipe: RuntimeRecipe, paths: Paths) -> int:
    """Return about how many bytes an installation adds to the disk.

    What all of it takes, in the share that is to be fetched, and what each runtime has of its own.
    Seen with the runtimes for the processor: 695 MB where this says 745, 31 where it says 32.
    """
    whole = recipe.needs.disk_bytes
    if recipe.packages is None:
        return whole
    share = fetch_bytes(recipe, paths) / max(1, _whole_bytes(recipe))
    return min(whole, int(whole * share) + _OWN_BYTES)


def wheel_sizes(recipe: RuntimeRecipe, paths: Paths) -> dict[str, int]:
    """Return the size of each wheel that is known here, by its pin in plain form.

    Raises: BadInput (`document-invalid`).
    """
    path: Path = recipe_folder(paths, recipe.name) / SIZES_FILE
    try:
        found = path.stat()
    except FileNotFoundError:
        known = {}
    else:
        known = dict(_table(path, found.st_mtime_ns, found.st_size))
    for wheel in recipe.packages.wheels if recipe.packages is not None else ():
        if wheel.bytes is not None:
            known[locks.plain(f"{wheel.name}=={wheel.version}")] = wheel.bytes
    return known


@functools.lru_cache(maxsize=16)
def _table(path: Path, _mtime_ns: int, _size: int) -> tuple[tuple[str, int], ...]:
    """Read a table once for as long as the file is the same."""
    table = read_toml(path, WheelSizes).platforms.get(host_platform(), {})
    return tuple((locks.plain(pin), size) for pin, size in table.items())


def _reckoned(recipe: RuntimeRecipe, store: Store, keys: dict[str, str], missing: set[str]) -> int:
    packages = recipe.packages
    assert packages is not None
    whole = _whole_bytes(recipe)
    if not packages.unpacked_bytes or len(missing) == len(keys):
        return whole
    if not missing:
        return 0
    here = store.bytes_of(key for pin, key in keys.items() if pin not in missing)
    return int(whole * max(0.0, 1.0 - here / packages.unpacked_bytes))


def _whole_bytes(recipe: RuntimeRecipe) -> int:
    packages = recipe.packages
    assert packages is not None
    return packages.download_bytes + sum(wheel.bytes or 0 for wheel in packages.wheels)
