"""The file that an export grows in; where it lies is noted, so that a killed one's does not stay.

    <home>/runtimes/<name>/exporting

The next export of that runtime, wherever it goes, and `weir runtime gc` remove what is noted. Only
for who holds the installation lock of the runtime.
"""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from studio.domain.errors import HostLacks
from studio.host.files import exclusive, write_atomic

NOTE = "exporting"
_SUFFIX = ".part"


def of(target: Path) -> Path:
    """Return the file that `target` is as long as it is not whole."""
    return target.with_name(f".{target.name}{_SUFFIX}")


@contextlib.contextmanager
def noted(home: Path, target: Path) -> Iterator[None]:
    """Keep a note of the file that grows, after what an earlier one left is gone.

    Without one where there is no room for it: the export may go to another disk.
    """
    for place in left(home):
        with contextlib.suppress(OSError):  # whoever cannot remove it can export all the same
            place.unlink()
    with contextlib.suppress(HostLacks):
        write_atomic(home / NOTE, os.fsencode(of(target)))
    try:
        yield
    finally:
        (home / NOTE).unlink(missing_ok=True)


def left(home: Path) -> tuple[Path, ...]:
    """Return what an export that was cut off left: its file where there is one, and its note."""
    note = home / NOTE
    try:
        part = Path(os.fsdecode(note.read_bytes()))
    except (OSError, ValueError):
        return ()
    return (part, note) if _is_left(part) else (note,)


def _is_left(part: Path) -> bool:
    """Tell whether this is such a file, and nobody's: another home may export to the same place."""
    name = part.name
    if not (part.is_absolute() and name.startswith(".") and name.endswith(_SUFFIX)):
        return False
    try:
        if part.is_symlink() or not part.is_file():
            return False
        with exclusive(part) as is_ours:
            return is_ours
    except (OSError, ValueError, HostLacks):  # as on a disk that is read-only by now
        return False
