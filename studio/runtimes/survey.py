"""Looks at the files of a runtime: what is there, whose it is, and the manifest that says so.

Everything under `python/` and `lib/` counts; the records beside them are written by those whose
they are.
"""

import base64
import binascii
import csv
import hashlib
import os
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from studio.domain.manifests import RuntimeRecipe
from studio.host.files import write_atomic
from studio.host.hashing import Hashed, Wanted, hash_files
from studio.host.paths import Paths
from studio.runtimes import folder as folders
from studio.runtimes import manifest as manifests
from studio.runtimes import relocate, wheels
from studio.runtimes.manifest import (
    BYTECODE,
    EXECUTABLE,
    LINK,
    LISTING,
    NOTE,
    PLACED,
    SUSPECT,
    VITAL,
    Entry,
    Manifest,
)
from studio.runtimes.store import Read

TREE = "python"
LIBRARIES = "lib"
"""Shared libraries that the system lacks (libraries.py)."""
_NOTES = re.compile(r"python/\.lock|.*\.dist-info/(uv_cache\.json|direct_url\.json)")
_VITAL = re.compile(
    r"python/pyvenv\.cfg|python/bin/python[0-9.]*|.*\.dist-info/RECORD"
    r"|.*/site-packages/[^/]+/__init__\.py|.*/site-packages/[^/]+\.(?:pth|py)|.*\.so(\.[0-9]+)*"
)
_RECORD = re.compile(r"(python/lib/[^/]+/site-packages)/([^/]+?)-([^-/]+)\.dist-info/RECORD")
"""Of the installed distributions, and not of those that some carry inside."""


class Seen(NamedTuple):
    """A name in the tree: its size, and for a link what it points to."""

    size: int
    link: str | None
    inode: int = 0
    mtime_ns: int = 0


class Distribution(NamedTuple):
    """An installed distribution, `name==version`, and each file it lists with its sha256."""

    owner: str
    files: list[tuple[str, bytes | None]]


class Owned(NamedTuple):
    """What a distribution's RECORD says of a file; by default: nothing, it has no owner."""

    owner: int = 0
    sha256: bytes | None = None


UNOWNED = Owned()


class Draft(NamedTuple):
    """The list of all files, ready to be written, and the tree as it was before it was read."""

    seen: dict[str, Seen]
    packed: bytes

    @property
    def bytes(self) -> int:
        """Return what is in the folder with this list, each inode counted once."""
        sizes = {found.inode: found.size for found in self.seen.values() if found.link is None}
        return sum(sizes.values()) + len(self.packed)


def draft(
    paths: Paths, recipe: RuntimeRecipe, identity: str, known: Mapping[str, Read] | None = None
) -> Draft:
    """List every file of a runtime folder that is as good as finished; writes nothing."""
    root = folders.runtime_folder(paths, recipe.name, identity)
    lock = folders.lock_file(paths, recipe)
    seen = walk(root)
    listed = _survey(root, seen, identity, known or {})
    if lock is not None:
        listed = msgspec.structs.replace(listed, lock=wheels.whole_lock(recipe, lock).encode())
    return Draft(seen, manifests.packed(listed))


def write_manifest(
    paths: Paths,
    recipe: RuntimeRecipe,
    identity: str,
    known: Mapping[str, Read] | None = None,
    drafted: Draft | None = None,
) -> int:
    """List every file of a finished runtime folder; the last step before `runtime.json`.

    Return the bytes of the folder.

    What was drafted holds when no file has come, gone or changed since. It is a look at each file's
    inode, size and time, as for what is `known`.

    Raises: HostLacks (`disk-full`, `not-writable`).
    """
    root = folders.runtime_folder(paths, recipe.name, identity)
    if drafted is None or walk(root) != drafted.seen:
        drafted = draft(paths, recipe, identity, known)
    write_atomic(root / manifests.MANIFEST_FILE, drafted.packed)
    return drafted.bytes


def survey(root: Path, identity: str, known: Mapping[str, Read] | None = None) -> Manifest:
    """Return the manifest of the runtime folder `root` as it is now.

    Reads every file but those in `known` that are still the same file.
    """
    return _survey(root, walk(root), identity, known or {})


def _survey(
    root: Path, found_there: Mapping[str, Seen], identity: str, known: Mapping[str, Read]
) -> Manifest:
    seen = {path: found for path, found in found_there.items() if _is_text(path)}
    owners, owned = ownership(root, seen)
    hashed: dict[str, Hashed | None] = {
        path: known[path].hashed for path, found in seen.items() if is_known(known.get(path), found)
    }
    files = [path for path, found in seen.items() if found.link is None and path not in hashed]
    wanted = [Wanted(f"{root}/{path}", seen[path].size) for path in files]
    hashed |= zip(files, hash_files(wanted), strict=True)
    entries: list[Entry] = []
    for path, found in seen.items():
        owner = owned.get(path, UNOWNED)
        if found.link is not None:
            entries.append(Entry(path, LINK | _vital(path), 0, 0, os.fsencode(found.link)))
            continue
        now = hashed[path]
        if now is not None and now.sha256 is not None:
            entries.append(entry(root, path, now, owner))
    return Manifest(
        runtime_id=identity, root=str(root), owners=tuple(owners), entries=tuple(entries)
    )


def entry(root: Path, path: str, now: Hashed, owned: Owned) -> Entry:
    """Return what a manifest says of a file that was just read."""
    assert now.sha256 is not None
    flags = EXECUTABLE if now.is_executable else 0
    digest = now.sha256
    if path.endswith(".pyc") and "/__pycache__/" in path:  # half of all, and none of it vital
        return Entry(path, flags | BYTECODE, now.size, now.mtime_ns, digest, owned.owner)
    flags |= _vital(path)
    if is_note(path):
        flags |= NOTE
    elif relocate.is_listing(path):
        flags |= LISTING
        digest = _sha256(relocate.listing((root / path).read_bytes()))
    elif relocate.may_name_its_folder(path):
        form = relocate.general((root / path).read_bytes(), root)
        if form is not None:
            flags |= PLACED
            digest = _sha256(form)
    is_plain = not flags & (NOTE | LISTING | PLACED)
    if is_plain and owned.sha256 not in (None, digest):
        flags |= SUSPECT
    return Entry(path, flags, now.size, now.mtime_ns, digest, owned.owner)


def walk(root: Path, *, with_sizes: bool = True, past_locked: bool = False) -> dict[str, Seen]:
    """Return every file and link of the runtime folder `root`, by its path in it.

    Without sizes it asks nothing about each file, which takes half the time; they are 0 then.
    `past_locked` passes over folders that may not be read; otherwise they are a PermissionError.
    """
    seen: dict[str, Seen] = {}
    left = [tree for tree in (TREE, LIBRARIES) if Path(root, tree).is_dir()]
    while left:
        inside = left.pop()
        if past_locked and not os.access(f"{root}/{inside}", os.R_OK | os.X_OK):
            continue
        with os.scandir(f"{root}/{inside}") as found:
            for item in found:
                path = f"{inside}/{item.name}"
                if item.is_symlink():
                    seen[path] = Seen(0, str(Path(item.path).readlink()))
                elif item.is_dir():
                    left.append(path)
                else:
                    seen[path] = _seen(item) if with_sizes else Seen(0, None)
    return seen


def _seen(item: "os.DirEntry[str]") -> Seen:
    found = item.stat(follow_symlinks=False)
    return Seen(found.st_size, None, found.st_ino, found.st_mtime_ns)


def ownership(root: Path, seen: dict[str, Seen]) -> tuple[list[str], dict[str, Owned]]:
    """Return the distributions in `root`, and for each of their files what they say of it."""
    owners: list[str] = []
    owned: dict[str, Owned] = {}
    for found in distributions(root, seen):
        owners.append(found.owner)
        for path, digest in found.files:
            if path in seen:
                owned[path] = Owned(len(owners), digest)
    return owners, owned


def distributions(root: Path, seen: Iterable[str]) -> Iterator[Distribution]:
    """Yield the installed distributions with what their lists name, there or not."""
    for record in sorted(path for path in seen if owner_of(path) is not None):
        named = _RECORD.fullmatch(record)
        owner = owner_of(record)
        assert named is not None
        assert owner is not None
        with (root / record).open(encoding="utf-8", errors="replace", newline="") as file:
            files = [
                (
                    posixpath.normpath(f"{named[1]}/{row[0]}"),
                    _recorded(row[1]) if len(row) > 1 else None,
                )
                for row in csv.reader(file)
                if row
            ]
        yield Distribution(owner, files)


def owner_of(record: str) -> str | None:
    """Return the distribution, `name==version`, whose RECORD has this path; None: it is none."""
    named = _RECORD.fullmatch(record) if record.endswith("/RECORD") else None
    return f"{named[2]}=={named[3]}" if named is not None else None


def is_note(path: str) -> bool:
    """Tell whether a file is uv's own note, whose content does not matter."""
    return _NOTES.fullmatch(path) is not None


def is_known(read: Read | None, found: Seen) -> bool:
    """Tell whether what was read of a file holds for what is there now."""
    if read is None or found.link is not None:
        return False
    now = (found.inode, found.size, found.mtime_ns)
    return now == (read.inode, read.hashed.size, read.hashed.mtime_ns)


def _recorded(text: str) -> bytes | None:
    kind, _equals, value = text.partition("=")
    if kind != "sha256":
        return None
    try:
        return base64.urlsafe_b64decode(value + "=" * (-len(value) % 4))
    except (binascii.Error, ValueError):
        return None


def _vital(path: str) -> int:
    return VITAL if _VITAL.fullmatch(path) else 0


def _is_text(path: str) -> bool:
    """Tell whether a name is valid UTF-8: no package has others, a manifest cannot hold them."""
    return path.isascii() or os.fsencode(path).decode("utf-8", "replace") == path


def _sha256(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()
