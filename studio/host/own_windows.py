"""The versions that the setup program of Windows keeps beside each other, and which one runs.

Each lies whole in a folder `app-VERSION` of one place, or `app-VERSION-b` where it was repaired;
a file `complete` in it says that a set-up has finished it. `current.txt` beside them names the
folder that the starters run, `previous.txt` the one before (`installer/windows/weir-studio.nsi`).
"""

import contextlib
import os
import re
from collections.abc import Iterator
from pathlib import Path

from studio.domain.self_update import version_key
from studio.host import files

POINTER = "current.txt"
BEFORE = "previous.txt"
FINISHED = "complete"
PROGRAM = "weir.exe"
INSIDE = "_internal"
_FOLDER = re.compile(r"app-(\d{1,6}\.\d{1,6}\.\d{1,6})(?:-b)?")
_NAME_BYTES = 64
"""A starter reads no more of such a file."""


def version_of(name: str) -> str | None:
    """Return the version that a folder of that name holds; None: it is none of ours."""
    match = _FOLDER.fullmatch(name)
    return match[1] if match is not None else None


def current(place: Path) -> str | None:
    """Return the version that the starters run; None where the file says none that is there."""
    return _named(place, POINTER)


def before(place: Path, used: str) -> str | None:
    """Return the version that is kept for the way back from `used`.

    Where no file names one, as after a kill in the middle of a set-up, it is the newest other one.
    """
    named = _named(place, BEFORE)
    if named not in (None, used):
        return named
    others = {version for _folder, version in _finished(place) if version != used}
    return max(others, key=lambda version: version_key(version) or (), default=None)


def folder(place: Path, version: str) -> Path | None:
    """Return where a finished version lies."""
    pointers = (_read(place, POINTER), _read(place, BEFORE))
    found = [path for path, one in _finished(place) if one == version]
    # What was left of a repair may lie there, too; a file that names one of both knows better.
    return max(found, key=lambda path: (path.name in pointers, path.name), default=None)


def switch(place: Path, version: str) -> None:
    """Let the starters run another version, in one step; the one that runs is the one before.

    Raises: HostLacks (`not-writable`, `disk-full`), FileNotFoundError where it is not there.
    """
    target = folder(place, version)
    if target is None:
        raise FileNotFoundError(version)
    was = _read(place, POINTER)
    if was == target.name:
        return
    try:
        os.utime(target / FINISHED)  # the one that a starter takes where `current.txt` is lost
    except OSError as error:
        raise files.from_os_error(error, target / FINISHED) from error
    if was is not None and version_of(was) is not None:
        _write(place / BEFORE, was)
    _write(place / POINTER, target.name)


def _named(place: Path, file: str) -> str | None:
    name = _read(place, file)
    if name is None or not _is_finished(place / name):
        return None
    return version_of(name)


def _read(place: Path, file: str) -> str | None:
    try:
        with (place / file).open("rb") as opened:
            text = opened.read(_NAME_BYTES).decode("ascii").strip()
    except (OSError, UnicodeDecodeError):
        return None
    return text if version_of(text) is not None else None


def _write(path: Path, name: str) -> None:
    """Write a file whole, beside it first: under the name that the removal takes away, too."""
    beside = path.with_name(f"{path.name}.new")
    try:
        with beside.open("wb") as file:
            file.write(name.encode("ascii"))
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except OSError as error:
        raise files.from_os_error(error, path) from error


def _is_finished(path: Path) -> bool:
    return (path / FINISHED).is_file() and (path / PROGRAM).is_file()


def _finished(place: Path) -> Iterator[tuple[Path, str]]:
    with contextlib.suppress(OSError):
        for path in sorted(place.iterdir()):
            version = version_of(path.name)
            if version is not None and _is_finished(path):
                yield path, version
