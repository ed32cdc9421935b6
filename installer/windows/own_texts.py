"""Licence texts and parts of the folder for Windows: what wheels and CPython say of themselves."""

import importlib.metadata
from pathlib import Path

from installer import licences
from installer.licences import Part

_NOT_INSIDE = frozenset({"setuptools", "uv", "cffi", "pycparser", "hf-xet"})


def distributions(site: Path) -> list[importlib.metadata.Distribution]:
    """Return the distributions below a folder that go along, by name."""
    found = importlib.metadata.distributions(path=[str(site)])
    return sorted(
        (one for one in found if one.name.lower() not in _NOT_INSIDE), key=lambda one: one.name
    )


def collect(made: Path, site: Path) -> None:
    """Write the texts into `licences/<part>/`, and tell where Qt's source is."""
    target = made / licences.FOLDER
    target.mkdir()
    for distribution in distributions(site):
        licences.texts_of(distribution, target / distribution.name)
    (target / "CPython").mkdir()
    (made / "_internal/python-LICENSE.txt").replace(target / "CPython/LICENSE.txt")
    licences.write_qt(target / "Qt", importlib.metadata.version("PySide6-Essentials"))


def parts(made: Path) -> list[Part]:
    """Return what the folder holds beside the Studio and CPython, by name."""
    return [
        Part(one.name, one.version, licences.licence_of(one), "pypi")
        for one in distributions(made / "_internal")
    ]
