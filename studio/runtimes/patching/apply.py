"""Apply a series to a folder: all of it or nothing, whatever happens meanwhile.

The thin shell around `decide`. One run at a time for each journal; an interrupted run is always
taken back, by the next `apply` or by `recover`, never completed (docs/decisions/0005).
"""

import contextlib
import stat
from collections.abc import Iterator
from pathlib import Path

from studio.domain.errors import BadInput, Busy, NotFound
from studio.host.files import exclusive, from_os_error
from studio.runtimes.patching.decide import Read, named_paths, plan
from studio.runtimes.patching.digest import tree_digest
from studio.runtimes.patching.journal import (
    Journal,
    Step,
    begin,
    end,
    roll_back,
    save_old,
    staged,
    swap,
    write_new,
)
from studio.runtimes.patching.model import Change, Outcome, Plan, Recovery, Series
from studio.runtimes.patching.names import STAGING
from studio.runtimes.patching.report import rejection_error


def apply(series: Series, tree: Path, *, journal: Path, strip: int = 1) -> Outcome:
    """Apply `series` to the package folder `tree`, or change nothing.

    `journal` is a file outside of what is patched, the same one at every run on this tree; a lock
    file lies beside it. A patch that is in the tree already is left alone.

    Raises: Damaged (`patch-rejected`, `patch-journal`), BadInput (`patch-escapes`, `patch-target`,
    `patch-strip`), NotFound (`tree-missing`), HostLacks (`disk-full`, `not-writable`), Busy
    (`patch-busy`).
    """
    with _sole_run(tree, journal) as root:
        roll_back(root, journal)
        decided = plan(series, reader(root), strip)
        if decided.rejections:
            raise rejection_error(decided.rejections)
        changes = [change for change in decided.changes if _differs(root, change)]
        if changes:
            _run(root, journal, changes)
        return _outcome(root, decided, changes)


def preview(series: Series, tree: Path, strip: int = 1) -> Plan:
    """Return what `apply` would do, rejections included. Raises as `apply` does otherwise."""
    return plan(series, reader(_root(tree)), strip)


def recover(tree: Path, journal: Path) -> Recovery | None:
    """Take an interrupted run back; return what was restored, or None when there was none.

    Raises: Damaged (`patch-journal`, `document-damaged`), HostLacks, NotFound, Busy as `apply`.
    """
    with _sole_run(tree, journal) as root:
        restored = roll_back(root, journal)
        if restored is None:
            return None
        return Recovery(restored=restored, modules=_modules(root, restored))


def digest_of(series: Series, tree: Path, strip: int = 1) -> str:
    """Return the digest of all files that `series` names, as they are now in `tree`."""
    return tree_digest(_root(tree), named_paths(series, strip))


def reader(root: Path) -> Read:
    """Return a function that reads a file of the tree by relative path, None when there is none.

    It raises BadInput: `patch-escapes` for a path that leaves the tree through a symbolic link,
    `patch-target` for any other link and for what is no regular file.
    """

    def read(path: str) -> bytes | None:
        place = root
        parts = path.split("/")
        mode = 0
        for number, part in enumerate(parts, start=1):
            place = place / part
            found = _mode_at(place)
            if found is None:
                return None
            mode = found
            _refuse_link(root, place, path, mode)
            if number < len(parts) and not stat.S_ISDIR(mode):
                raise _not_a_file(path, f"{place.relative_to(root)} is not a folder")
        if not stat.S_ISREG(mode):
            raise _not_a_file(path, "it is not a regular file")
        try:
            return place.read_bytes()
        except OSError as error:
            raise from_os_error(error, place) from error

    return read


def _mode_at(place: Path) -> int | None:
    try:
        return place.lstat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise from_os_error(error, place) from error


def _refuse_link(root: Path, place: Path, path: str, mode: int) -> None:
    if not stat.S_ISLNK(mode):
        return
    shown = place.relative_to(root)
    if not place.resolve().is_relative_to(root):
        raise BadInput(
            "patch-escapes",
            f"`{path}` leads out of the package folder through the symbolic link {shown}.",
            hint="Reinstall the package with files instead of links.",
            data={"file": path},
        )
    raise _not_a_file(path, f"{shown} is a symbolic link")


def _not_a_file(path: str, why: str) -> BadInput:
    return BadInput(
        "patch-target",
        f"`{path}` cannot be patched: {why}.",
        hint="Reinstall the package; the patch engine changes regular files only.",
        data={"file": path},
    )


def _root(tree: Path) -> Path:
    try:
        root = tree.resolve(strict=True)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise NotFound("tree-missing", f"There is no package folder {tree}.") from error
    if not root.is_dir():
        raise NotFound("tree-missing", f"{tree} is not a folder.")
    return root


@contextlib.contextmanager
def _sole_run(tree: Path, journal: Path) -> Iterator[Path]:
    root = _root(tree)
    try:
        with exclusive(journal.with_name(journal.name + ".lock")) as is_ours:
            if not is_ours:
                raise Busy(
                    "patch-busy",
                    f"Another process patches {tree}.",
                    hint="Wait until it is done, then try again.",
                )
            yield root
    except OSError as error:
        raise from_os_error(error, Path(error.filename2 or error.filename or tree)) from error


def _differs(root: Path, change: Change) -> bool:
    """Return whether the change is more than a mode that the file has already."""
    place = root / change.path
    if change.content is None or not place.exists() or change.mode_of != change.path:
        return True
    return _mode(root, change) != _permissions(place) or place.read_bytes() != change.content


def _permissions(place: Path) -> int:
    return stat.S_IMODE(place.stat().st_mode)


def _mode(root: Path, change: Change) -> int:
    mode = 0o644 if change.mode_of is None else _permissions(root / change.mode_of)
    if change.executable is None:
        return mode
    # Who may read may execute, as git does.
    return mode | (mode & 0o444) >> 2 if change.executable else mode & ~0o111


def _run(root: Path, journal_file: Path, changes: list[Change]) -> None:
    try:
        journal = _stage(root, changes)
        begin(root, journal_file, journal)
        swap(root, journal)
        end(root, journal_file)
    except BaseException:
        roll_back(root, journal_file)
        raise


def _stage(root: Path, changes: list[Change]) -> Journal:
    """Lay new and old files out in the staging folder."""
    (root / STAGING).mkdir(mode=0o700)
    steps = []
    folders: set[str] = set()
    for number, change in enumerate(changes):
        place = root / change.path
        had_old = place.exists()
        if had_old:
            save_old(place, staged(root, "old", number))
        if change.content is not None:
            write_new(staged(root, "new", number), change.content, _mode(root, change))
            folders.update(_missing_folders(root, place))
        steps.append(Step(path=change.path, had_old=had_old, has_new=change.content is not None))
    return Journal(steps=tuple(steps), folders=tuple(sorted(folders)))


def _missing_folders(root: Path, place: Path) -> list[str]:
    """Return the folders that are still to be made for a file."""
    parents = [parent for parent in place.parents if parent.is_relative_to(root)]
    return [parent.relative_to(root).as_posix() for parent in parents if not parent.is_dir()]


def _modules(root: Path, paths: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(path for path in paths if path.endswith(".py") and (root / path).is_file())


def _outcome(root: Path, decided: Plan, changes: list[Change]) -> Outcome:
    return Outcome(
        patches=decided.patches,
        hunks=decided.hunks,
        written=tuple(change.path for change in changes if change.content is not None),
        removed=tuple(change.path for change in changes if change.content is None),
        modules=_modules(root, decided.paths),
        digest=tree_digest(root, decided.paths),
    )
