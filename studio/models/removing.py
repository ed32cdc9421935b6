"""Takes a model away: what would go and what that frees, then one rename, then the bytes.

A kill at any moment leaves the model or nothing that looks like one: a model is first renamed to a
name that no tool takes for one, and what is left of that is finished by the next removal or start.
Nothing outside of the model's root is ever touched; links are removed, not followed.
"""

import contextlib
import os
import secrets
import shutil
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import msgspec

from studio.domain.errors import Busy, HostLacks, StudioError
from studio.domain.library import RootKind
from studio.host.documents import read_json, write_json
from studio.host.files import from_os_error
from studio.models.finding import IMPORTING, REMOVING, Found

if os.name == "posix":
    import fcntl

JOURNAL = ".removals.json"


class _Removal(msgspec.Struct, frozen=True, kw_only=True):
    trash: str
    cache_folder: str | None = None
    """Of a snapshot whose repository keeps others."""
    refs: tuple[str, ...] = ()


class _Journal(msgspec.Struct, frozen=True, kw_only=True):
    removals: tuple[_Removal, ...] = ()


class Weighed(NamedTuple):
    """What goes with a model."""

    freed_bytes: int
    stays_bytes: int
    """Of files that have another name elsewhere."""
    files: int
    is_link: bool = False
    """Only a link in the root goes."""


def require_removable(found: Found) -> None:
    """Raise Busy or HostLacks where a model cannot go: it is outside of its root, or fetched.

    Codes: `model-outside-root`, `model-is-root`, `model-in-use`, `not-writable`.
    """
    if found.root.kind is RootKind.REFERENCE:
        return
    place = Path(found.path if found.is_loose else found.cache_folder or found.folder)
    root = found.root.folder
    if place == root:
        raise Busy(
            "model-is-root",
            f"{place} is itself a folder that you added, not a model in one.",
            hint=f"`weir models roots remove {place}` forgets it; no file is touched.",
        )
    if not _is_inside(place.parent, root):
        raise Busy(
            "model-outside-root",
            f"{place} is reached through a link that leads out of {root}.",
            hint="Remove it where it lies; the Studio touches nothing outside of its folders.",
        )
    if place.name.startswith(IMPORTING) and _is_held(place.with_name(f"{place.name}.lock")):
        raise Busy(
            "model-in-use",
            f"{found.name.removesuffix(' (import)')} is being imported right now.",
            hint="Wait for its end, or end it; then run this again.",
        )
    if found.cache_folder is not None and _is_being_fetched(Path(found.cache_folder)):
        raise Busy(
            "model-in-use",
            f"A program is fetching files of {found.repository} right now.",
            hint="Wait for its end, or end it; then run this again.",
        )
    if not os.access(place.parent, os.W_OK | os.X_OK):
        raise HostLacks(
            "not-writable",
            f"{place.parent} cannot be written, so {place.name} cannot be removed from it.",
            hint="Check the folder's owner and permissions; a cache may belong to another user.",
        )


def weigh(found: Found) -> Weighed:
    """Return what removing a model frees. Raises: OSError."""
    if found.root.kind is RootKind.REFERENCE:
        return Weighed(0, sum(file.size or 0 for file in found.files), len(found.files))
    if not found.is_loose and Path(found.folder).is_symlink():
        return Weighed(0, sum(file.size or 0 for file in found.files), 1, is_link=True)
    return _weighed(_doomed(found))


def remove(found: Found, models: Path) -> None:
    """Take a model away; `models` is the Studio's own folder, which keeps the journal.

    Raises: Busy, HostLacks as `require_removable`; HostLacks (`not-writable`).
    """
    require_removable(found)
    if found.root.kind is RootKind.REFERENCE:
        return
    try:
        _remove(found, models)
    except OSError as error:
        place = Path(error.filename) if isinstance(error.filename, str) else Path(found.path)
        raise from_os_error(error, place) from error


def is_left(models: Path) -> bool:
    """Tell whether a kill cut a removal off."""
    return (models / JOURNAL).exists()


def finish(models: Path) -> int:
    """Finish what a kill cut off; return how many. Raises: OSError, StudioError."""
    removals = _journal(models)
    for one in removals:
        _empty(one)
        _note(models, _without(_journal(models), one))
    return len(removals)


def _remove(found: Found, models: Path) -> None:
    folder = Path(found.folder)
    if not found.is_loose and folder.is_symlink():
        folder.unlink()
        return
    if found.is_loose:
        trash = folder / _trash_name(Path(found.path).name)
        removal = _Removal(trash=str(trash))
    elif found.cache_folder is not None and _others(found):
        trash = Path(found.cache_folder) / _trash_name(folder.name)
        removal = _Removal(trash=str(trash), cache_folder=found.cache_folder, refs=found.refs)
    else:
        folder = Path(found.cache_folder or found.folder)
        trash = folder.with_name(_trash_name(folder.name))
        removal = _Removal(trash=str(trash))
    _note(models, (*_journal(models), removal))
    _set_aside(found, folder, trash, removal)
    _empty(removal)
    _note(models, _without(_journal(models), removal))
    if found.cache_folder is None:
        _remove_empty(folder if found.is_loose else folder.parent, found.root.folder)


def _set_aside(found: Found, folder: Path, trash: Path, removal: _Removal) -> None:
    """Make it look like a model no more: one rename; for loose files one each, the first first."""
    if found.is_loose:
        trash.mkdir()
        for file in found.files:
            Path(file.path).rename(trash / Path(file.path).name)
        return
    if removal.cache_folder is not None:
        trash.mkdir()
        folder.rename(trash / folder.name)  # as deep as before, so that its links still lead
        return
    folder.rename(trash)


def _empty(removal: _Removal) -> None:
    trash = Path(removal.trash)
    if not trash.name.startswith(REMOVING) or not os.path.lexists(trash):
        return
    if removal.cache_folder is not None:
        cache = Path(removal.cache_folder)
        for snapshot in trash.iterdir():
            for name in removal.refs:
                (cache / "refs").joinpath(*PurePosixPath(name).parts).unlink(missing_ok=True)
            for blob in _only_named_by(snapshot, cache):
                blob.unlink(missing_ok=True)
    shutil.rmtree(trash)
    if removal.cache_folder is None and trash.name.startswith(f"{REMOVING}models--"):
        name = trash.name.removeprefix(REMOVING).rpartition("-")[0]
        locks = trash.parent / ".locks" / name
        if locks.is_dir() and not locks.is_symlink():
            shutil.rmtree(locks, ignore_errors=True)


def _doomed(found: Found) -> Iterator[os.stat_result]:
    """Yield what `lstat` says of everything that goes."""
    if found.is_loose:
        for file in found.files:
            with contextlib.suppress(FileNotFoundError):
                yield Path(file.path).lstat()
        return
    if found.cache_folder is not None and _others(found):
        folder, cache = Path(found.folder), Path(found.cache_folder)
        yield from _below(folder)
        for blob in _only_named_by(folder, cache):
            with contextlib.suppress(FileNotFoundError):
                yield blob.lstat()
        return
    yield from _below(Path(found.cache_folder or found.folder))


def _below(folder: Path) -> Iterator[os.stat_result]:
    for path in _files(folder):
        with contextlib.suppress(FileNotFoundError):
            yield path.lstat()


def _files(folder: Path) -> Iterator[Path]:
    for top, folders, names in os.walk(folder):
        for name in (*names, *(one for one in folders if Path(top, one).is_symlink())):
            yield Path(top, name)


def _weighed(doomed: Iterable[os.stat_result]) -> Weighed:
    names: dict[tuple[int, int], int] = {}
    about: dict[tuple[int, int], os.stat_result] = {}
    files = 0
    for one in doomed:
        files += 1
        if stat.S_ISREG(one.st_mode):
            key = (one.st_dev, one.st_ino)
            names[key] = names.get(key, 0) + 1
            about[key] = one
    goes = [key for key, count in names.items() if count >= about[key].st_nlink]
    freed = sum(about[key].st_size for key in goes)
    return Weighed(freed, sum(one.st_size for one in about.values()) - freed, files)


def _others(found: Found) -> bool:
    """Tell whether the repository has other snapshots, or files that a download left there."""
    assert found.cache_folder is not None
    snapshots = Path(found.cache_folder, "snapshots")
    try:
        return any(one != Path(found.folder) for one in snapshots.iterdir())
    except OSError:
        return False


def _only_named_by(folder: Path, cache: Path) -> list[Path]:
    """Return the blobs that nothing but the snapshot in `folder` names.

    By its links, or, where there are none, by second names of the same file.
    """
    blobs = cache / "blobs"
    mine = set(_named(folder, blobs))
    for other in _snapshots(cache):
        if other != folder:
            mine -= set(_named(other, blobs))
    return sorted(mine)


def _snapshots(cache: Path) -> list[Path]:
    try:
        return list((cache / "snapshots").iterdir())
    except OSError:
        return []


def _named(folder: Path, blobs: Path) -> Iterator[Path]:
    """Yield the blobs of this very cache that a snapshot names; a link elsewhere names nothing."""
    try:
        inodes = {(one.stat().st_dev, one.stat().st_ino): one for one in blobs.iterdir()}
    except OSError:
        inodes = {}
    for path in _files(folder):
        with contextlib.suppress(OSError):
            if path.is_symlink():
                blob = blobs / path.readlink().name
                if path.samefile(blob):
                    yield blob
            elif (key := (path.stat().st_dev, path.stat().st_ino)) in inodes:
                yield inodes[key]


def _is_inside(folder: Path, root: Path) -> bool:
    try:
        return folder.resolve().is_relative_to(root.resolve())
    except (OSError, RuntimeError):  # a ring of links
        return False


def _is_being_fetched(cache_folder: Path) -> bool:
    """Tell whether a program of whoever's holds a lock of the repository."""
    locks = cache_folder.parent / ".locks" / cache_folder.name
    if os.name != "posix" or not locks.is_dir():
        return False
    return any(_is_held(path) for path in locks.glob("*.lock"))


def _is_held(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def _trash_name(name: str) -> str:
    """Return a name that fits where the model's own did."""
    end = secrets.token_hex(4)
    room = 250 - len(REMOVING) - len(end)
    short = name.encode()[:room].decode("utf-8", "ignore")
    return f"{REMOVING}{short}-{end}"


def _journal(models: Path) -> tuple[_Removal, ...]:
    try:
        found = read_json(models / JOURNAL, _Journal)
    except StudioError:
        return ()
    return found.removals if found is not None else ()


def _note(models: Path, removals: tuple[_Removal, ...]) -> None:
    if removals:
        write_json(models / JOURNAL, _Journal(removals=removals))
    else:
        (models / JOURNAL).unlink(missing_ok=True)


def _without(removals: tuple[_Removal, ...], done: _Removal) -> tuple[_Removal, ...]:
    return tuple(one for one in removals if one != done)


def _remove_empty(folder: Path, root: Path) -> None:
    """Remove folders that are empty now, up to the root."""
    with contextlib.suppress(OSError):
        while folder != root and _is_inside(folder, root):
            folder.rmdir()
            folder = folder.parent
