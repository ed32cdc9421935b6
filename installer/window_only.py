"""Which parts of the frozen folder only the window needs: they go where there is no screen.

`window.txt` in the folder lists them, for `install.sh --headless` and for the root file system of
WSL: Qt, the libraries that nothing but Qt loads, fonts, icons and the window's words.
"""

import shutil
import subprocess
from pathlib import Path

LISTED = "window.txt"
_INSIDE = "_internal"
_QT = ("PySide6", "shiboken6")
_ASSETS = ("fonts", "icons", "locale", "style.qss", "tokens.toml", "ways.toml")


def parts(folder: Path) -> list[str]:
    """Return files and folders below `folder`, sorted.

    A library counts as the window's when no extension module and no program outside Qt needs it,
    directly or through others. Raises: subprocess.CalledProcessError when patchelf refuses.
    """
    inside = folder / _INSIDE
    own = {name: inside / name for name in _QT}
    binaries = [path for path in sorted(inside.rglob("*")) if _is_binary(path)]
    outside = [path for path in binaries if path.relative_to(inside).parts[0] not in own]
    libraries = {path.name: path for path in outside if _is_library(path, inside)}
    wanted: set[str] = set()
    todo = [path for path in outside if path.name not in libraries]
    while todo:
        for name in _needed(todo.pop()):
            if name in libraries and name not in wanted:
                wanted.add(name)
                todo.append(libraries[name])
    found = [path for path in own.values() if path.exists()]
    found += [path for name, path in libraries.items() if name not in wanted]
    # Links beside them that lead to Qt's libraries.
    found += [path for path in inside.iterdir() if path.is_symlink() and _leads(path, own)]
    found += [path for name in _ASSETS if (path := inside / "assets" / name).exists()]
    return sorted(path.relative_to(folder).as_posix() for path in found)


def write(folder: Path) -> None:
    """Write the list into the folder."""
    lines = [f"{name}\n" for name in parts(folder)]
    (folder / LISTED).write_text("".join(lines), encoding="utf-8")


def remove(folder: Path) -> None:
    """Take out what the list of a folder names. Raises: FileNotFoundError without a list."""
    for name in (folder / LISTED).read_text(encoding="utf-8").splitlines():
        path = folder / name
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def _is_binary(path: Path) -> bool:
    if path.is_symlink() or not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def _is_library(path: Path, inside: Path) -> bool:
    """Tell whether it is a plain library: modules and the interpreter are loaded by themselves."""
    is_module = ".cpython-" in path.name or path.name.startswith("libpython")
    return path.parent == inside and not is_module


def _leads(path: Path, own: dict[str, Path]) -> bool:
    return any(path.resolve().is_relative_to(one) for one in own.values())


def _needed(path: Path) -> list[str]:
    done = subprocess.run(
        ["patchelf", "--print-needed", str(path)], capture_output=True, text=True, check=True
    )
    return done.stdout.split()
