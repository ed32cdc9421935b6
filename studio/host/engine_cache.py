"""The folder in which engines keep what they compile, by a name that compilers can take.

torch hands g++ its paths unquoted, so a blank in one ends the engine at the first request that
compiles something (`logprobs` does, also in eager mode; vLLM 0.32 with torch 2.13). A home may
have blanks in its name: then engines get the folder through a link that has none.
"""

import contextlib
import secrets
from pathlib import Path

from studio.host.files import from_os_error, make_private
from studio.host.paths import Paths


def make(paths: Paths) -> Path:
    """Return the folder's name for an engine; makes what is missing of it.

    Raises: HostLacks (`not-writable`, `disk-full`).
    """
    folder, name = paths.engine_cache, paths.engine_cache_name
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if name != folder:
            make_private(name.parent, must_be_own=True)
            _link(name, folder)
    except OSError as error:
        raise from_os_error(error, Path(error.filename or folder)) from error
    return name


def forget(paths: Paths) -> None:
    """Take the link away, where there is one."""
    name = paths.engine_cache_name
    with contextlib.suppress(OSError):
        if name.is_symlink():
            name.unlink()


def _link(name: Path, folder: Path) -> None:
    if name.is_symlink() and name.readlink() == folder:
        return
    fresh = name.with_name(f"{name.name}-{secrets.token_hex(2)}")
    fresh.symlink_to(folder, target_is_directory=True)
    fresh.replace(name)
