"""The versions that the setup program of Windows keeps beside each other, and which one runs.

Each lies whole in a folder `app-VERSION` of one place, or `app-VERSION-b` where it was repaired;
a file `complete` in it says that a set-up has finished it. `current.txt` beside them names the
folder that the starters run, `previous.txt` the one before (`installer/windows/weir-studio.nsi`).
"""

import contextlib
import os
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path, PureWindowsPath

from studio.domain.self_update import version_key
from studio.host import files

POINTER = "current.txt"
BEFORE = "previous.txt"
FINISHED = "complete"
PROGRAM = "weir.exe"
INSIDE = "_internal"
_FOLDER = re.compile(r"app-(\d{1,6}\.\d{1,6}\.\d{1,6})(?:-b)?")
LISTED = "files.txt"
"""Every file that came with a version, then its folders: a line each, in UTF-16."""
_MUTEX = r"Local\WeirStudioSetup"
_EXISTS = 183
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


def forget_older(place: Path, kept: Iterable[str]) -> None:
    """Remove all versions but those in `kept`, the two that the files name, and what runs.

    Nothing is removed while a set-up runs: what it writes is not finished yet.
    """
    names = {_read(place, POINTER), _read(place, BEFORE)}
    with _alone() as is_ours, contextlib.suppress(OSError):
        found = (folder(place, version) for version in kept)
        names |= {path.name for path in found if path is not None}  # not what a repair left beside
        for path in sorted(place.iterdir()) if is_ours else ():
            is_older = version_of(path.name) is not None and path.name not in names
            if is_older and not _runs(path):
                remove_version(path)


def remove_version(folder: Path) -> None:
    """Remove what came with a version, by its list; what a person put there stays.

    A list of which something could not be removed, as while it runs, stays for the next time.
    """
    with contextlib.suppress(OSError):
        (folder / FINISHED).unlink(missing_ok=True)  # first: a half one must not be run
    try:
        lines = (folder / LISTED).read_bytes().decode("utf-16-le").splitlines()
    except (OSError, UnicodeDecodeError):
        lines = []
    left = False
    for line in lines:
        path = _listed(folder, line)
        if path is None:
            continue  # a list that somebody changed
        with contextlib.suppress(OSError):
            if line.endswith("\\"):
                path.rmdir()
            else:
                path.unlink(missing_ok=True)
        left = left or (not line.endswith("\\") and path.exists())
    if not left:
        with contextlib.suppress(OSError):
            (folder / LISTED).unlink(missing_ok=True)
            folder.rmdir()


def _listed(folder: Path, line: str) -> Path | None:
    """Return what a line of the list names; None where it leads out of the folder."""
    named = PureWindowsPath(line)
    if ":" in line or named.root or ".." in named.parts or not named.parts:
        return None
    path = folder.joinpath(*named.parts)
    try:
        is_inside = path.parent.resolve().is_relative_to(folder.resolve())  # no link on the way
    except (OSError, ValueError):
        return None
    return path if is_inside else None


def _runs(folder: Path) -> bool:
    """Tell whether a window of that version is open: Windows holds the libraries it has loaded."""
    for library in (folder / INSIDE).glob("python3*.dll"):
        try:
            library.open("r+b").close()
        except PermissionError:
            return True
        except OSError:
            continue
    return False


@contextlib.contextmanager
def _alone() -> Iterator[bool]:
    """Tell whether no set-up runs, and keep one from beginning (`weir-studio.nsi`: Alone)."""
    is_ours, handle = True, None
    if sys.platform == "win32":
        import ctypes

        kernel = ctypes.WinDLL("kernel32", use_last_error=True)
        kernel.CreateMutexW.restype = ctypes.c_void_p
        handle = kernel.CreateMutexW(None, False, _MUTEX)
        is_ours = handle is not None and ctypes.get_last_error() != _EXISTS
    try:
        yield is_ours
    finally:
        if sys.platform == "win32" and handle is not None:
            kernel.CloseHandle(ctypes.c_void_p(handle))


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
