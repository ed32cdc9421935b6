"""A runtime's identity and its place on the disk; reads only, starts nothing.

    <home>/runtimes/<name>/current · history    which one is used (history.py)
    <home>/runtimes/<name>/<first 12 of id>/    python/ · journal.json · patches.json · manifest
                                                runtime.json (written last)

The id is a digest of interpreter build, lock and patches: equal inputs give an equal id on any
machine.
"""

import hashlib
import os
import shutil
from pathlib import Path

from studio.domain.errors import BadInput, Damaged
from studio.domain.manifests import InstalledRuntime, RuntimeRecipe
from studio.host.documents import read_json
from studio.host.files import sha256_bytes
from studio.host.paths import Paths
from studio.runtimes import history, wheels
from studio.runtimes.catalog import recipe_folder
from studio.runtimes.interpreter import archive_build, is_of_host
from studio.runtimes.patches import patch_digest

PYTHON = "python/bin/python3"
RECORD_FILE = "runtime.json"
RECIPE_FILE = "recipe.json"
"""The recipe of the day of the installation, so that an update can say what it changes."""
_ID_LENGTH = 12
DOOMED = ".removing-"
"""Prefix of a folder that is being removed."""
KEPT = ".kept-"
"""Prefix of a folder that is kept until the one in its place is built (aside.py)."""


def runtime_id(interpreter_build: str, lock_digest: str, patch_digest: str | None) -> str:
    """Return the sha256 that names a runtime with these inputs."""
    parts = "\n".join((interpreter_build, lock_digest, patch_digest or "-"))
    return hashlib.sha256(parts.encode()).hexdigest()


def lock_file(paths: Paths, recipe: RuntimeRecipe) -> Path | None:
    """Return the recipe's lock, or None when the runtime has no packages."""
    if recipe.packages is None:
        return None
    return recipe_folder(paths, recipe.name) / recipe.packages.lock


def lock_digest(paths: Paths, recipe: RuntimeRecipe) -> str:
    """Return the digest of everything that is installed beside the interpreter.

    Raises: BadInput (`lock-missing`).
    """
    path = lock_file(paths, recipe)
    if path is None or recipe.packages is None:
        return sha256_bytes(b"")
    try:
        lock = path.read_bytes()
    except FileNotFoundError as error:
        raise BadInput("lock-missing", f"{path}, which the recipe names, is missing.") from error
    aliases = "".join(f"{a.name}=={a.version}:{a.requires}\n" for a in recipe.packages.aliases)
    more = aliases + wheels.digest_text(recipe)
    return sha256_bytes(lock.replace(b"\r\n", b"\n") + more.encode())


def named_folder(paths: Paths, name: str) -> Path:
    """Return the folder of all installations of one runtime."""
    return paths.runtimes / name


def runtime_folder(paths: Paths, name: str, identity: str) -> Path:
    """Return the folder of the installation with this id."""
    return named_folder(paths, name) / identity[:_ID_LENGTH]


def folder_of(paths: Paths, runtime: InstalledRuntime) -> Path:
    """Return the folder of an installed runtime."""
    return runtime_folder(paths, runtime.name, runtime.runtime_id)


def python_of(paths: Paths, runtime: InstalledRuntime) -> Path:
    """Return the interpreter of an installed runtime."""
    return folder_of(paths, runtime) / runtime.python


def installed(paths: Paths, recipe: RuntimeRecipe) -> InstalledRuntime | None:
    """Return the current installation of `recipe`, or None when there is none that is whole.

    An installation whose lock or patches are not the recipe's present ones does not count, unless
    a person went back to it; neither does one whose record cannot be read.
    """
    record = current(paths, recipe.name)
    if record is None or not is_wanted(paths, recipe, record):
        return None
    return record if os.access(python_of(paths, record), os.X_OK) else None


def in_use(paths: Paths, name: str) -> InstalledRuntime | None:
    """Return the installation that a start uses: the current one, when its interpreter can run.

    Whatever the recipe says by now: an installed runtime is replaced when a person says so.
    """
    record = current(paths, name)
    is_whole = record is not None and os.access(python_of(paths, record), os.X_OK)
    return record if is_whole else None


def current(paths: Paths, name: str) -> InstalledRuntime | None:
    """Return the record of the installation that is used, whatever the recipe says by now."""
    home = named_folder(paths, name)
    identity = history.current(home)
    if identity is None:
        return None
    try:
        record = read_json(runtime_folder(paths, name, identity) / RECORD_FILE, InstalledRuntime)
    except Damaged:
        return None
    if record is None or record.name != name or record.runtime_id != identity:
        return None
    return record


def is_wanted(paths: Paths, recipe: RuntimeRecipe, record: InstalledRuntime) -> bool:
    """Tell whether an installation is what the recipe asks for, or what a person went back to."""
    is_held = history.is_held(named_folder(paths, recipe.name), record.runtime_id)
    return is_held or is_made_of(paths, recipe, record)


def is_outdated(paths: Paths, recipe: RuntimeRecipe, record: InstalledRuntime) -> bool:
    """Tell whether an installation is not what the recipe says now.

    A recipe whose lock or patches are missing is another one too, and no reason to stop a start.
    """
    try:
        return not is_made_of(paths, recipe, record)
    except BadInput:
        return True


def is_made_of(paths: Paths, recipe: RuntimeRecipe, record: InstalledRuntime) -> bool:
    """Tell whether an installation has the lock, patches and interpreter that the recipe has now.

    One that stands on an interpreter of the machine, for want of the recipe's, is no worse for it.
    """
    if archive_build(recipe) not in (None, record.interpreter_build) and not is_of_host(
        record.interpreter_build
    ):
        return False
    if record.lock_digest != lock_digest(paths, recipe):
        return False
    return record.patch_digest == patch_digest(paths, recipe)


def remove(place: Path) -> None:
    """Remove a file, a link or a folder; a folder is renamed first, so that no half of it stays.

    What was being removed when a kill came has a name that no runtime has (`DOOMED`).
    """
    if place.is_symlink() or not place.is_dir():
        place.unlink(missing_ok=True)
        return
    doomed = place.with_name(f"{DOOMED}{place.name}")
    if not place.name.startswith(DOOMED):
        place.rename(doomed)
    shutil.rmtree(doomed if doomed.exists() else place, ignore_errors=True)
