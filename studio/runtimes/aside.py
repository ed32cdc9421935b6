"""A runtime that is built anew keeps its old folder beside it until the new one is finished.

    <home>/runtimes/<name>/.kept-<first 12 of id>

Without that, what cannot be built for want of a source would be gone, though most of it was whole.
A kill leaves both; then the old one comes back, and building begins again.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path

from studio.domain.errors import Busy
from studio.domain.manifests import RuntimeRecipe
from studio.host.files import exclusive
from studio.host.paths import Paths
from studio.runtimes import folder as folders
from studio.runtimes import running
from studio.runtimes.versions import INSTALL_LOCK

PREFIX = folders.KEPT


def put(paths: Paths, recipe: RuntimeRecipe, root: Path) -> None:
    """Put the runtime in `root` aside, so that it can be built anew in its place.

    Raises: Busy (`install-running`, `engine-running`), OSError.
    """
    with exclusive(root.parent / INSTALL_LOCK) as is_ours:
        if not is_ours:
            raise Busy(
                "install-running",
                f"{recipe.title} is being installed or repaired by another process of the Studio.",
                hint="Wait until it is done, then run it again.",
            )
        running.require_idle(paths, recipe, root)
        _settle(root.parent)
        root.rename(root.with_name(f"{PREFIX}{root.name}"))


def settle(home: Path) -> None:
    """Remove what is aside where the new one is finished; bring it back where it is not.

    Does nothing while something of this runtime is being installed. Raises: OSError.
    """
    if not any(_kept(home)):
        return
    with exclusive(home / INSTALL_LOCK) as is_ours:
        if is_ours:
            _settle(home)


def _settle(home: Path) -> None:
    for kept in list(_kept(home)):
        root = home / kept.name.removeprefix(PREFIX)
        if (root / folders.RECORD_FILE).exists():
            folders.remove(kept)
            continue
        if root.exists():
            shutil.rmtree(root)
        kept.rename(root)


def _kept(home: Path) -> Iterator[Path]:
    return home.glob(f"{PREFIX}*")
