"""A catalogue with one runtime of a few kilobytes, installed by the same code as the real ones."""

import dataclasses
import hashlib
import io
import os
import sys
import tarfile
from pathlib import Path

from studio.domain.events import StageProgress
from studio.domain.manifests import RuntimeRecipe
from studio.host.paths import Paths
from studio.runtimes.catalog import Catalog
from studio.runtimes.interpreter import host_platform
from tests.fakes.wheels import make_wheel

NAME = "tiny-1.0"
SERIES = f"{sys.version_info.major}.{sys.version_info.minor}"
FILES = {
    "weirtiny": {f"weirtiny/part{number}.py": f"X = {number}\n".encode() for number in range(20)},
    "weirother": {"weirother/__init__.py": b"Y = 2\n", "weirother/data.bin": os.urandom(4096)},
}
FILES["weirtiny"]["weirtiny/__init__.py"] = b"ANSWER = 42\n"
PATCH = "0001-seventy.patch"
PATCH_TEXT = """\
Seventy for seven, and a new module.

--- a/weirtiny/part7.py
+++ b/weirtiny/part7.py
@@ -1 +1 @@
-X = 7
+X = 70
--- /dev/null
+++ b/weirtiny/added/__init__.py
@@ -0,0 +1 @@
+Z = 3
"""


@dataclasses.dataclass(kw_only=True)
class StandIn:
    """The catalogue, the wheels, and where they are installed."""

    paths: Paths
    wheels: Path
    reports: list[StageProgress] = dataclasses.field(default_factory=list)

    @property
    def recipe_file(self) -> Path:
        """Return the recipe, to be changed by a test."""
        return self.paths.catalogue / "runtimes" / NAME / "runtime.toml"

    @property
    def recipe(self) -> RuntimeRecipe:
        """Return the recipe as it stands now."""
        return Catalog(self.paths).recipe(NAME)

    def edit(self, old: str, new: str) -> None:
        """Change the recipe's text."""
        text = self.recipe_file.read_text("utf-8")
        assert old in text
        self.recipe_file.write_text(text.replace(old, new), "utf-8")

    def write_patch(self, name: str, text: str) -> None:
        """Write a file of the recipe's patches."""
        path = self.recipe_file.parent / "patches" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")

    def elsewhere(self, home: Path) -> "StandIn":
        """Return the same catalogue and wheels with another home."""
        return StandIn(paths=Paths(home=home, catalogue=self.paths.catalogue), wheels=self.wheels)


def make(folder: Path) -> StandIn:
    """Write catalogue and wheels; the home has a blank and a foreign letter in its name."""
    stand_in = StandIn(
        paths=Paths(home=folder / "my höme", catalogue=folder / "catalogue"),
        wheels=folder / "wheels",
    )
    pins = [make_wheel(stand_in.wheels, name, files) for name, files in FILES.items()]
    stand_in.recipe_file.parent.mkdir(parents=True)
    stand_in.recipe_file.write_text(recipe_text(), "utf-8")
    (stand_in.recipe_file.parent / "requirements.lock").write_text("\n".join(pins) + "\n")
    stand_in.write_patch(PATCH, PATCH_TEXT)
    return stand_in


def recipe_text(archive: str = "") -> str:
    """Return the recipe; `archive` is a table to stand on instead of this machine's Python."""
    return f"""
schema_version = 1
name = "{NAME}"
title = "Tiny runtime"
engine = "tiny"
engine_version = "1.0"
[needs]
platforms = ["{host_platform()}"]
disk_bytes = 2_000_000
[interpreter]
series = "{SERIES}"
{archive}
[packages]
lock = "requirements.lock"
count = 2
download_bytes = 9_000
unpacked_bytes = 8_000
[[packages.aliases]]
name = "tiny-alias"
version = "1.0+cpu"
requires = "weirtiny==1.0"
[[patches]]
title = "Patches of the test"
files = ["{PATCH}"]
[probe]
imports = ["weirtiny", "weirother"]
versions = {{ weirtiny = "1.0", tiny-alias = "1.0+cpu" }}
[serve]
command = ["{{python}}", "-I", "-m", "weirtiny"]
"""


def archive_table(url: str, sha256: str) -> str:
    """Return a recipe's archive entry."""
    return f"""
[[interpreter.archives]]
platform = "{host_platform()}"
version = "{SERIES}.99"
release = "20990101"
url = "{url}"
sha256 = "{sha256}"
"""


def make_interpreter_archive(path: Path) -> str:
    """Write an archive whose `python/bin/python3` really runs, and return its sha256.

    It holds a copy of this interpreter's program and a `pyvenv.cfg` that names its library, so it
    is small where a whole CPython has 100 MB, and still knows its own place.
    """
    program = Path(sys.executable).resolve()
    with tarfile.open(path, "w:gz") as tar:
        tar.add(program, f"python/bin/python{SERIES}")
        for name, target in (("python3", f"python{SERIES}"), ("python", "python3")):
            link = tarfile.TarInfo(f"python/bin/{name}")
            link.type, link.linkname = tarfile.SYMTYPE, target
            tar.addfile(link)
        config = f"home = {program.parent}\nversion = {SERIES}\n".encode()
        info = tarfile.TarInfo("python/pyvenv.cfg")
        info.size = len(config)
        tar.addfile(info, io.BytesIO(config))
        folder = tarfile.TarInfo(f"python/lib/python{SERIES}/site-packages")
        folder.type, folder.mode = tarfile.DIRTYPE, 0o755
        tar.addfile(folder)
    return hashlib.sha256(path.read_bytes()).hexdigest()
