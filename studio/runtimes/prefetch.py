"""The large wheels of a runtime, fetched before uv is asked for the rest (`host/prefetch.py`)."""

import contextlib
from pathlib import Path

from studio.domain.manifests import RuntimeRecipe
from studio.host import prefetch as host_prefetch
from studio.host.meter import Meter
from studio.host.network import NetworkPolicy
from studio.host.paths import Paths
from studio.host.prefetch import Asked, Prefetched
from studio.runtimes import sizes
from studio.runtimes.packages import extra_indexes

REPAIR = "repair"
"""What a repair fetches is a part of another lock than that of an installation cut off."""


def wheels_folder(paths: Paths, recipe: RuntimeRecipe, purpose: str = "install") -> Path:
    """Return where large wheels lie until they are unpacked into store or runtime."""
    return paths.cache / "wheels" / recipe.name / purpose


async def prefetch(
    recipe: RuntimeRecipe,
    paths: Paths,
    requirements: Path,
    python: Path,
    work: Path,
    meter: Meter,
    *,
    policy: NetworkPolicy,
    purpose: str = "install",
    disk_bytes: int | None = None,
) -> Prefetched:
    """Fetch the large ones of the wheels that a file requires, as far as that can be done.

    `work` is a folder of the installation's own. `disk_bytes` is what will be written beside the
    wheels; None: what the whole recipe takes.

    Raises: HostLacks (`disk-full`, `not-writable`) for the folder of the wheels.
    """
    needed = sizes.disk_bytes(recipe, paths) if disk_bytes is None else disk_bytes
    asked = Asked(
        requirements=requirements,
        python=python,
        folder=wheels_folder(paths, recipe, purpose),
        work=work,
        cache=paths.cache / "uv",
        sizes=sizes.wheel_sizes(recipe, paths),
        disk_bytes=needed,
        extra_indexes=extra_indexes(recipe),
    )
    return await host_prefetch.prefetch(asked, meter, policy=policy)


def forget(paths: Paths, recipe: RuntimeRecipe, work: Path, purpose: str = "install") -> None:
    """Remove the wheels, whole or not, of an installation that has its packages."""
    folder = wheels_folder(paths, recipe, purpose)
    host_prefetch.forget(folder, work)
    with contextlib.suppress(OSError):
        folder.parent.rmdir()  # unless there are those of another purpose
