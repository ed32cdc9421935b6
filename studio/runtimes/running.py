"""Does an engine run from this installation? Asked before a folder is taken away.

An engine is told of its runtime by a name without blanks where the home has some, and engines
rename themselves, which overwrites the arguments they were started with. So both names are looked
for, and then the files that a process has in its memory, which the kernel lists by their place.
"""

import os
from pathlib import Path

import psutil

from studio.domain.errors import Busy
from studio.domain.manifests import RuntimeRecipe
from studio.host import plain_home
from studio.host.paths import Paths
from studio.host.processes import marked


def runs_from(paths: Paths, place: Path) -> bool:
    """Tell whether a process of an engine of this home runs from the runtime in `place`."""
    names = {str(place), plain_home.name_of(paths, place)}
    return any(_is_of(process, names, place) for process in marked(paths.home))


def require_idle(paths: Paths, recipe: RuntimeRecipe, place: Path) -> None:
    """Refuse to take the runtime in `place` away under an engine that runs from it.

    Raises: Busy (`engine-running`).
    """
    if runs_from(paths, place):
        raise Busy(
            "engine-running",
            f"An engine runs from {place}, where {recipe.title} would be built anew.",
            hint="`weir stop` ends it; then run it again. What was fetched is kept.",
        )


def _is_of(process: psutil.Process, names: set[str], place: Path) -> bool:
    try:
        if any(name in part for part in process.cmdline() for name in names):
            return True
        mapped = Path(f"/proc/{process.pid}/maps").read_bytes()
    except (OSError, psutil.Error):  # it has ended, or this system keeps no such list
        return False
    return os.fsencode(place.resolve()) + b"/" in mapped
