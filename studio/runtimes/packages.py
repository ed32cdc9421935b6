"""The packages of a runtime: installed by uv, with progress from what really happens.

Progress is what uv writes, of the recipe's total. Bytecode is compiled afterwards (bytecode.py).
"""

import base64
import csv
import hashlib
import io
import re
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

from studio.domain.manifests import AliasDistribution, RuntimeRecipe
from studio.host import locks, pip_config, process, uv
from studio.host.files import write_atomic
from studio.host.meter import Meter
from studio.host.network import NetworkPolicy

_DOWNLOADING = re.compile(r"^Downloading (\S+)(?: \(([^)]+)\))?")
_PREPARED = re.compile(r"^Prepared \d+ packages? in")


async def install_packages(
    recipe: RuntimeRecipe,
    lock: Path,
    python: Path,
    cache: Path,
    meter: Meter,
    taken_bytes: int = 0,
    *,
    policy: NetworkPolicy | None = None,
    folders: tuple[Path, ...] = (),
) -> None:
    """Install a lock, or what of it is not in place yet, of which `taken_bytes` already are.

    `folders` hold wheels beside those that this machine's pip knows. Writes no bytecode.
    Raises: what `uv.install` raises.
    """
    request = uv.PackageRequest(
        python=python,
        requirements=lock,
        cache=cache,
        compile_bytecode=False,
        extra_indexes=extra_indexes(recipe),
        folders=folders,
        what=f"The packages of {recipe.title}",
        policy=policy,
    )
    assert recipe.packages is not None
    whole = recipe.packages.unpacked_bytes
    total = max(0, whole - taken_bytes) if whole is not None else None
    progress = _Progress(_count(lock), total, meter)
    await uv.install(request, on_line=progress.on_line, on_tick=progress.on_tick)


def _count(lock: Path) -> int:
    return len(locks.pins(lock.read_text("utf-8")))


def extra_indexes(recipe: RuntimeRecipe) -> tuple[str, ...]:
    """Return the recipe's own indexes whose packages this machine's wheel folders lack."""
    assert recipe.packages is not None
    sources = pip_config.read_sources()
    return tuple(
        index.url
        for index in recipe.packages.indexes
        if not all(uv.holds_wheel(sources.folders, name) for name in index.packages)
    )


def site_packages(python: Path) -> Path:
    """Return the folder that holds an interpreter's packages."""
    library = python.parent.parent / "lib"
    return next(library.glob("python3.*/site-packages"), library / "site-packages")


class _Progress:
    """Turns uv's lines and counters into progress."""

    def __init__(self, count: int, total: int | None, meter: Meter) -> None:
        self._meter = meter
        self._count = count
        self._total = total
        meter.begin(f"Installing {count} packages", total=total, unit="bytes")

    def on_line(self, line: str) -> None:
        """Take up a line of uv's."""
        if found := _DOWNLOADING.match(line):
            size = f" ({found[2]})" if found[2] else ""
            self._meter.note(f"Downloading {found[1]}{size}")
        elif _PREPARED.match(line):
            self._meter.note(f"Linking {self._count} packages")

    def on_tick(self, pid: int) -> None:
        """Look at uv's counter."""
        done = process.written_bytes(pid)
        if done is not None:
            self._meter.reach(done if self._total is None else min(done, self._total))


def write_alias(site: Path, alias: AliasDistribution) -> None:
    """Write the metadata of an alias distribution, as an installed wheel without files has it."""
    folder = site / f"{alias.name.replace('-', '_')}-{alias.version}.dist-info"
    contents = {
        "METADATA": (
            "Metadata-Version: 2.1\n"
            f"Name: {alias.name}\n"
            f"Version: {alias.version}\n"
            f"Summary: Another name for {alias.requires}\n"
            f"Requires-Dist: {alias.requires}\n"
        ),
        "WHEEL": (
            "Wheel-Version: 1.0\nGenerator: weir-studio\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        ),
        "INSTALLER": "weir-studio\n",
    }
    rows = [
        f"{folder.name}/{name},sha256={_record_hash(text.encode())},{len(text.encode())}"
        for name, text in contents.items()
    ]
    if folder.exists():
        shutil.rmtree(folder)  # it may hold the cut-off writes of a run that was killed
    # METADATA is last but one, RECORD last: a folder without them is no distribution yet.
    for name in ("WHEEL", "INSTALLER", "METADATA"):
        write_atomic(folder / name, contents[name].encode())
    write_atomic(folder / "RECORD", "\n".join([*rows, f"{folder.name}/RECORD,,", ""]).encode())


def refresh_records(site: Path, changed: Iterable[str]) -> None:
    """Make the RECORD of each distribution tell the truth about files that patches changed.

    `changed` is relative to `site`. A new file is listed by a distribution that has files in the
    nearest folder above it; one at the top belongs to nobody. May be killed and run again.
    """
    records = {path: _read_record(path) for path in sorted(site.glob("*.dist-info/RECORD"))}
    owners: dict[Path, list[str]] = {}
    for name in changed:
        owner = _owner(records, name)
        if owner is not None:
            owners.setdefault(owner, []).append(name)
    for record, names in owners.items():
        old = records[record]
        new = [row for row in old if row[0] not in names]
        new[-1:-1] = [row for name in names if (row := _row(site, name)) is not None]
        if sorted(new) != sorted(old):
            out = io.StringIO(newline="")
            csv.writer(out, lineterminator="\n").writerows(new)
            # Never in place: the file is a link into uv's cache.
            write_atomic(record, out.getvalue().encode())


def _read_record(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return [row for row in csv.reader(file) if row]


def _owner(records: Mapping[Path, list[list[str]]], name: str) -> Path | None:
    for record, rows in records.items():
        if any(row[0] == name for row in rows):
            return record
    folder = name.rpartition("/")[0]
    while folder:
        for record, rows in records.items():
            if any(row[0].startswith(f"{folder}/") for row in rows):
                return record
        folder = folder.rpartition("/")[0]
    return None


def _row(site: Path, path: str) -> list[str] | None:
    try:
        data = (site / path).read_bytes()
    except FileNotFoundError:
        return None
    return [path, f"sha256={_record_hash(data)}", str(len(data))]


def _record_hash(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
