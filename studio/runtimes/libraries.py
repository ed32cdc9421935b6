"""Shared libraries that packages expect of the system: looked for, else copied into the runtime.

Nothing is installed into the system. Debian's package manager hands out a package without
administrator rights; its files go to `<runtime>/lib`, which the recipe puts on the loader's path.
Elsewhere the person is told what to install.
"""

import shutil
from pathlib import Path

from studio.domain.errors import HostLacks
from studio.domain.manifests import RuntimeRecipe, SystemLibrary
from studio.host import process
from studio.host.meter import Meter
from studio.host.threads import in_thread

_LOAD = "import ctypes, sys; ctypes.CDLL(sys.argv[1])"
_LOAD_S = 30.0
_FETCH_S = 300.0
_COMMANDS = {
    "apt": "apt-get install",
    "dnf": "dnf install",
    "pacman": "pacman -S",
    "zypper": "zypper install",
}


async def supply(recipe: RuntimeRecipe, folder: Path, python: Path, meter: Meter) -> None:
    """Make sure that the runtime in `folder` finds every library of its recipe.

    Raises: HostLacks (`library-missing`) naming library, package and command.
    """
    for library in recipe.libraries:
        if await _loads(library, folder, python):
            continue
        meter.begin(f"Getting {library.soname}")
        said = await _from_debian(library, folder)
        if not await _loads(library, folder, python):
            raise _missing(recipe, library, said)


async def _loads(library: SystemLibrary, folder: Path, python: Path) -> bool:
    result = await process.run(
        [str(python), "-I", "-S", "-c", _LOAD, library.soname],
        env=process.helper_environment({"LD_LIBRARY_PATH": str(folder / "lib")}),
        timeout_s=_LOAD_S,
    )
    return result.exit_code == 0


async def _from_debian(library: SystemLibrary, folder: Path) -> tuple[str, ...]:
    """Copy the library out of Debian's package, if this is such a system; return what was said.

    With package lists of our own, so that neither rights nor lists of the system are needed.
    """
    package = library.packages.get("apt")
    if package is None or shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        return ()
    (folder / "lib").mkdir(exist_ok=True)
    place = folder / "apt.partial"  # one name, so that an interrupted run leaves one folder at most
    await in_thread(lambda: _make_empty(place))
    try:
        said, is_here = await _download(package, place)
        if is_here:
            await in_thread(lambda: _take(library.soname, place / "files", folder / "lib"))
    finally:
        shutil.rmtree(place, ignore_errors=True)
    return said


async def _download(package: str, place: Path) -> tuple[tuple[str, ...], bool]:
    """Fetch and unpack a package; return what was said, and whether it worked."""
    own = [
        *("-o", f"Dir::State::Lists={place / 'lists'}"),
        *("-o", f"Dir::Cache={place / 'cache'}"),
        *("-o", "APT::Sandbox::User=root"),  # else root's own download is warned about
    ]
    commands = [["apt-get", *own, "-q", "update"], ["apt-get", *own, "-q", "download", package]]
    said: tuple[str, ...] = ()
    for command in commands:
        result = await _run(command, place)
        said = result.tail
        if result.exit_code != 0:
            return said, False
    for archive in await in_thread(lambda: list(place.glob("*.deb"))):
        result = await _run(["dpkg-deb", "-x", str(archive), str(place / "files")], place)
        if result.exit_code != 0:
            return result.tail, False
    return said, True


async def _run(command: list[str], place: Path) -> process.RunResult:
    return await process.run(
        command, env=process.helper_environment(), timeout_s=_FETCH_S, cwd=place
    )


def _make_empty(place: Path) -> None:
    shutil.rmtree(place, ignore_errors=True)
    for part in ("lists/partial", "cache/archives/partial", "files"):
        (place / part).mkdir(parents=True)


def _take(soname: str, files: Path, target: Path) -> None:
    """Copy the library under the name that the loader asks for; whole or not at all."""
    for found in files.rglob(soname):
        partial = target / f".{soname}"
        shutil.copyfile(found.resolve(), partial)
        partial.chmod(0o755)
        partial.replace(target / soname)
        return


def _missing(recipe: RuntimeRecipe, library: SystemLibrary, said: tuple[str, ...]) -> HostLacks:
    ways = [
        f"`{command} {library.packages[manager]}`"
        for manager, command in _COMMANDS.items()
        if manager in library.packages and shutil.which(command.split()[0])
    ]
    package = " or ".join(dict.fromkeys(library.packages.values()))
    return HostLacks(
        "library-missing",
        f"{recipe.title} needs {library.soname} ({library.purpose}), which this system lacks.",
        hint=f"Install it with {ways[0]}, then run it again."
        if ways
        else f"Install the package {package}, then run it again.",
        evidence=said[-5:],
        data={"library": library.soname, "package": package},
    )
