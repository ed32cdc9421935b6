"""Git's objects: named by their content, and read from a commit down to the bytes of a file. Pure.

SHA-1 is git's choice, not ours. That two files can be made to share a digest helps nobody against
a pinned commit: both would have to be made before the commit was.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

import msgspec

COMMIT = "commit"
TREE = "tree"
BLOB = "blob"
TAG = "tag"
_FOLDER = 0o040000
_LINK = 0o120000
_SUBMODULE = 0o160000
_EXECUTABLE = 0o100755
_PLAIN = 0o100644
_ID_BYTES = 20
_TREE_LINE = re.compile(rb"tree ([0-9a-f]{40})\n")


class GitObject(msgspec.Struct, frozen=True, kw_only=True):
    """One object; its name is `name_of(kind, data)` and nothing else."""

    kind: str
    data: bytes


Objects = Mapping[str, GitObject]


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One line of a tree."""

    mode: int
    id: str

    @property
    def is_folder(self) -> bool:
        """Tell whether it names another tree."""
        return self.mode == _FOLDER


class File(msgspec.Struct, frozen=True, kw_only=True):
    """A file at a commit."""

    data: bytes
    is_executable: bool = False


class MissingObject(Exception):
    """An object that a tree names is not among those at hand."""

    def __init__(self, name: str, path: str) -> None:
        super().__init__(f"{path or 'the commit'} ({name})")
        self.name = name
        self.path = path


class BadObject(Exception):
    """An object that is not what its place asks for."""


def name_of(kind: str, data: bytes) -> str:
    """Return an object's name: SHA-1 over kind, length and content (git, gitformat-pack)."""
    digest = hashlib.sha1(f"{kind} {len(data)}\0".encode(), usedforsecurity=False)
    digest.update(data)
    return digest.hexdigest()


def root_tree(objects: Objects, commit: str) -> str:
    """Return the name of a commit's tree.

    Raises: MissingObject, BadObject.
    """
    found = _TREE_LINE.match(_take(objects, commit, COMMIT, ""))
    if found is None:
        raise BadObject(f"the commit {commit} names no tree")
    return found[1].decode()


def entries(data: bytes) -> dict[str, Entry]:
    """Return the lines of a tree by name.

    Raises: BadObject.
    """
    found = {}
    at = 0
    while at < len(data):
        end = data.find(b"\0", at)
        mode, _, name = data[at:end].partition(b" ")
        digest = data[end + 1 : end + 1 + _ID_BYTES]
        if end < 0 or not name or len(digest) != _ID_BYTES or not mode.isdigit():
            raise BadObject("a tree cannot be read")
        found[name.decode("utf-8", "surrogateescape")] = Entry(mode=int(mode, 8), id=digest.hex())
        at = end + 1 + _ID_BYTES
    return found


def entry_at(objects: Objects, tree: str, path: str) -> Entry | None:
    """Return what lies at `path` (empty or `.`: the root), or None when nothing does.

    Raises: MissingObject, BadObject.
    """
    here = Entry(mode=_FOLDER, id=tree)
    passed = PurePosixPath()
    for part in PurePosixPath(path).parts:
        if not here.is_folder:
            return None
        found = entries(_take(objects, here.id, TREE, str(passed))).get(part)
        if found is None:
            return None
        here, passed = found, passed / part
    return here


def walk(objects: Objects, entry: Entry, path: str = "") -> Iterator[tuple[str, Entry]]:
    """Yield every file below a folder with its path, in git's order; of a file, itself.

    Raises: MissingObject, BadObject.
    """
    if not entry.is_folder:
        yield path, entry
        return
    for name, one in entries(_take(objects, entry.id, TREE, path)).items():
        if name in ("", ".", "..", ".git") or "/" in name:
            raise BadObject(f"a tree holds the name {name!r}")
        yield from walk(objects, one, f"{path}/{name}" if path else name)


def read(objects: Objects, entry: Entry, path: str) -> File:
    """Return a file's content.

    Raises: MissingObject, BadObject (also for links and submodules, which no series needs).
    """
    if entry.mode in (_LINK, _SUBMODULE):
        kind = "link" if entry.mode == _LINK else "submodule"
        raise BadObject(f"{path} is a {kind}, not a file")
    return File(data=_take(objects, entry.id, BLOB, path), is_executable=entry.mode == _EXECUTABLE)


def names_below(objects: Objects, tree: str, path: str) -> Iterator[str]:
    """Yield the names of all objects from the root down to the files under `path`.

    Raises: MissingObject, BadObject.
    """
    here = Entry(mode=_FOLDER, id=tree)
    yield here.id
    passed = PurePosixPath()
    for part in PurePosixPath(path).parts:
        found = entries(_take(objects, here.id, TREE, str(passed))).get(part)
        if found is None:
            return
        here, passed = found, passed / part
        yield here.id
    yield from _below(objects, here, path)


def _below(objects: Objects, entry: Entry, path: str) -> Iterator[str]:
    if not entry.is_folder:
        return
    for name, one in entries(_take(objects, entry.id, TREE, path)).items():
        if one.mode != _SUBMODULE:
            yield one.id
            yield from _below(objects, one, f"{path}/{name}")


def trees_of(files: Mapping[str, tuple[int, bytes]]) -> tuple[str, dict[str, GitObject]]:
    """Return the name of the tree that files (path to mode and content) make, and all its objects.

    Git sorts a folder as if its name ended in a slash (git, base_name_compare).

    Raises: BadObject, when a name is both a file and a folder.
    """
    here: dict[str, tuple[int, bytes]] = {}
    below: dict[str, dict[str, tuple[int, bytes]]] = {}
    for path, file in files.items():
        first, _, rest = path.partition("/")
        if rest:
            below.setdefault(first, {})[rest] = file
        else:
            here[first] = file
    if here.keys() & below.keys():
        raise BadObject("a name is both a file and a folder")
    made: dict[str, GitObject] = {}
    lines = []
    for name, (mode, data) in here.items():
        lines.append((name, mode, _add(made, BLOB, data)))
    for name, inside in below.items():
        tree, objects = trees_of(inside)
        made |= objects
        lines.append((name, _FOLDER, tree))
    lines.sort(key=lambda line: _bytes(line[0]) + (b"/" if line[1] == _FOLDER else b""))
    whole = b"".join(
        f"{mode:o} ".encode() + _bytes(name) + b"\0" + bytes.fromhex(one)
        for name, mode, one in lines
    )
    return _add(made, TREE, whole), made


def _add(made: dict[str, GitObject], kind: str, data: bytes) -> str:
    name = name_of(kind, data)
    made[name] = GitObject(kind=kind, data=data)
    return name


def mode_of(*, is_executable: bool, is_link: bool) -> int:
    """Return git's mode of a file: it knows no other bits."""
    if is_link:
        return _LINK
    return _EXECUTABLE if is_executable else _PLAIN


def _take(objects: Objects, name: str, kind: str, path: str) -> bytes:
    found = objects.get(name)
    if found is None:
        raise MissingObject(name, path)
    if found.kind != kind:
        raise BadObject(f"{path or name} is a {found.kind}, not a {kind}")
    return found.data


def _bytes(name: str) -> bytes:
    return name.encode("utf-8", "surrogateescape")
