"""Which packages an installation changes after uv has put them in place.

Those have to go into the store before that. All others may go there at any time until the runtime
is used, and do so beside its last checks, which keep one core busy and leave the others.
"""

import re
from pathlib import Path

from studio.domain.manifests import RuntimeRecipe
from studio.host import locks
from studio.host.paths import Paths
from studio.runtimes import patches, survey
from studio.runtimes.packages import site_packages


def packages(
    recipe: RuntimeRecipe, paths: Paths, root: Path, python: Path
) -> frozenset[str] | None:
    """Return the pins, in plain form, of what patches may change in `root`; None: any package.

    A build step may replace whatever it likes. A patch changes what it names, and its new files are
    entered in the list of a package that lies in the same folder; so every package with a file
    below the same top name counts.
    Raises: as `patches.require_patches`.
    """
    if recipe.steps:
        return None
    if not recipe.patches:
        return frozenset()
    tops = {name.partition("/")[0] for name in patches.patched_files(paths, recipe)}
    names = b"|".join(re.escape(top.encode()) for top in sorted(tops))
    # A look at the text: reading 147 lists as tables takes half a second.
    row = re.compile(rb"""^"?(?:\./)?(?:%s)(?=[/,"])""" % names, re.MULTILINE)
    return frozenset(
        locks.plain(owner)
        for record in site_packages(python).glob("*.dist-info/RECORD")
        if (owner := survey.owner_of(record.relative_to(root).as_posix())) is not None
        if row.search(record.read_bytes())
    )
