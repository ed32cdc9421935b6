"""Where this very program lies, and how it came there: a .run, a .deb, a checkout."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from studio.host import frozen

SYSTEM_FOLDER = Path("/opt/weir-studio")
"""Where the .deb puts it: files there belong to the system's packages."""


class OwnProgram(NamedTuple):
    """The program's files."""

    paths: tuple[Path, ...] = ()
    """What an uninstaller removes."""
    folders: tuple[Path, ...] = ()
    """What goes with them when nothing else is left in it, the inner one first."""
    notes: tuple[str, ...] = ()
    """What a person removes by other means."""


def find() -> OwnProgram:
    """Return what belongs to the program that runs."""
    if not frozen.is_frozen():
        return OwnProgram(notes=("The program is a checkout: remove its folder by hand.",))
    return of(Path(sys.executable).resolve().parent)


def of(folder: Path) -> OwnProgram:
    """Return what belongs to the program in a folder of one version."""
    if folder == SYSTEM_FOLDER:
        words = "The program came as a package: `sudo apt remove weir-studio` removes it."
        return OwnProgram(notes=(words,))
    program = folder.parent
    listed = program / "installed"
    if not listed.is_file():
        return OwnProgram(notes=(f"The program lies in {folder}: remove that folder by hand.",))
    outside = [Path(line) for line in listed.read_text(encoding="utf-8").splitlines() if line]
    versions = [path for path in program.iterdir() if (path / "weir").is_file()]
    return OwnProgram(
        paths=(*_ours(outside, program), *sorted(versions), listed), folders=(program,)
    )


def _ours(paths: Sequence[Path], program: Path) -> list[Path]:
    """Return what the installer wrote and nobody replaced since."""
    found = []
    for path in paths:
        is_link = path.is_symlink() and path.readlink().is_relative_to(program)
        is_entry = path.suffix in (".desktop", ".svg") and path.stem == "weir-studio"
        if is_link or is_entry:
            found.append(path)
    return found
