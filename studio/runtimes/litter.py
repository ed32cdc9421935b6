"""Files that a killed engine leaves in its temporary folder, which lies under our cache.

vLLM's processes meet in a file `vllm_dist_<32 hex digits>` there, which an orderly end removes.
Left ones are listed before it is asked whether an engine of this home runs: one that begins after
that has made none of them yet, so no clock has to be trusted.
"""

import re
from pathlib import Path

from studio.host.paths import Paths
from studio.host.processes import marked

_NAME = re.compile(r"vllm_dist_[0-9a-f]{32}")
"""As `vllm/utils/network_utils.py` makes it, in 0.31 and 0.32."""


def left(paths: Paths) -> list[Path]:
    """Return what killed engines left; nothing while one of this home runs."""
    folder = paths.engine_cache
    found = sorted(
        path
        for path in folder.glob("vllm_dist_*")
        if _NAME.fullmatch(path.name) and path.is_file() and not path.is_symlink()
    )
    return [] if found and marked(paths.home) else found


def sweep(paths: Paths) -> list[Path]:
    """Remove what killed engines left; return what that was."""
    found = left(paths)
    for path in found:
        path.unlink(missing_ok=True)
    return found
