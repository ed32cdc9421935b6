"""What a frozen program must undo and must know about itself.

PyInstaller's starter points the dynamic linker at the program's own libraries. Whatever we start
(the engine, uv, git) has to get its libraries as if we were not frozen.
"""

import codecs
import importlib
import os
import pkgutil
import sys
from collections.abc import Iterable, MutableMapping
from pathlib import Path

_LINKER = "LD_LIBRARY_PATH"
_OURS = ("_PYI_", "_MEIPASS")
_ENCODINGS = (
    "ascii", "latin-1", "utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "idna",
    "punycode", "cp437", "cp1252", "gbk", "big5", "unicode-escape", "raw-unicode-escape",
)  # fmt: skip


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


def load_all(root: str, *, but: Iterable[str] = ()) -> None:
    """Load every module below `root` now: an update may take the program's file from under us.

    Does nothing where the program is not frozen. `but` names packages that are not needed.
    """
    if not is_frozen():
        return
    for encoding in _ENCODINGS:  # each is a module of its own, loaded when it is first named
        codecs.lookup(encoding)
    skipped = tuple(but)
    package = importlib.import_module(root)
    for found in pkgutil.walk_packages(package.__path__, f"{root}."):
        if not found.name.startswith(skipped) and not found.name.endswith(".__main__"):
            importlib.import_module(found.name)


def program(name: str) -> Path | None:
    """Return the path of a program that came in the package, None where there is none."""
    root = getattr(sys, "_MEIPASS", None)
    path = Path(root) / "bin" / name if root else None
    return path if path is not None and path.is_file() else None
