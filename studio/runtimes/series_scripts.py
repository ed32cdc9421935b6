"""A script of a recipe's patch series: from the same repository at the same pinned commit.

It is written out for one run; what is kept is the series itself (series.py), of which every byte
follows from the commit.
"""

import functools
from pathlib import Path, PurePosixPath

import msgspec

from studio.domain.errors import HostLacks, NotFound
from studio.domain.manifests import RuntimeRecipe
from studio.host.files import write_atomic
from studio.host.network import in_force
from studio.host.paths import Paths
from studio.host.threads import in_thread
from studio.runtimes import series
from studio.runtimes.upstream import obtain


async def script(recipe: RuntimeRecipe | None, path: str, paths: Paths, place: Path) -> Path:
    """Return a script, written into `place` with its neighbours; `path` is in the repository.

    Raises: HostLacks (`runtime-not-pinned`, `script-without-series`), NotFound (`script-missing`),
    and what `obtain.ensure` raises.
    """
    name = recipe.title if recipe is not None else "The preset's runtime"
    if recipe is None or not any(one.upstream is not None for one in recipe.patches):
        raise HostLacks(
            "script-without-series",
            f"{name} has no patch series of another project, of which {path} would be a part.",
            hint="Choose a runtime that has: `weir presets show NAME` names those of a preset.",
        )
    for one in recipe.patches:
        if one.upstream is not None and one.upstream.commit is None:
            raise series.not_pinned(recipe, one.title, one.upstream.repository)
    folder = PurePosixPath(path).parent.as_posix()
    for wanted in series.wanted(recipe):
        more = msgspec.structs.replace(wanted, paths=(*wanted.paths, folder))
        kept = series.kept_file(paths, wanted.commit)
        await obtain.ensure(more, kept, None, await in_thread(lambda: in_force(paths)))
        found = await in_thread(functools.partial(_written, more, kept, path, place))
        if found is not None:
            return found
    commits = ", ".join(f"{one.repository} at {one.commit[:12]}" for one in series.wanted(recipe))
    raise NotFound(
        "script-missing",
        f"There is no {path} in {commits}.",
        hint="The series has moved it; a newer Studio may know where to.",
    )


def _written(wanted: obtain.Wanted, kept: Path, path: str, place: Path) -> Path | None:
    snapshot = obtain.kept_snapshot(kept, wanted)
    script = PurePosixPath(path)
    files = {} if snapshot is None else series.folder(snapshot, script.parent.as_posix())
    if script.name not in files:
        return None
    for inside, file in files.items():
        write_atomic(place / inside, file.data)
    return place / script.name
