"""Wheels that an upstream project publishes itself: how uv is told, how they count in the id."""

from collections.abc import Iterable
from pathlib import Path

from studio.domain.manifests import RuntimeRecipe
from studio.domain.runtimes import PackageWheel
from studio.host import pip_config
from studio.host.files import write_atomic

REQUIREMENTS_FILE = "requirements.lock"


def requirement_lines(recipe: RuntimeRecipe, folders: Iterable[Path] = ()) -> tuple[str, ...]:
    """Return a requirement with its hash for each of the recipe's own wheels.

    One that lies in a wheel folder of this machine is asked for by version, so that uv finds it
    there; else by its address, or at its index.
    """
    wheels = recipe.packages.wheels if recipe.packages is not None else ()
    here = tuple(folders)
    return tuple(_line(wheel, here) for wheel in wheels)


def whole_lock(recipe: RuntimeRecipe, lock: Path) -> str:
    """Return everything that is installed, with its hashes: the lock, and the recipe's own wheels.

    It holds the wheels by their address, and so is the same on every machine. A wheel whose hash
    nobody has supplied yet is left out: it cannot be installed.
    """
    wheels = recipe.packages.wheels if recipe.packages is not None else ()
    lines = [_line(wheel, ()) for wheel in wheels if wheel.sha256 is not None]
    return "\n".join([lock.read_text("utf-8").rstrip("\n"), *lines, ""])


def _line(wheel: PackageWheel, folders: tuple[Path, ...]) -> str:
    assert wheel.sha256 is not None, "an open recipe is refused before"
    file = wheel.file
    is_here = file is not None and any((folder / file).is_file() for folder in folders)
    is_listed = is_here or wheel.index is not None
    where = f"=={wheel.version}" if is_listed else f" @ {wheel.url}"
    return f"{wheel.name}{where} --hash=sha256:{wheel.sha256}"


def digest_text(recipe: RuntimeRecipe) -> str:
    """Return what the wheels add to the digest of the lock: nothing for a recipe without any.

    The bytes count and not the address, so that a mirror gives the same id.
    """
    wheels = recipe.packages.wheels if recipe.packages is not None else ()
    return "".join(f"{one.name}=={one.version}:{one.sha256}\n" for one in wheels)


def requirements_file(recipe: RuntimeRecipe, lock: Path, folder: Path) -> Path:
    """Return the file that uv installs from: the lock, or in `folder` the lock and the wheels.

    Raises: HostLacks (`disk-full`, `not-writable`).
    """
    lines = requirement_lines(recipe, pip_config.read_sources().folders)
    if not lines:
        return lock
    whole = lock.read_bytes().rstrip(b"\n") + b"\n" + "\n".join((*lines, "")).encode()
    target = folder / REQUIREMENTS_FILE
    write_atomic(target, whole)
    return target
