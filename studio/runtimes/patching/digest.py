"""One digest for many files: equal trees give equal digests on any machine.

sha256 over one record per file, sorted by path: executable bit, sha256 of the content, path. Owner,
time and the other mode bits do not count, since they differ between machines.
"""

import hashlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from studio.host.files import sha256_bytes, sha256_file
from studio.runtimes.patching.names import STAGING

_DERIVED = ("__pycache__",)


def tree_digest(tree: Path, paths: Iterable[str]) -> str:
    """Return the digest of the files at `paths` (relative); a file that is gone counts as gone."""
    digest = hashlib.sha256()
    for path in sorted(set(paths), key=os.fsencode):
        digest.update(_record(tree / path) + b" " + os.fsencode(path) + b"\0")
    return digest.hexdigest()


def whole_tree_digest(tree: Path) -> str:
    """Return the digest of every file in `tree` but bytecode, which is derived."""
    return tree_digest(tree, _all_files(tree))


def _all_files(tree: Path) -> Iterator[str]:
    for root, folders, names in os.walk(tree):
        folders[:] = [name for name in folders if name not in (*_DERIVED, STAGING)]
        links = [name for name in folders if Path(root, name).is_symlink()]
        for name in [*names, *links]:
            if not name.endswith(".pyc"):
                yield Path(root, name).relative_to(tree).as_posix()


def _record(path: Path) -> bytes:
    if path.is_symlink():
        return b"l " + sha256_bytes(os.fsencode(path.readlink())).encode()
    try:
        mode = path.stat().st_mode
        content = sha256_file(path)
    except (FileNotFoundError, NotADirectoryError):
        return b"-"
    return (b"x " if mode & 0o100 else b"f ") + content.encode()
