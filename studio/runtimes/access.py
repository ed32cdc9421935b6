"""What is in the way in a runtime's folders: locks, emptied folders, what a kill cut off."""

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path

from studio.runtimes.survey import LIBRARIES, TREE

_OWNER = 0o700


def open_up(root: Path) -> int:
    """Let the owner into every folder of the runtime in `root`; return how many were closed.

    A folder that belongs to somebody else stays as it is: what follows says so by its name.
    """
    opened = 0
    left = [f"{root}/{tree}" for tree in (TREE, LIBRARIES) if Path(root, tree).is_dir()]
    while left:
        place = left.pop()
        with contextlib.suppress(PermissionError):
            mode = Path(place).stat().st_mode & 0o777
            if mode & _OWNER != _OWNER:
                Path(place).chmod(mode | _OWNER)
                opened += 1
            with os.scandir(place) as found:
                left += [item.path for item in found if item.is_dir(follow_symlinks=False)]
    return opened


def remove_emptied(root: Path, removed: Iterable[str]) -> None:
    """Remove the folders that are empty now that the files `removed` are gone from `root`."""
    for path in removed:
        for parent in list(Path(path).parents)[:-2]:
            try:
                (root / parent).rmdir()
            except OSError:  # not empty, or gone already
                break


def sweep(python: Path) -> None:
    """Remove what a kill left half-written in an interpreter's tree: lists and bytecode.

    Otherwise they would be listed as installed and stay for ever. By the names that those two
    writers use and in the folders that they write to; packages have hidden files of their own.
    """
    library = python / "lib"
    for left in library.glob("python3.*/site-packages/*.dist-info/.RECORD.*"):
        left.unlink(missing_ok=True)
    for place, _folders, names in os.walk(library):
        if place.endswith("__pycache__"):
            for name in names:
                if ".pyc." in name:
                    Path(place, name).unlink(missing_ok=True)
