"""The folder of the style sheet's pictures: Qt's style sheets take pictures from files only.

It lies among the system's temporary files and goes when the window is closed. What a window left
that was killed is swept by a later one.
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
"""Another system's process of that number may live, as in a container: younger ones stay."""


class Pictures:
    """One window's folder."""

    def __init__(self) -> None:
        self._folder = QTemporaryDir(f"{QDir.tempPath()}/{_NAME}-{os.getpid()}-XXXXXX")

    @property
    def folder(self) -> Path | None:
        """Return the folder; None where there is no place for one."""
        return Path(self._folder.path()) if self._folder.isValid() else None

    def end(self) -> None:
        """Remove it, and what windows left that were killed."""
        self._folder.remove()
        for path in Path(QDir.tempPath()).glob(f"{_NAME}-*-*"):
            with contextlib.suppress(OSError):
                if _is_left(path):
                    shutil.rmtree(path, ignore_errors=True)


def _is_left(path: Path) -> bool:
    """Tell whether a folder is a window's that is gone. Raises: OSError."""
    number = path.name.removeprefix(f"{_NAME}-").partition("-")[0]
    about = path.lstat()
    is_own = not hasattr(os, "getuid") or about.st_uid == os.getuid()
    is_old = time.time() - about.st_mtime > _DAY_S
    is_ours = is_own and number.isdigit() and path.is_dir() and not path.is_symlink()
    return is_ours and is_old and not psutil.pid_exists(int(number))
