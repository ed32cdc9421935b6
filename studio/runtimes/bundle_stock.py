"""What the store gets of a runtime that came in a bundle: its packages as their wheels were.

The next runtime on a machine without a network then shares them, and a repair has a second copy.
What a patch or a build step changed is not what the lock names, and stays out.
"""

import posixpath
from pathlib import Path

import msgspec

from studio.domain.manifests import InstalledRuntime, RuntimeRecipe
from studio.domain.runtimes import StepState
from studio.host import locks
from studio.host.paths import Paths
from studio.host.sharing import Way
from studio.runtimes import manifest as manifests
from studio.runtimes import patches, relocate, steps, survey
from studio.runtimes.store import Read, Store, package_keys
from studio.runtimes.store_keep import keep


class Fed(msgspec.Struct, frozen=True, kw_only=True):
    """What went into the store, and what was read for it."""

    keys: tuple[str, ...] = ()
    known: dict[str, Read] = {}


def feed(paths: Paths, root: Path, recipe: RuntimeRecipe, record: InstalledRuntime) -> Fed:
    """Keep the packages of the runtime folder `root` that the store has not.

    A store that is being cleaned up gets nothing, and neither does one on a disk that shares no
    files: it would take everything once more. Raises: OSError, Damaged, HostLacks (`disk-full`,
    `not-writable`).
    """
    listed = manifests.read(root)
    changed = _changed(root, record)
    if listed is None or not listed.lock or changed is None:
        return Fed()
    store = Store(paths)
    store.open()
    with store.used() as is_ours:
        if not is_ours or store.way() is Way.COPY:
            return Fed()
        patched = _owners(root, changed)
        keys = package_keys(listed.lock.decode("utf-8", "replace"), recipe.interpreter.series)
        fresh = {
            pin: key for pin, key in keys.items() if pin not in patched and not store.holds(key)
        }
        kept = keep(store, root, fresh)
        return Fed(keys=tuple(fresh[pin] for pin in kept.pins), known=kept.known)


def take_back(paths: Paths, fed: Fed) -> None:
    """Let the store forget what it was fed: the files turned out not to be those of the bundle."""
    for key in fed.keys:
        (Store(paths).packages / key).unlink(missing_ok=True)


def _changed(root: Path, record: InstalledRuntime) -> frozenset[str] | None:
    """Return the files that patches have changed; None when nobody can tell what was changed."""
    if any(one.state is StepState.BUILT for one in steps.read(root)):
        return None
    if record.patch_digest is None:
        return frozenset()
    return patches.recorded_files(root)


def _owners(root: Path, changed: frozenset[str]) -> set[str]:
    """Return the pins of the packages that one of the changed files belongs to."""
    if not changed:
        return set()
    seen = survey.walk(root, with_sizes=False)
    site = next((path for path in seen if relocate.is_listing(path)), "")
    folder = posixpath.dirname(posixpath.dirname(site))
    files = {f"{folder}/{name}" for name in changed}
    return {
        locks.plain(found.owner)
        for found in survey.distributions(root, seen)
        if any(path in files for path, _digest in found.files)
    }
