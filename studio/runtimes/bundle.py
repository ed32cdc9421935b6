"""The form of a runtime in one file: an index that is signed, then exactly what it lists.

    gzip blocks (host/blocks.py) of a tar archive with these members, in this order:
    weir-bundle.json     what it is, and every member that follows: path, mode, size, sha256
    weir-bundle.sig      who signed the index
    recipe/…             the catalogue's folder of the runtime: recipe, lock, patches
    runtime/…            the runtime's folder: python/, lib/, records

Any tar lists and unpacks it. The Studio itself reads no member header: it knows from the signed
index what each must be, byte for byte, and takes nothing else.
"""

import itertools
import re
import tarfile
from collections.abc import Iterable
from pathlib import PurePosixPath

import msgspec

from studio.domain.errors import BadInput, Damaged
from studio.domain.manifests import InstalledRuntime, RuntimeRecipe
from studio.runtimes.folder import RECORD_FILE

INDEX = "weir-bundle.json"
SIGNATURE = "weir-bundle.sig"
RUNTIME = "runtime/"
RECIPE = "recipe/"
PURPOSE = b"weir runtime bundle 1"
SUFFIX = ".weir.tar.gz"
SCHEMA_VERSION = 1

ORIGIN_FILE = "import.json"
"""In the folder of an imported runtime: where it came from. Never part of a bundle."""
_WRITTEN_HERE = frozenset((RUNTIME + RECORD_FILE, RUNTIME + ORIGIN_FILE))
"""A record makes a folder an installation; it is written last and by nobody else."""

TAR_BLOCK = 512
END = bytes(2 * TAR_BLOCK)
"""How a tar archive ends."""
_INDEX_LIMIT_BYTES = 64 << 20
_SIGNATURE_LIMIT_BYTES = 64 << 10
_MOST_ITEMS = 500_000
_MODES = (0o644, 0o755)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,127}")
_ID = re.compile(r"[0-9a-f]{64}")


class Item(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One file or link; `link` is what a link points to, None for a file."""

    path: str
    mode: int
    size: int
    mtime_ns: int
    sha256: bytes
    link: str | None = None


class Index(msgspec.Struct, frozen=True, kw_only=True):
    """`weir-bundle.json`. Its parts are equal for equal runtimes: no time, no name of a person."""

    schema_version: int = SCHEMA_VERSION
    platform: str
    glibc: str | None = None
    """The oldest C library that what is inside runs with; None: not known."""
    root: str
    """The folder in which the runtime lay: scripts inside name it."""
    record: InstalledRuntime
    recipe: RuntimeRecipe
    items: tuple[Item, ...]

    @property
    def bytes(self) -> int:
        """Return how many bytes the files have."""
        return sum(item.size for item in self.items)


class Signature(msgspec.Struct, frozen=True, kw_only=True):
    """`weir-bundle.sig`."""

    public_key: str
    """64 hex digits."""
    signature: str
    """128 hex digits, over PURPOSE, a zero byte, and the index as it is written."""


class _Version(msgspec.Struct, frozen=True, kw_only=True):
    schema_version: int


def header(path: str, size: int, *, mode: int = 0o644, mtime_s: int = 0, link: str | None) -> bytes:
    """Return the tar header of a member, long names included; nobody owns it."""
    info = tarfile.TarInfo(path)
    info.size, info.mode, info.mtime = size, mode, max(0, mtime_s)
    if link is not None:
        info.type, info.linkname = tarfile.SYMTYPE, link
    return info.tobuf(tarfile.GNU_FORMAT, "utf-8", "strict")


def header_of(item: Item) -> bytes:
    """Return the tar header of an item of the index."""
    return header(
        item.path, item.size, mode=item.mode, mtime_s=item.mtime_ns // 10**9, link=item.link
    )


def padding(size: int) -> bytes:
    """Return the zeros that fill the last block of a member."""
    return bytes(-size % TAR_BLOCK)


def first_size(head: bytes, name: str, what: str) -> int:
    """Return the size that the header of one of the two unlisted members says.

    Raises: Damaged (`bundle-damaged`).
    """
    limit = _INDEX_LIMIT_BYTES if name == INDEX else _SIGNATURE_LIMIT_BYTES
    try:
        size = tarfile.TarInfo.frombuf(head, "utf-8", "strict").size
    except (tarfile.TarError, UnicodeDecodeError) as error:
        raise damaged(what, f"it does not begin with {INDEX}") from error
    if not 0 < size <= limit or header(name, size, link=None) != head:
        raise damaged(what, f"{name} is not where it should be, or larger than {limit} bytes")
    return size


def decode(raw: bytes, what: str) -> Index:
    """Return a signed index, checked by `require_sound`.

    Raises: BadInput (`bundle-newer`), Damaged (`bundle-damaged`, `archive-unsafe`).
    """
    try:
        version = msgspec.json.decode(raw, type=_Version).schema_version
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise damaged(what, f"its index cannot be read ({error})") from error
    try:
        index = msgspec.json.decode(raw, type=Index)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _newer(what, str(error)) from error
    if version != SCHEMA_VERSION:
        raise _newer(what, f"its form is number {version}, this one knows {SCHEMA_VERSION}")
    require_sound(index, what)
    return index


def require_sound(index: Index, what: str) -> None:
    """Refuse an index that would write outside its folder or say one thing twice.

    A trusted signer may have been deceived, or may deceive. Links are resolved without the disk.

    Raises: Damaged (`archive-unsafe`).
    """
    record = index.record
    if not _NAME.fullmatch(record.name) or not _ID.fullmatch(record.runtime_id):
        raise _unsafe(what, record.name, "is no runtime's name, or its id is none")
    if record.name != index.recipe.name:
        raise _unsafe(what, record.name, f"is not what its recipe is for ({index.recipe.name})")
    if not index.root.startswith("/") or "\0" in index.root:
        raise _unsafe(what, index.root, "is no folder that a runtime lay in")
    if len(index.items) > _MOST_ITEMS:
        raise _unsafe(what, index.items[_MOST_ITEMS].path, f"is file number {_MOST_ITEMS + 1}")
    leaves: set[str] = set()
    folders: set[str] = set()
    for item in index.items:
        _require_form(item, what)
        if item.path in leaves:
            raise _unsafe(what, item.path, "is there twice")
        leaves.add(item.path)
        folders.update(map(str, PurePosixPath(item.path).parents))
    both = min(leaves & folders, default=None)
    if both is not None:
        raise _unsafe(what, both, "is a file or a link, and something lies below it")
    if f"{RUNTIME}{record.python}" not in leaves:
        raise _unsafe(what, record.python, "is missing, and it is the interpreter")


def _require_form(item: Item, what: str) -> None:
    parts = item.path.split("/")
    is_ours = item.path.startswith((RUNTIME, RECIPE))
    if not is_ours or not all(_is_plain(part) for part in parts):
        raise _unsafe(what, item.path, "is no path inside the runtime")
    if item.path in _WRITTEN_HERE:
        raise _unsafe(what, item.path, "is a record that is written here")
    if item.mode not in _MODES or item.size < 0 or abs(item.mtime_ns) >= 1 << 62:
        raise _unsafe(what, item.path, "has a mode, size or time that no file has")
    if item.link is None:
        if len(item.sha256) != 32:
            raise _unsafe(what, item.path, "has no sha256")
        return
    if item.size or item.sha256 or not _stays_inside(parts, item.link):
        raise _unsafe(what, item.path, f"is a link to {item.link!r}, outside the runtime")


def _is_plain(part: str) -> bool:
    is_name = part not in ("", ".", "..") and len(part.encode("utf-8", "replace")) <= 255
    return is_name and "\\" not in part and part.isprintable()


def _stays_inside(parts: list[str], link: str) -> bool:
    """Tell whether a link leads to a place inside, whatever the links on its way are.

    So `..` stands at its beginning only: after the name of another link it would lead elsewhere.
    """
    target = [part for part in link.split("/") if part != "."]
    up = len(list(itertools.takewhile(lambda part: part == "..", target)))
    below = len(parts) - 1  # the folder of the link, `runtime` included
    return (
        bool(target)
        and up < below
        and all(_is_plain(part) for part in target[up:])
        and parts[0] == RUNTIME[:-1]
    )


def ordered(items: Iterable[Item]) -> tuple[Item, ...]:
    """Return items in the order of a bundle, which depends on their paths alone."""
    return tuple(sorted(items, key=lambda item: (item.path.startswith(RUNTIME), item.path)))


def damaged(what: str, reason: str) -> Damaged:
    """Return the error about a file that is not a whole bundle."""
    return Damaged(
        "bundle-damaged",
        f"{what} is not a whole runtime of the Studio: {reason}.",
        hint="Copy it again from the machine that made it, and compare its sha256.",
    )


def _newer(what: str, reason: str) -> BadInput:
    return BadInput(
        "bundle-newer",
        f"{what} was written by another version of the Studio: {reason.rstrip('.')}.",
        hint="Bring both machines to the same version of the Studio.",
    )


def _unsafe(what: str, path: str, reason: str) -> Damaged:
    shown = path.encode("utf-8", "replace").decode()
    return Damaged(
        "archive-unsafe",
        f"{what} is not unpacked: {shown!r} {reason}.",
        hint="Do not use it, and tell whoever signed it.",
    )
