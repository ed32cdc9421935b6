"""The Studio's folder by a name that compilers can take.

torch splits its calls of g++ at blanks, so one in the path of the runtime or of the cache ends the
engine at the first request that compiles something (`logprobs` does, also in eager mode; vLLM 0.32
with torch 2.13). A home may have blanks in its name: engines then reach it through a link without.
"""

import contextlib
import secrets
from pathlib import Path

from studio.host.files import from_os_error, make_private
from studio.host.paths import Paths


def make(paths: Paths) -> None:
    """Make the folder for the engine's cache, and the link where one is needed.

    Raises: HostLacks (`not-writable`, `disk-full`).
    """
    name = paths.plain_home
    try:
        paths.engine_cache.mkdir(parents=True, exist_ok=True)
        if name != paths.home:
            make_private(name.parent, must_be_own=True)
            _link(name, paths.home)
    except OSError as error:
        raise from_os_error(error, Path(error.filename or paths.engine_cache)) from error


def name_of(paths: Paths, place: Path) -> str:
    """Return how an engine is told of `place`: by the link, where it lies in the home."""
    if paths.plain_home == paths.home or not place.is_relative_to(paths.home):
        return str(place)
    return str(paths.plain_home / place.relative_to(paths.home))


def forget(paths: Paths) -> None:
    """Take the link away, where there is one."""
    with contextlib.suppress(OSError):
        if paths.plain_home.is_symlink():
            paths.plain_home.unlink()


def _link(name: Path, folder: Path) -> None:
    if name.is_symlink() and name.readlink() == folder:
        return
    fresh = name.with_name(f"{name.name}-{secrets.token_hex(2)}")
    fresh.symlink_to(folder, target_is_directory=True)
    fresh.replace(name)
