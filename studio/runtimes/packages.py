"""The packages of a runtime: installed by uv, with progress from what really happens.

Two parts: fetch and unpack (bytes that uv writes, of the recipe's total), then bytecode (source
bytes that uv's compilers have read, of those that the installed packages list).
"""

import base64
import csv
import hashlib
import io
import os
import re
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from studio.domain.manifests import AliasDistribution, RuntimeRecipe
from studio.host import locks, pip_config, process, uv
from studio.host.files import write_atomic
from studio.host.meter import Meter
from studio.host.network import NetworkPolicy

_COMPILE_TIMEOUT_S = 1800.0
_DOWNLOADING = re.compile(r"^Downloading (\S+)(?: \(([^)]+)\))?")
_INSTALLED = re.compile(r"^Installed \d+ packages? in")
_PREPARED = re.compile(r"^Prepared \d+ packages? in")
_COMPILED = re.compile(r"^Bytecode compiled (\d+)")


async def install_packages(
    recipe: RuntimeRecipe,
    lock: Path,
    python: Path,
    cache: Path,
    meter: Meter,
    on_linked: Callable[[], None],
    taken_bytes: int = 0,
    *,
    policy: NetworkPolicy | None = None,
    folders: tuple[Path, ...] = (),
) -> None:
    """Install a lock, or what of it is not in place yet, of which `taken_bytes` already are.

    `folders` hold wheels beside those that this machine's pip knows.
    `on_linked` is called when all files are in place, before bytecode.
    Raises: what `uv.install` raises.
    """
    request = uv.PackageRequest(
        python=python,
        requirements=lock,
        cache=cache,
        extra_indexes=extra_indexes(recipe),
        folders=folders,
        what=f"The packages of {recipe.title}",
        policy=policy,
    )
    assert recipe.packages is not None
    whole = recipe.packages.unpacked_bytes
    total = max(0, whole - taken_bytes) if whole is not None else None
    progress = _Progress(_count(lock), total, site_packages(python), meter, on_linked)
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


async def compile_packages(python: Path, meter: Meter) -> None:
    """Write the bytecode that an interrupted installation still lacks.

    Not by uv: where all packages are installed it has nothing to do, and compiles nothing.
    """
    site = site_packages(python)
    total = source_bytes(site)
    meter.begin("Compiling bytecode", total=total or None, unit="bytes")

    def on_tick(pid: int) -> None:
        meter.reach(min(process.read_bytes_of_children(pid) or 0, total))

    await compile_folder(python, site, on_tick)


async def compile_folder(
    python: Path, folder: Path, on_tick: Callable[[int], None] | None = None
) -> None:
    """Compile what has no bytecode yet; files that cannot be compiled are left to the probe."""
    await _compile(python, ("-j", "0", str(folder)), on_tick)


async def compile_modules(python: Path, modules: Sequence[Path]) -> None:
    """Compile single sources, whose older bytecode is gone."""
    if modules:
        await _compile(python, [str(path) for path in modules], None)


async def _compile(
    python: Path, arguments: Sequence[str], on_tick: Callable[[int], None] | None
) -> None:
    await process.run(
        [str(python), *("-I", "-m", "compileall", "-q"), *arguments],
        env=process.helper_environment(),
        timeout_s=_COMPILE_TIMEOUT_S,
        on_tick=on_tick,
    )


def site_packages(python: Path) -> Path:
    """Return the folder that holds an interpreter's packages."""
    library = python.parent.parent / "lib"
    return next(library.glob("python3.*/site-packages"), library / "site-packages")


class _Progress:
    """Turns uv's lines and counters into progress."""

    def __init__(
        self,
        count: int,
        total: int | None,
        site: Path,
        meter: Meter,
        on_linked: Callable[[], None],
    ) -> None:
        self._site = site
        self._meter = meter
        self._on_linked = on_linked
        self._count = count
        self._compiling = False
        self._total: int | None = None
        self._begin(f"Installing {self._count} packages", total)

    def on_line(self, line: str) -> None:
        """Take up a line of uv's."""
        if found := _DOWNLOADING.match(line):
            size = f" ({found[2]})" if found[2] else ""
            self._meter.note(f"Downloading {found[1]}{size}")
        elif _PREPARED.match(line):
            self._meter.note(f"Linking {self._count} packages")
        elif _INSTALLED.match(line):
            self._on_linked()
            self._begin_bytecode()
        elif found := _COMPILED.match(line):
            self._meter.note(f"Compiled {found[1]} files")

    def on_tick(self, pid: int) -> None:
        """Look at uv's counters."""
        if not self._compiling:
            done = process.written_bytes(pid)
        else:
            done = process.read_bytes_of_children(pid)
        if done is not None:
            self._meter.reach(done if self._total is None else min(done, self._total))

    def _begin_bytecode(self) -> None:
        self._compiling = True
        self._begin("Compiling bytecode", source_bytes(self._site) or None)

    def _begin(self, note: str, total: int | None) -> None:
        self._total = total
        self._meter.begin(note, total=total, unit="bytes")


def source_bytes(site: Path) -> int:
    """Return the bytes of Python source that the installed packages list and nobody compiled yet.

    As their RECORD files say; what came out of the store has its bytecode.
    """
    total = 0
    tag = f".cpython-{site.parent.name.removeprefix('python').replace('.', '')}.pyc"
    for record in site.glob("*.dist-info/RECORD"):
        with record.open(encoding="utf-8", errors="replace", newline="") as file:
            for row in csv.reader(file):
                if len(row) == 3 and row[0].endswith(".py") and row[2].isdigit():
                    folder, _slash, name = row[0].rpartition("/")
                    cached = f"{site}/{folder}/__pycache__/{name[:-3]}{tag}"
                    total += 0 if os.path.lexists(cached) else int(row[2])
    return total


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
