"""The folder of the style sheet's pictures: Qt's style sheets take pictures from files only.

It lies among the system's temporary files and goes when the window is closed. What a window left
that was killed is swept by the next one, as soon as that is painted.
"""

import contextlib
import os
import shutil
import time
from pathlib import Path

import psutil
from PySide6.QtCore import QDir, QTemporaryDir

_NAME = "weir-studio"
_DAY_S = 86_400.0
"""Of another container with the same temporary files no process can be seen: younger ones stay."""
_PARTS = 3


class Pictures:
    """One window's folder: `weir-studio-PROCESS-PLACE-…`."""

    def __init__(self) -> None:
        name = f"{_NAME}-{os.getpid()}-{_place()}-XXXXXX"
        self._folder = QTemporaryDir(f"{QDir.tempPath()}/{name}")

    @property
    def folder(self) -> Path | None:
        """Return the folder; None where there is no place for one."""
        return Path(self._folder.path()) if self._folder.isValid() else None

    def end(self) -> None:
        """Remove it."""
        self._folder.remove()

    def sweep(self) -> None:
        """Remove what windows left that were killed, and nothing else."""
        for path in Path(QDir.tempPath()).glob(f"{_NAME}-*-*"):
            with contextlib.suppress(OSError):
                if _is_left(path):
                    shutil.rmtree(path, ignore_errors=True)


def _place() -> str:
    """Return where the numbers of processes hold: in the same place one that is gone is gone."""
    try:
        return str(Path("/proc/self/ns/pid").stat().st_ino)
    except OSError:  # no Linux: temporary files are of one person on one machine
        return "0"


def _is_left(path: Path) -> bool:
    """Tell whether a folder is a window's that is gone. Raises: OSError."""
    number, *rest = path.name.removeprefix(f"{_NAME}-").split("-")
    about = path.lstat()
    is_own = not hasattr(os, "getuid") or about.st_uid == os.getuid()
    is_ours = is_own and number.isdigit() and path.is_dir() and not path.is_symlink()
    is_seen_from_here = len(rest) == _PARTS - 1 and rest[0] == _place()
    is_old = time.time() - about.st_mtime > _DAY_S
    return is_ours and (is_seen_from_here or is_old) and not psutil.pid_exists(int(number))
