"""Git objects out of what a person has put into a folder: a clone, a bundle, an archive.

    a folder            a clone, bare or with its files
    *.bundle · *.pack   what `git bundle create` and `weir runtime series --to` write
    *.tar* · *.tgz      an archive of a clone; or of files, where the recipe has the tree

Nothing is unpacked to the disk. That a file is what it says is found by whoever looks an object up
by its name.
"""

import re
import tarfile
import zlib
from pathlib import Path, PurePosixPath

import msgspec

from studio.runtimes.upstream import pack
from studio.runtimes.upstream.objects import (
    BadObject,
    GitObject,
    mode_of,
    name_of,
    trees_of,
)

_LOOSE = re.compile(r"(?:^|/)objects/[0-9a-f]{2}/[0-9a-f]{38}$")
_PACK = re.compile(r"(?:^|/)objects/pack/pack-[0-9a-f]+\.pack$")
_HEAD = re.compile(rb"(commit|tree|blob|tag) (\d+)\0")
_MOST_LOOSE_BYTES = 64 * 1024 * 1024
_MOST_FILES = 50_000
_ARCHIVES = (".tar", ".tgz", ".tar.gz", ".tar.xz", ".tar.bz2")


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """What a place holds."""

    objects: dict[str, GitObject]
    trees: frozenset[str] = frozenset()
    """Roots of archives that hold files alone: they prove a tree, not a commit."""


def is_clone(path: Path) -> bool:
    """Tell whether a folder is a clone."""
    return _git_folder(path) is not None


def read(path: Path) -> Found | None:
    """Return the objects of a clone, bundle, pack or archive; None when it is none of these.

    Raises: BadObject, OSError.
    """
    if path.is_dir():
        folder = _git_folder(path)
        return None if folder is None else _clone(folder)
    if path.suffix == ".pack":
        return Found(objects=pack.read_pack(path.read_bytes()))
    if path.suffix == ".bundle":
        return Found(objects=pack.read_bundle(path.read_bytes()))
    if path.name.endswith(_ARCHIVES):
        return _archive(path)
    return None


def _git_folder(path: Path) -> Path | None:
    for folder in (path / ".git", path):
        if (folder / "HEAD").is_file() and (folder / "objects").is_dir():
            return folder
    return None


def _clone(folder: Path) -> Found:
    objects: dict[str, GitObject] = {}
    for path in sorted((folder / "objects").rglob("*")):
        where = path.relative_to(folder).as_posix()
        if _PACK.search(where):
            objects |= pack.read_pack(path.read_bytes())
        elif _LOOSE.search(where):
            objects |= _loose(path.read_bytes())
    return Found(objects=objects)


def _loose(data: bytes) -> dict[str, GitObject]:
    """Return an object that lies in a file of its own; one that cannot be read is not there."""
    try:
        whole = zlib.decompressobj().decompress(data, _MOST_LOOSE_BYTES)
    except zlib.error:
        return {}
    head = _HEAD.match(whole)
    if head is None or len(whole) - head.end() != int(head[2]):
        return {}
    one = GitObject(kind=head[1].decode(), data=whole[head.end() :])
    return {name_of(one.kind, one.data): one}


def _archive(path: Path) -> Found:
    objects: dict[str, GitObject] = {}
    files: dict[str, tuple[int, bytes]] = {}
    left = pack.MOST_BYTES
    try:
        with tarfile.open(path, "r:*") as tar:
            for number, member in enumerate(tar):
                left -= member.size
                if left < 0 or number > _MOST_FILES:
                    raise BadObject("it unpacks to more than any series has")
                _member(tar, member, objects, files)
    except (tarfile.TarError, EOFError, zlib.error) as error:
        raise BadObject(f"it is no whole archive: {error}") from error
    if objects or not files:
        return Found(objects=objects)
    tree, made = trees_of(files)
    return Found(objects=made, trees=frozenset([tree]))


def _member(
    tar: tarfile.TarFile,
    member: tarfile.TarInfo,
    objects: dict[str, GitObject],
    files: dict[str, tuple[int, bytes]],
) -> None:
    if member.issym():
        data = member.linkname.encode("utf-8", "surrogateescape")
    elif member.isfile():
        stream = tar.extractfile(member)
        assert stream is not None
        data = stream.read()
    else:
        return
    if _PACK.search(member.name):
        objects |= pack.read_pack(data)
    elif _LOOSE.search(member.name):
        objects |= _loose(data)
    else:
        # An archive of files has one folder around them all.
        inside = PurePosixPath(member.name).parts[1:]
        if inside and ".." not in inside:
            mode = mode_of(is_executable=bool(member.mode & 0o100), is_link=member.issym())
            files["/".join(inside)] = (mode, data)
