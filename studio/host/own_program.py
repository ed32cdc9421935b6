"""Where this very program lies, and how it came there: a .run, a .deb, a checkout.

A .run lies in `PREFIX/opt/weir-studio/<version>/`, with the link `current` beside the versions.
"""

import contextlib
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from studio.domain.self_update import Came, is_newer, version_key
from studio.host import frozen, own_windows
from studio.host.files import from_os_error

SYSTEM_FOLDER = Path("/opt/weir-studio")
"""Where the .deb puts it: files there belong to the system's packages."""
PROGRAM = "weir"
CURRENT = "current"
UNINSTALLER = "Uninstall.exe"
"""What the setup program of Windows puts beside the program."""
LISTED = "files.txt"
"""In a version's folder: every file that came with it; all else in there is a person's."""


class OwnProgram(NamedTuple):
    """The program's files."""

    paths: tuple[Path, ...] = ()
    """What an uninstaller removes."""
    folders: tuple[Path, ...] = ()
    """What goes with them when nothing else is left in it, the inner one first."""
    notes: tuple[str, ...] = ()
    """What a person removes by other means."""


class Installed(NamedTuple):
    """How the program came here, and where it lies."""

    came: Came
    folder: Path | None = None
    """Of the version that runs; of all versions of Windows' setup program; None for a checkout."""

    @property
    def versions(self) -> Path:
        """Return the folder of all versions of a .run, or of Windows' setup program."""
        assert self.came in (Came.RUN, Came.SETUP)
        assert self.folder is not None
        return self.folder if self.came is Came.SETUP else self.folder.parent

    @property
    def prefix(self) -> Path:
        """Return what a .run was installed into."""
        return self.versions.parent.parent

    @property
    def has_window(self) -> bool:
        """Return whether Qt came along; Windows' setup program has no other kind."""
        if self.folder is None or self.came is Came.SETUP:
            return True
        return (self.folder / "_internal/PySide6").is_dir()


def installed() -> Installed:
    """Return how the program that runs came here."""
    if not frozen.is_frozen():
        return Installed(Came.CHECKOUT)
    return installed_in(Path(sys.executable).resolve().parent)


def installed_in(folder: Path) -> Installed:
    """Return how a program in a folder of one version came there."""
    if folder == SYSTEM_FOLDER:
        return Installed(Came.DEB, folder)
    if os.environ.get("APPIMAGE"):
        return Installed(Came.APPIMAGE, folder)
    if (folder / UNINSTALLER).is_file():
        return Installed(Came.SETUP, folder)
    if own_windows.version_of(folder.name) and (folder.parent / UNINSTALLER).is_file():
        return Installed(Came.SETUP, folder.parent)  # a version's own file, typed by hand
    is_run = (folder.parent / "installed").is_file() and (folder.parent / CURRENT).is_symlink()
    return Installed(Came.RUN if is_run else Came.FOLDER, folder)


def command() -> Path:
    """Return what starts the frozen program, also after an update: the link, where there is one.

    While a version is on trial the link leads to another one; then it is the version itself.
    """
    own = Path(sys.executable)
    image = os.environ.get("APPIMAGE")
    if image:
        return Path(image)  # what it is mounted as is gone when whoever started it ends
    link = own.resolve().parent.parent / CURRENT / PROGRAM
    return link if link.is_file() and link.resolve() == own.resolve() else own


def current(versions: Path) -> str | None:
    """Return the version that the link leads to."""
    try:
        return (versions / CURRENT).readlink().name
    except OSError:
        return None


def switch(versions: Path, version: str) -> None:
    """Let the link lead to another version, in one rename.

    Raises: HostLacks (`not-writable`, `disk-full`).
    """
    link, beside = versions / CURRENT, versions / f".{CURRENT}.new"
    try:
        beside.unlink(missing_ok=True)
        beside.symlink_to(version)
        beside.replace(link)
    except OSError as error:
        raise from_os_error(error, link) from error


def forget_older(versions: Path, kept: Sequence[str]) -> None:
    """Remove versions that are neither named nor run; what a person put into them stays."""
    for folder in _versions(versions):
        if folder.name not in kept and not _runs(folder):
            remove_version(folder)


def older(versions: Path, than: str) -> str | None:
    """Return the newest version beside another one that is older than it."""
    names = [path.name for path in _versions(versions) if is_newer(than, path.name)]
    return max(names, key=lambda name: version_key(name) or (), default=None)


def remove_version(folder: Path) -> str | None:
    """Remove what came with a version; return why something of it stays, if it does."""
    listed = folder / LISTED
    try:
        names = listed.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeError):
        return f"{folder}: what belongs to it is not known, because {LISTED} is missing"
    for name in names:
        path = folder / name
        if not path.parent.resolve().is_relative_to(folder.resolve()):
            continue  # a list that somebody changed
        with contextlib.suppress(OSError):
            path.unlink()
    for top, _folders, _files in os.walk(folder, topdown=False):
        with contextlib.suppress(OSError):
            Path(top).rmdir()
    with contextlib.suppress(OSError):
        listed.unlink()  # last: a kill before leaves what the next removal needs
        folder.rmdir()
    return f"{folder}: it holds files that are not ours" if folder.exists() else None


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
    image = os.environ.get("APPIMAGE")
    if image:
        return OwnProgram(notes=(f"The program is one file, {image}: remove it by hand.",))
    if installed_in(folder).came is Came.SETUP:
        words = "Windows removes the program: Settings, Apps, Weir Studio; or its Uninstall.exe."
        return OwnProgram(notes=(words,))
    program = folder.parent
    listed = program / "installed"
    if not listed.is_file():
        return OwnProgram(notes=(f"The program lies in {folder}: remove that folder by hand.",))
    outside = [Path(line) for line in listed.read_text(encoding="utf-8").splitlines() if line]
    versions = sorted(_versions(program))
    links = [path for path in (program / CURRENT,) if path.is_symlink()]
    return OwnProgram(
        paths=(*_ours(outside, program), *versions, *links, listed), folders=(program,)
    )


def is_version(path: Path) -> bool:
    """Tell whether a folder is a version that an installer of ours wrote."""
    return not path.is_symlink() and path.is_dir() and (path / PROGRAM).is_file()


def remove(path: Path) -> str | None:
    """Remove something of the program's; return why it stays, if it does."""
    if is_version(path) and (path / LISTED).is_file():
        return remove_version(path)
    try:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    except OSError as error:
        return f"{error.filename or path}: {error.strerror or error}"
    return None


def _versions(program: Path) -> Iterator[Path]:
    for path in program.iterdir():
        if is_version(path):
            yield path


def _runs(folder: Path) -> bool:
    """Tell whether a program of that version runs."""
    for exe in Path("/proc").glob("[0-9]*/exe"):
        with contextlib.suppress(OSError):
            if exe.readlink().is_relative_to(folder):
                return True
    return False


def _ours(paths: Sequence[Path], program: Path) -> list[Path]:
    """Return what the installer wrote and nobody replaced since."""
    found = []
    for path in paths:
        is_link = path.is_symlink() and path.readlink().is_relative_to(program)
        is_entry = path.suffix in (".desktop", ".svg") and path.stem == "weir-studio"
        if is_link or is_entry:
            found.append(path)
    return found
