"""What the operating system allows each process of ours (`ulimit`), and more of it where allowed.

A soft limit is a habit, the hard one the rule: a service with a thousand clients needs more than
the habitual 1,024 files, and the engine warns below 65,536. Children inherit what is raised here.
"""

import logging
import os
from pathlib import Path

from studio.domain.hardware import UNLIMITED, ProcessLimits

if os.name == "posix":
    import resource

logger = logging.getLogger(__name__)

MOST_OPEN_FILES = 1_048_576
"""More is not asked for: containers allow a thousand million, and programs that close all of them
one by one before they start then take minutes."""
_CORE_PATTERN = Path("/proc/sys/kernel/core_pattern")


def read(core_pattern: Path = _CORE_PATTERN) -> ProcessLimits | None:
    """Return the limits of this process; None where there are none (Windows)."""
    if os.name != "posix":
        return None
    open_files, open_files_hard = _limit(resource.RLIMIT_NOFILE)
    locked, locked_hard = _limit(resource.RLIMIT_MEMLOCK)
    core, _ = _limit(resource.RLIMIT_CORE)
    return ProcessLimits(
        open_files=open_files,
        open_files_hard=open_files_hard,
        locked_bytes=locked,
        locked_bytes_hard=locked_hard,
        core_bytes=core,
        core_pattern=_first_line(core_pattern),
    )


def raise_open_files() -> int | None:
    """Let this process, and all it starts, open as many files as it may; return how many.

    None where there is no such limit (Windows), or where it cannot be changed.
    """
    if os.name != "posix":
        return None
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    is_endless = hard == resource.RLIM_INFINITY
    wanted = MOST_OPEN_FILES if is_endless else min(hard, MOST_OPEN_FILES)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return UNLIMITED if soft == resource.RLIM_INFINITY else soft
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    except (OSError, ValueError) as error:  # macOS allows less than it says
        logger.warning("the limit of open files stays at %d: %s", soft, error)
        return None
    return wanted


def _limit(which: int) -> tuple[int, int]:
    soft, hard = resource.getrlimit(which)
    return _finite(soft), _finite(hard)


def _finite(limit: int) -> int:
    return UNLIMITED if limit == resource.RLIM_INFINITY else limit


def _first_line(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip() or None
    except OSError:
        return None
