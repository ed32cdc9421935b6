"""Freezes the Studio into one folder: window, command line, uv, catalogue, assets, user's pages.

    python -m installer.freeze FOLDER

FOLDER/weir-studio is written anew. Equal inputs give equal bytes: files are stripped, bytecode is
made with a fixed hash seed and without times, and the order of everything is sorted.
"""

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import uv

from installer import feed, licences, window_only
from studio.host import own_program

ROOT = Path(__file__).resolve().parents[1]
NAME = "weir-studio"
PROGRAM = "weir"
FORBIDDEN = (
    "icuuc.dll",
    "mscms.dll",
    "bcryptprimitives.dll",
    "libcuda",
    "libtorch",
    "libstdc++.so",
    "libGL.so",
)
"""Never in a package: stand-ins of tests, what belongs to the card's driver, the system's own."""
_OF_THE_BUILD = ("RECORD", "INSTALLER", "REQUESTED", "direct_url.json")
"""Notes of whoever installed a library; the first holds sums of scripts that name the folder."""


def freeze(folder: Path) -> Path:
    """Return the frozen folder, freshly made in `folder`.

    Raises: subprocess.CalledProcessError when PyInstaller fails (its words are on the terminal),
    RuntimeError when the result holds what must not be in it.
    """
    work, made = folder / "work", folder / NAME
    for old in (work, made):
        shutil.rmtree(old, ignore_errors=True)
    environment = {
        **os.environ,
        "WEIR_SOURCE": str(ROOT),
        "WEIR_UV": uv.find_uv_bin(),
        "PYTHONHASHSEED": "0",
        "PYTHONPATH": str(ROOT),
        "SOURCE_DATE_EPOCH": str(source_date()),
    }
    command = [sys.executable, "-m", "PyInstaller", "--noconfirm", "--log-level=WARN"]
    command += [f"--distpath={folder}", f"--workpath={work}", str(ROOT / "installer/weir.spec")]
    subprocess.run(command, env=environment, check=True, cwd=folder)
    _forget_places(made)
    forget_build(made)
    _strip(made)
    licences.collect(made)
    feed.tell(made / "_internal/assets/release.toml")
    window_only.write(made)
    _list(made)
    _settle(made)
    _require_clean(made)
    return made


def source_date() -> int:
    """Return the seconds since 1970 that all files of a package carry.

    `SOURCE_DATE_EPOCH` where it is set, else the time of the last commit, else a fixed one.
    """
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if given:
        return int(given)
    done = subprocess.run(
        ["git", "-C", str(ROOT), "log", "-1", "--format=%ct"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    text = done.stdout.strip()
    return int(text) if done.returncode == 0 and text.isdigit() else 1_700_000_000


def files(folder: Path) -> Iterator[Path]:
    """Yield every file and link below `folder`, in one order everywhere."""
    yield from sorted(path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir())


def size(folder: Path) -> int:
    """Return the bytes of all files below `folder`; links count nothing."""
    return sum(path.stat().st_size for path in files(folder) if not path.is_symlink())


def open_to_all(folder: Path) -> None:
    """Let everybody read what is in a folder, whatever the builder keeps for himself by habit."""
    for path in [folder, *folder.rglob("*")]:
        if not path.is_symlink():
            runs = path.is_dir() or bool(path.stat().st_mode & 0o100)
            path.chmod(0o755 if runs else 0o644)


def _strip(folder: Path) -> None:
    """Take symbols out of libraries; without `strip` (binutils) the folder is only larger."""
    strip = shutil.which("strip")
    if strip is None:
        sys.stderr.write("note: without `strip` (package binutils) the packages are larger\n")
        return
    libraries = [str(path) for path in files(folder) if _is_library(path)]
    subprocess.run([strip, "--strip-unneeded", *libraries], check=True)


def _forget_places(folder: Path) -> None:
    """Take out where the build machine's interpreter had its libraries."""
    for path in files(folder):
        if not _is_library(path):
            continue
        shown = subprocess.run(
            ["patchelf", "--print-rpath", str(path)], capture_output=True, text=True, check=True
        )
        if shown.stdout.startswith("/"):
            subprocess.run(["patchelf", "--remove-rpath", str(path)], check=True)


def forget_build(folder: Path) -> None:
    """Take out what installers of libraries noted: it tells where the build was, and when."""
    for about in folder.rglob("*.dist-info"):
        for name in _OF_THE_BUILD:
            (about / name).unlink(missing_ok=True)


def _is_library(path: Path) -> bool:
    if path.is_symlink() or ".so" not in path.name:
        return False
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def _list(folder: Path) -> None:
    """Write down what belongs to the program: all else in its folder is a person's."""
    names = [f"{path.relative_to(folder).as_posix()}\n" for path in files(folder)]
    (folder / own_program.LISTED).write_text("".join(names), encoding="utf-8")


def _settle(folder: Path) -> None:
    """Give all files the modes and times that they have in every package."""
    moment = source_date()
    for path in [*files(folder), *folder.rglob("*"), folder]:
        if path.is_symlink():
            continue
        if path.is_dir():
            path.chmod(0o755)
        else:
            runs = path.name in (PROGRAM, "uv")
            path.chmod(0o755 if runs else 0o644)
        os.utime(path, (moment, moment))


def _require_clean(folder: Path) -> None:
    found = [path.name for path in files(folder) if path.name.startswith(FORBIDDEN)]
    if found:
        raise RuntimeError(f"these must not be in a package: {', '.join(found)}")
    if not (folder / PROGRAM).is_file():
        raise RuntimeError(f"PyInstaller wrote no {PROGRAM}")


def main() -> None:
    """Freeze and say what came of it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    made = freeze(options.folder.resolve())
    sys.stdout.write(f"{made}  {size(made) / 1e6:.0f} MB\n")


if __name__ == "__main__":
    main()
