"""Writes a runtime into one signed file: lists it, signs the list, packs what it lists.

The file grows under a name of its own and gets its right one when it is whole; what a kill leaves
of it is the business of `bundle_part`.
"""

import hashlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO, NamedTuple

import msgspec

from studio.domain.errors import BadInput, Busy, Damaged, HostLacks
from studio.host.blocks import BlockWriter
from studio.host.files import exclusive, from_os_error
from studio.host.hashing import Wanted, hash_files
from studio.host.progress import Progress
from studio.host.signing import Signer
from studio.runtimes import bundle, bundle_part
from studio.runtimes.bundle import Index, Item, Signature

_CHUNK = 1 << 20


class Content(NamedTuple):
    """Where the content of a member comes from: a file, or bytes that stand in for one."""

    place: Path
    data: bytes | None = None
    sha256: bytes | None = None
    """What the file is known to be; None: it is read to find out."""


class Written(NamedTuple):
    """The finished file."""

    file_bytes: int
    sha256: str


def listed(members: Mapping[str, Content]) -> tuple[Item, ...]:
    """Return the items for members by their path in the bundle; links are those on the disk.

    Raises: OSError; Damaged (`runtime-changed`) when a file is gone or none.
    """
    items = [_item(path, content) for path, content in members.items()]
    open_ones = [item for item in items if item.link is None and not item.sha256]
    wanted = [Wanted(str(members[item.path].place), item.size) for item in open_ones]
    read = dict(zip((item.path for item in open_ones), hash_files(wanted), strict=True))
    done = []
    for item in items:
        now = read.get(item.path)
        if item.path not in read:
            done.append(item)
        elif now is not None and now.sha256 is not None:
            done.append(msgspec.structs.replace(item, sha256=now.sha256, size=now.size))
        else:
            raise changed(members[item.path].place)
    return bundle.ordered(done)


def _item(path: str, content: Content) -> Item:
    try:
        now = content.place.lstat()
    except FileNotFoundError as error:
        raise changed(content.place) from error
    mode = 0o755 if now.st_mode & 0o100 else 0o644
    if content.data is not None:
        digest = hashlib.sha256(content.data).digest()
        return Item(path, mode, len(content.data), now.st_mtime_ns, digest)
    if content.place.is_symlink():
        return Item(path, 0o755, 0, now.st_mtime_ns, b"", str(content.place.readlink()))
    return Item(path, mode, now.st_size, now.st_mtime_ns, content.sha256 or b"")


def write(
    target: Path, index: Index, members: Mapping[str, Content], signer: Signer, progress: Progress
) -> Written:
    """Write the bundle `target`; progress is counted in bytes of the files inside.

    Raises: BadInput (`file-exists`), Busy (`export-running`), Damaged (`runtime-changed`),
    HostLacks (`disk-full`, `not-writable`).
    """
    partial = bundle_part.of(target)
    try:
        with exclusive(partial) as is_ours:
            if not is_ours:
                raise Busy(
                    "export-running",
                    f"Another process of the Studio writes {target}.",
                    hint="Wait until it is done, or choose another file.",
                )
            try:
                done = _write(partial, index, members, signer, progress)
                progress.add(0)  # the last moment at which it can be stopped
                refuse_existing(target)
                partial.replace(target)
            except BaseException:
                partial.unlink(missing_ok=True)
                raise
    except OSError as error:
        raise _not_written(error, target) from error
    return done


def refuse_existing(target: Path) -> None:
    """Refuse to write over a file. Raises: BadInput (`file-exists`)."""
    if os.path.lexists(target):
        raise BadInput(
            "file-exists",
            f"{target} exists already.",
            hint="Remove it, or name another file with `--to`.",
        )


def _write(
    partial: Path,
    index: Index,
    members: Mapping[str, Content],
    signer: Signer,
    progress: Progress,
) -> Written:
    with partial.open("wb") as file:
        digesting = _Digesting(file)
        with BlockWriter(digesting) as out:
            raw = msgspec.json.encode(index)
            signature = Signature(
                public_key=signer.public_key.hex(),
                signature=signer.sign(bundle.PURPOSE, raw).hex(),
            )
            for name, data in (
                (bundle.INDEX, raw),
                (bundle.SIGNATURE, msgspec.json.encode(signature)),
            ):
                out.write(bundle.header(name, len(data), link=None))
                out.write(data + bundle.padding(len(data)))
            for item in index.items:
                out.write(bundle.header_of(item))
                if item.link is None:
                    _write_content(out, item, members[item.path], progress)
                    out.write(bundle.padding(item.size))
            out.write(bundle.END)
        file.flush()
        os.fsync(file.fileno())
        return Written(file.tell(), digesting.digest.hexdigest())


def _write_content(out: BlockWriter, item: Item, content: Content, progress: Progress) -> None:
    """Write what the index promises and nothing else: the file may have changed since."""
    digest = hashlib.sha256()
    size = 0
    for chunk in _chunks(content, item.size):
        digest.update(chunk)
        size += len(chunk)
        out.write(chunk)
        progress.add(len(chunk))
    if size != item.size or digest.digest() != item.sha256:
        raise changed(content.place)


def _chunks(content: Content, most: int) -> Iterator[bytes]:
    if content.data is not None:
        yield content.data
        return
    with content.place.open("rb") as file:
        while most and (chunk := file.read(min(_CHUNK, most))):
            most -= len(chunk)
            yield chunk


class _Digesting:
    """A file that takes the sha256 of what is written to it; only to be written to."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.digest = hashlib.sha256()

    def write(self, data: bytes) -> int:
        """Write and count in."""
        self.digest.update(data)
        return self._file.write(data)


def changed(place: Path) -> Damaged:
    """Return the error about a file that is no longer what it was a moment ago."""
    return Damaged(
        "runtime-changed",
        f"{place} was changed while the runtime was exported.",
        hint="See what changes it, then run it again; `weir runtime verify --full` looks at all "
        "files.",
    )


def _not_written(error: OSError, target: Path) -> HostLacks:
    found = from_os_error(error, target)
    return HostLacks(
        found.code,
        found.message,
        hint="Name a file on another disk or in another folder with `--to`.",
        data=dict(found.data),
    )
