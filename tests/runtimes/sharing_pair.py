"""Two builds of the stand-in that have most of their files in common."""

import asyncio
import os
import shutil
from pathlib import Path

from studio.domain.manifests import InstalledRuntime
from studio.runtimes import folder
from studio.runtimes.install import install
from tests.fakes.wheels import make_wheel
from tests.runtimes import standin
from tests.runtimes.standin import StandIn

SITE = f"python/lib/python{standin.SERIES}/site-packages"


def add(stand_in: StandIn, name: str, *, size: int = 9) -> None:
    """Add a package to the lock."""
    files = {f"{name}/__init__.py": b"", f"{name}/data": os.urandom(size)}
    line = make_wheel(stand_in.wheels, name, files)
    lock = stand_in.recipe_file.parent / "requirements.lock"
    lock.write_text(lock.read_text() + line + "\n")


def build(stand_in: StandIn) -> InstalledRuntime:
    """Install what the recipe says now."""
    return asyncio.run(
        install(stand_in.recipe, stand_in.paths, stand_in.reports.append, is_update=True)
    )


def root_of(stand_in: StandIn, record: InstalledRuntime) -> Path:
    """Return the folder of an installation."""
    return folder.folder_of(stand_in.paths, record)


def forget_sources(stand_in: StandIn) -> None:
    """Take away uv's cache and every wheel: from now on only the store has the old packages."""
    shutil.rmtree(stand_in.paths.cache)
    for wheel in stand_in.wheels.glob("*.whl"):
        wheel.unlink()


def inodes(root: Path) -> dict[str, int]:
    """Return which file each path under a runtime's `python/` is."""
    return {
        str(path.relative_to(root)): path.lstat().st_ino
        for path in (root / "python").rglob("*")
        if path.is_file() and not path.is_symlink()
    }


def total_bytes(*places: Path) -> int:
    """Return the bytes of all files, each once, as `du` counts them but for blocks."""
    sizes = {}
    for place in places:
        for top, _folders, names in os.walk(place):
            for name in names:
                found = Path(top, name).lstat()
                sizes[found.st_ino] = found.st_size
    return sum(sizes.values())
