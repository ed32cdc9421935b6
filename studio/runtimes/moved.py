"""A runtime whose home was moved or copied: its scripts and its list are written for the new place.

Only files that name their folder (relocate.py) are touched, and only those that are, byte for byte,
what was installed in the old place: nothing is fetched and no other file is read. The list is
written last, so what a kill cut off is done by the next look.
"""

import contextlib
import functools
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from studio.domain.errors import StudioError
from studio.domain.events import Stage
from studio.domain.manifests import InstalledRuntime
from studio.host.files import exclusive
from studio.host.meter import Meter, Report
from studio.host.paths import Paths
from studio.host.threads import in_thread
from studio.runtimes import folder as folders
from studio.runtimes import manifest as manifests
from studio.runtimes import relocate
from studio.runtimes.manifest import LINK, PLACED, Entry
from studio.runtimes.repair_sources import hashed_again, write_placed
from studio.runtimes.versions import INSTALL_LOCK


async def settle(paths: Paths, runtime: InstalledRuntime, report: Report) -> None:
    """Let a runtime that lies elsewhere than it was installed name its new place.

    Some milliseconds where nothing has moved. What cannot be written, or is being installed by
    another process, stays as it is, and a verification says so.
    """
    done = await in_thread(functools.partial(_settled, paths, runtime))
    if done:
        meter = Meter(Stage.RUNTIME, f"Settling {runtime.name} in its new place", report)
        meter.finish(f"{done} files name {folders.folder_of(paths, runtime)} now")


def _settled(paths: Paths, runtime: InstalledRuntime) -> int:
    root = folders.folder_of(paths, runtime)
    with contextlib.suppress(StudioError, OSError):
        if not has_moved(root):
            return 0
        with exclusive(folders.named_folder(paths, runtime.name) / INSTALL_LOCK) as is_ours:
            return put_right(root) if is_ours else 0
    return 0


def has_moved(root: Path) -> bool:
    """Tell whether a runtime's list was written in another folder than `root`.

    Raises: Damaged (`manifest-damaged`), HostLacks (`not-readable`).
    """
    with manifests.opened(root) as reader:
        return reader is not None and Path(reader.header.root) != root


def put_right(root: Path) -> int:
    """Write the files that name their folder for a runtime in `root`; return how many changed.

    To be called with the lock of its installation. Blocks.
    Raises: Damaged (`manifest-damaged`), HostLacks (`not-readable`, `not-writable`, `disk-full`),
    OSError.
    """
    manifest = manifests.read(root)
    if manifest is None or Path(manifest.root) == root:
        return 0
    done = {entry.path: entry for entry in _written(root, manifest.entries, Path(manifest.root))}
    listed = tuple(done.get(entry.path, entry) for entry in manifest.entries)
    settled = msgspec.structs.replace(manifest, root=str(root), entries=listed)
    manifests.write(root / manifests.MANIFEST_FILE, settled)
    return len(done)


def _written(root: Path, entries: tuple[Entry, ...], old_root: Path) -> Iterator[Entry]:
    """Write what is as it was in the old place; what is not is left to a repair."""
    for entry in entries:
        place = root / entry.path
        if not entry.has(PLACED) or entry.has(LINK) or place.is_symlink():
            continue
        if not place.is_file() or not os.access(place, os.R_OK):
            continue
        form = relocate.general(place.read_bytes(), old_root)
        if form is not None and hashlib.sha256(form).digest() == entry.digest:
            write_placed(place, form, root, entry)
        again = hashed_again(root, entry, root)
        if again is not None:
            yield again
