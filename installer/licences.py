"""Licence texts of everything in the frozen folder, and what each part is.

Python distributions bring their own texts; libraries of the build machine are asked for by
`dpkg -S`; Qt's wheels bring none, so the texts come from Debian's common ones.
"""

import functools
import importlib.metadata
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

COMMON = Path("/usr/share/common-licenses")
FOLDER = "licences"
_LICENCE = re.compile(r"(^|/)(LICEN[CS]E|COPYING|NOTICE|AUTHORS)[^/]*$", re.IGNORECASE)
_QT = ("PySide6", "shiboken6", "libQt6", "libicu", "libpyside6", "libshiboken6")
_BUILD_ONLY = frozenset({"setuptools", "weir-studio"})
_QT_WORDS = """\
Qt {version} and Qt for Python are used under the GNU Lesser General Public License, version 3
(LGPL-3.txt; it builds on GPL-3.txt). They lie here as libraries of their own, unchanged, under
PySide6/ and shiboken6/: replace them by your own builds of the same version to use those.
Their source: the project's site, https://download.qt.io, releases {version} of qt and pyside.
"""


class Part(NamedTuple):
    """Something that others made and that lies in the folder."""

    name: str
    version: str
    licence: str | None
    kind: str
    """`pypi`, `deb` or `generic`."""


def collect(folder: Path) -> None:
    """Write the texts into `folder/licences/<part>/`."""
    target = folder / FOLDER
    target.mkdir()
    for distribution in distributions():
        texts_of(distribution, target / distribution.name)
    for name, _version, copyright_file in system_packages(folder):
        (target / name).mkdir(exist_ok=True)
        shutil.copyfile(copyright_file, target / name / "copyright")
    write_qt(target / "Qt", importlib.metadata.version("PySide6-Essentials"))


def write_qt(folder: Path, version: str) -> None:
    """Write Qt's licences, which its wheels leave out, and where its source is."""
    folder.mkdir()
    for name in ("LGPL-3", "GPL-3"):
        shutil.copyfile(COMMON / name, folder / f"{name}.txt")
    (folder / "README.txt").write_text(_QT_WORDS.format(version=version), encoding="utf-8")


def parts(folder: Path) -> list[Part]:
    """Return what the folder holds beside the Studio, sorted by name."""
    found = [Part(one.name, one.version, licence_of(one), "pypi") for one in distributions()]
    found += [Part(name, version, None, "deb") for name, version, _ in system_packages(folder)]
    return sorted(found)


def distributions() -> list[importlib.metadata.Distribution]:
    """Return the Python distributions that the Studio needs to run, its own apart."""
    wanted, seen = ["weir-studio"], {}
    while wanted:
        name = wanted.pop()
        try:
            found = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            continue  # for another system
        if found.name in seen:
            continue
        seen[found.name] = found
        wanted += [re.split(r"[ ;<>=!~\[(]", line, maxsplit=1)[0] for line in _needs(found)]
    return [seen[name] for name in sorted(seen) if name.lower() not in _BUILD_ONLY]


def _needs(distribution: importlib.metadata.Distribution) -> list[str]:
    return [line for line in distribution.requires or () if "extra ==" not in line]


def system_packages(folder: Path) -> Iterator[tuple[str, str, Path]]:
    """Yield name, version and copyright file of Debian packages whose libraries were collected."""
    found: dict[str, tuple[str, Path]] = {}
    for library in sorted((folder / "_internal").glob("lib*.so*")):
        if library.is_symlink() or library.name.startswith(_QT):
            continue
        package = _owner(library.name)
        if package is None or package in found:
            continue
        text = Path("/usr/share/doc") / package / "copyright"
        version = _ask("dpkg-query", "-W", "-f", "${Version}", package)
        if text.is_file():
            found[package] = (version, text)
    for name, (version, text) in sorted(found.items()):
        yield name, version, text


def _owner(library: str) -> str | None:
    lines = _ask("dpkg", "-S", f"*/{library}").splitlines()
    return lines[0].partition(":")[0] if lines else None


@functools.cache
def _ask(*command: str) -> str:
    """Ask once: what is installed while a build runs must not make its papers disagree."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout
    except FileNotFoundError:  # no Debian
        return ""


def texts_of(distribution: importlib.metadata.Distribution, target: Path) -> None:
    """Copy the licence texts that a distribution brings."""
    for file in distribution.files or ():
        path = Path(str(distribution.locate_file(file)))
        if _LICENCE.search(str(file)) and path.is_file():
            target.mkdir(exist_ok=True)
            shutil.copyfile(path, target / path.name)


def licence_of(distribution: importlib.metadata.Distribution) -> str | None:
    """Return what a distribution says its licence is."""
    about = distribution.metadata
    given = next(iter(about.get_all("License-Expression") or ()), None)
    if given:
        return str(given)
    named = [
        line.rpartition(" :: ")[2]
        for line in about.get_all("Classifier") or ()
        if line.startswith("License :: ")
    ]
    return "; ".join(named) or None
