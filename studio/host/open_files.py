"""Which processes hold files open or mapped, as far as this user may look. Linux only.

Elsewhere, and for other users' processes, nothing is found: who relies on the answer asks others
too.
"""

import os
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

_PROC = Path("/proc")


class Holder(NamedTuple):
    """A process that uses one of the files."""

    pid: int
    name: str


def holders(paths: Collection[str], *, proc: Path = _PROC, own: int | None = None) -> list[Holder]:
    """Return every other process that has one of `paths` (links resolved) open or mapped."""
    wanted = frozenset(paths)
    skipped = os.getpid() if own is None else own
    return [
        Holder(int(folder.name), _name(folder))
        for folder in _processes(proc)
        if int(folder.name) != skipped and (_has_open(folder, wanted) or _maps(folder, wanted))
    ]


def _processes(proc: Path) -> list[Path]:
    try:
        return sorted(one for one in proc.iterdir() if one.name.isdecimal())
    except OSError:
        return []


def _has_open(folder: Path, wanted: frozenset[str]) -> bool:
    try:
        descriptors = list((folder / "fd").iterdir())
    except OSError:
        return False
    for one in descriptors:
        try:
            if str(one.readlink()) in wanted:
                return True
        except OSError:
            continue
    return False


def _maps(folder: Path, wanted: frozenset[str]) -> bool:
    try:
        with (folder / "maps").open(encoding="utf-8", errors="surrogateescape") as file:
            return any(_mapped(line) in wanted for line in file)
    except OSError:
        return False


def _mapped(line: str) -> str:
    """Return the file of a line of `maps`: five fields, then a path that may hold blanks."""
    fields = line.rstrip("\n").split(maxsplit=5)
    return fields[5] if len(fields) == 6 else ""


def _name(folder: Path) -> str:
    try:
        return (folder / "comm").read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return "a process"
