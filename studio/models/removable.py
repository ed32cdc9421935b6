"""What an uninstaller asks about: each folder of models, and what removing its models would free.

Reads only; a folder that is not there is not listed.
"""

from collections.abc import Iterable
from pathlib import Path

from studio.domain.library import Removable, RootKind, RootState
from studio.host.paths import Paths
from studio.models.finding import walk
from studio.models.removing import weigh
from studio.models.roots import Root


def removable(roots: Iterable[Root], paths: Paths) -> tuple[Removable, ...]:
    """Return every folder that is there, our own first; references are nobody's to remove."""
    found = []
    for root in roots:
        walked = walk(root)
        if walked.state is not RootState.PRESENT or root.kind is RootKind.REFERENCE:
            continue
        found.append(
            Removable(
                path=root.path,
                kind=root.kind,
                models=len(walked.models),
                size_bytes=sum(weigh(one).freed_bytes for one in walked.models),
                is_ours=Path(root.path) == paths.models,
            )
        )
    return tuple(found)
