"""The undo journal of a patch run: what makes a kill at any instant harmless.

Before the first file changes, the new files lie in a staging folder inside the tree (so that a
rename stays on one file system), the old ones beside them as hard links, and the journal says which
is which. As long as the journal is there, the run counts as not done and is taken back; removing it
is the one moment at which the run becomes done.

Files are replaced by rename and never written in place, so what they are hard links to (a package
cache, a shared store) keeps its bytes.
"""

import contextlib
import glob
import os
import re
import shutil
from collections.abc import Iterable
from pathlib import Path

from studio.domain.errors import Damaged
from studio.host.documents import read_json, write_json
from studio.runtimes.patching.model import Record
from studio.runtimes.patching.names import STAGING


class Step(Record, frozen=True, kw_only=True):
    """One file to change."""

    path: str
    had_old: bool
    has_new: bool


class Journal(Record, frozen=True, kw_only=True):
    """The steps of one run, in order, and the folders that it makes."""

    schema_version: int = 1
    steps: tuple[Step, ...]
    folders: tuple[str, ...]
    """Relative, parents first."""


def staged(tree: Path, side: str, number: int) -> Path:
    """Return where the `old` or `new` file of a step lies meanwhile."""
    return tree / STAGING / f"{side}-{number}"


def save_old(source: Path, copy: Path) -> None:
    """Keep the file's present bytes, mode and time, by hard link where the disk has them."""
    try:
        copy.hardlink_to(source)
    except OSError:
        copy.unlink(missing_ok=True)
        shutil.copy2(source, copy)
        _flush(copy)


def write_new(path: Path, content: bytes, mode: int) -> None:
    """Write a file of the staging folder through to the disk."""
    with path.open("xb") as file:
        file.write(content)
        file.flush()
        os.fchmod(file.fileno(), mode)
        os.fsync(file.fileno())


def begin(tree: Path, journal_file: Path, journal: Journal) -> None:
    """Write the journal; from here on the run is taken back unless it ends."""
    flush_folders([tree / STAGING])
    write_json(journal_file, journal)
    flush_folders([journal_file.parent])


def swap(tree: Path, journal: Journal) -> None:
    """Put every new file into its place."""
    numbered = list(enumerate(journal.steps))
    for _number, step in numbered:
        if not step.has_new:
            target = tree / step.path
            target.unlink()
            drop_bytecode(target)
            _prune(tree, target.parent)
    for number, step in numbered:
        if step.has_new:
            target = tree / step.path
            target.parent.mkdir(parents=True, exist_ok=True)
            staged(tree, "new", number).replace(target)
            drop_bytecode(target)
    flush_folders((tree / step.path).parent for step in journal.steps)


def end(tree: Path, journal_file: Path) -> None:
    """Make the run done, or its taking back."""
    journal_file.unlink()
    with contextlib.suppress(OSError):  # done is done; at worst a crash of the machine undoes it
        flush_folders([journal_file.parent])
    # What cannot be removed now is removed by the next run.
    shutil.rmtree(tree / STAGING, ignore_errors=True)


def roll_back(tree: Path, journal_file: Path) -> tuple[str, ...] | None:
    """Take an unfinished run back; return the paths it was to change, or None without one.

    May itself be killed and run again.

    Raises: Damaged (`patch-journal`, `document-damaged`).
    """
    for left in journal_file.parent.glob(f".{glob.escape(journal_file.name)}.*"):
        left.unlink()  # a journal that was killed while it was written
    journal = read_json(journal_file, Journal)
    if journal is None:
        if (tree / STAGING).exists():  # killed before its journal was written, or after its end
            shutil.rmtree(tree / STAGING)
        return None
    for step in journal.steps:
        if not step.had_old:
            with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                (tree / step.path).unlink()
            drop_bytecode(tree / step.path)
    for folder in reversed(journal.folders):
        with contextlib.suppress(OSError):
            (tree / folder).rmdir()
    for number, step in enumerate(journal.steps):
        if step.had_old:
            _restore(tree, number, tree / step.path)
            drop_bytecode(tree / step.path)
    flush_folders((tree / step.path).parent for step in journal.steps)
    end(tree, journal_file)
    return tuple(step.path for step in journal.steps)


def _restore(tree: Path, number: int, target: Path) -> None:
    old = staged(tree, "old", number)
    back = staged(tree, "back", number)
    back.unlink(missing_ok=True)
    if not old.exists():
        raise Damaged(
            "patch-journal",
            f"An interrupted patch run cannot be taken back: {old} is missing.",
            hint="Remove this runtime and install it again.",
            data={"file": str(target)},
        )
    save_old(old, back)
    target.parent.mkdir(parents=True, exist_ok=True)
    # The saved file stays, so that a kill in here finds it again. A rename between two links to
    # one file does nothing, and then nothing is needed.
    back.replace(target)


def drop_bytecode(source: Path) -> None:
    """Remove the compiled forms of a Python source; a stale one with the right time would run."""
    if source.suffix != ".py":
        return
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        source.with_suffix(".pyc").unlink()
    cache = source.parent / "__pycache__"
    compiled = re.compile(re.escape(source.stem) + r"\.[^.]+(\.opt-[^.]+)?\.pyc")
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        for path in list(cache.iterdir()):
            if compiled.fullmatch(path.name):
                path.unlink(missing_ok=True)
    with contextlib.suppress(OSError):
        cache.rmdir()


def _prune(tree: Path, folder: Path) -> None:
    """Remove folders that a deletion left empty: an empty one would import as a package."""
    with contextlib.suppress(OSError):
        while folder != tree:
            folder.rmdir()
            folder = folder.parent


def flush_folders(folders: Iterable[Path]) -> None:
    """Write the folders' entries through to the disk."""
    for folder in {*folders}:
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            _flush(folder)


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
