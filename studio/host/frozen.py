"""What a frozen program must undo and must know about itself.

PyInstaller's starter points the dynamic linker at the program's own libraries. Whatever we start
(the engine, uv, git) has to get its libraries as if we were not frozen.
"""

import os
import sys
from collections.abc import MutableMapping
from pathlib import Path

_LINKER = "LD_LIBRARY_PATH"
_OURS = ("_PYI_", "_MEIPASS")


def is_frozen() -> bool:
    """Tell whether this program runs from a package of ours instead of a checkout."""
    return bool(getattr(sys, "frozen", False))


def restore_environment(environ: MutableMapping[str, str] = os.environ) -> None:
    """Put back what the starter changed; without a frozen program nothing is touched."""
    if not is_frozen():
        return
    before = environ.pop(f"{_LINKER}_ORIG", None)
    if before is not None:
        environ[_LINKER] = before
    else:
        environ.pop(_LINKER, None)
    for name in [name for name in environ if name.startswith(_OURS)]:
        del environ[name]


def program(name: str) -> Path | None:
    """Return the path of a program that came in the package, None where there is none."""
    root = getattr(sys, "_MEIPASS", None)
    path = Path(root) / "bin" / name if root else None
    return path if path is not None and path.is_file() else None
