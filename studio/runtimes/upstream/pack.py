"""Packs, git's way to send objects: read whole, every object named by its content; and written.

Format: git's gitformat-pack. An object is whole, or the difference to another one, which stands
before it in the pack or is named; one whose base is nowhere is left out (a bundle may lack what
its reader is supposed to have), and misses later only if something needs it. Pure.
"""

import hashlib
import struct
import zlib
from collections.abc import Iterable, Iterator

import msgspec

from studio.runtimes.upstream.objects import BLOB, COMMIT, TAG, TREE, BadObject, GitObject, name_of

MOST_BYTES = 512 * 1024 * 1024
"""Of all objects unpacked: a series is some 100 kB, a whole history tens of MB; no bomb's worth."""
_KINDS = {1: COMMIT, 2: TREE, 3: BLOB, 4: TAG}
_NUMBERS = {kind: number for number, kind in _KINDS.items()}
_BY_OFFSET, _BY_NAME = 6, 7
_HEADER = struct.Struct(">4sII")
_ID_BYTES = 20
_CHUNK = 4096
_BUNDLES = (b"# v2 git bundle\n", b"# v3 git bundle\n")


class _Raw(msgspec.Struct, frozen=True, kw_only=True):
    """An object as it stands in the pack."""

    kind: str | None
    """None: a difference."""
    base: int | str | None = None
    """The offset or the name of what it differs from."""
    data: bytes


def read_pack(data: bytes) -> dict[str, GitObject]:
    """Return every object of a pack by its name.

    Raises: BadObject.
    """
    if len(data) < _HEADER.size + _ID_BYTES:
        raise BadObject("the pack is cut short")
    magic, version, count = _HEADER.unpack_from(data)
    if magic != b"PACK" or version not in (2, 3):
        raise BadObject("it is no pack")
    try:
        return _resolved(dict(_raw_objects(data, count)))
    except (IndexError, zlib.error) as error:
        raise BadObject(f"the pack is damaged: {error}") from error


def read_bundle(data: bytes) -> dict[str, GitObject]:
    """Return every object of a bundle: a few lines of text, an empty one, and a pack.

    Raises: BadObject.
    """
    if not is_bundle(data):
        raise BadObject("it is no bundle")
    end = data.find(b"\n\n")
    if end < 0 or b"@object-format=sha256" in data[:end]:
        raise BadObject("its head cannot be read")
    return read_pack(data[end + 2 :])


def is_bundle(data: bytes) -> bool:
    """Tell whether a file begins like a bundle."""
    return data.startswith(_BUNDLES)


def bundle_bytes(commit: str, objects: Iterable[GitObject]) -> bytes:
    """Return a bundle of the given objects, equal for equal objects.

    It holds what a series needs and not a history, so it is read by the Studio and not by git.
    """
    whole = sorted(objects, key=lambda one: name_of(one.kind, one.data))
    head = _BUNDLES[0] + f"{commit} refs/heads/series\n\n".encode()
    return head + pack_bytes(whole)


def pack_bytes(objects: list[GitObject]) -> bytes:
    """Return a pack that holds each object whole."""
    parts = [_HEADER.pack(b"PACK", 2, len(objects))]
    for one in objects:
        parts += [_object_head(_NUMBERS[one.kind], len(one.data)), zlib.compress(one.data, 9)]
    body = b"".join(parts)
    return body + hashlib.sha1(body, usedforsecurity=False).digest()


def _object_head(number: int, length: int) -> bytes:
    first = (number << 4) | (length & 0x0F)
    rest = length >> 4
    head = bytearray()
    while rest:
        head.append(first | 0x80)
        first, rest = rest & 0x7F, rest >> 7
    head.append(first)
    return bytes(head)


def _raw_objects(data: bytes, count: int) -> Iterator[tuple[int, _Raw]]:
    at = _HEADER.size
    left = MOST_BYTES
    for _ in range(count):
        start = at
        first = data[at]
        length, shift, at = first & 0x0F, 4, at + 1
        more = first & 0x80
        while more:
            length |= (data[at] & 0x7F) << shift
            more, shift, at = data[at] & 0x80, shift + 7, at + 1
        base, at = _base(data, start, (first >> 4) & 0x07, at)
        left -= length
        if left < 0:
            raise BadObject(f"its objects exceed {MOST_BYTES} bytes")
        content, at = _inflate(data, at, length)
        yield start, _Raw(kind=_KINDS.get((first >> 4) & 0x07), base=base, data=content)


def _base(data: bytes, start: int, number: int, at: int) -> tuple[int | str | None, int]:
    """Return what an object differs from, and where its content begins."""
    if number == _BY_NAME:
        return data[at : at + _ID_BYTES].hex(), at + _ID_BYTES
    if number == _BY_OFFSET:
        back = data[at] & 0x7F
        while data[at] & 0x80:
            at += 1
            back = ((back + 1) << 7) | (data[at] & 0x7F)
        return start - back, at + 1
    if number not in _KINDS:
        raise BadObject(f"the pack holds an object of the unknown kind {number}")
    return None, at


def _inflate(data: bytes, at: int, length: int) -> tuple[bytes, int]:
    """Return an object's content and where it ends; fed piece by piece, for nothing says where."""
    engine = zlib.decompressobj()
    pieces = []
    total = 0
    while not engine.eof:
        chunk = data[at : at + _CHUNK]
        if not chunk:
            raise BadObject("the pack is cut short")
        piece = engine.decompress(chunk)
        total += len(piece)
        if total > length:
            break
        pieces.append(piece)
        at += len(chunk)
    if total != length:
        raise BadObject("an object of the pack has another length than it says")
    return b"".join(pieces), at - len(engine.unused_data)


def _resolved(raw: dict[int, _Raw]) -> dict[str, GitObject]:
    done: dict[int, GitObject] = {}
    named: dict[str, GitObject] = {}

    def keep(offset: int, one: GitObject) -> None:
        done[offset] = one
        named[name_of(one.kind, one.data)] = one

    waiting = {}
    left = MOST_BYTES
    for offset, one in raw.items():
        if one.kind is not None:
            keep(offset, GitObject(kind=one.kind, data=one.data))
            left -= len(one.data)
        else:
            waiting[offset] = one
    while waiting:
        solved = []
        for offset, one in waiting.items():
            base = done.get(one.base) if isinstance(one.base, int) else named.get(one.base or "")
            if base is not None:
                data = _changed(base.data, one.data, left)
                left -= len(data)
                keep(offset, GitObject(kind=base.kind, data=data))
                solved.append(offset)
        if not solved:
            break  # their bases are somewhere else
        for offset in solved:
            del waiting[offset]
    return named


def _changed(base: bytes, delta: bytes, most: int) -> bytes:
    """Return what a difference makes of its base."""
    expected_base, at = _number(delta, 0)
    length, at = _number(delta, at)
    if expected_base != len(base) or length > most:
        raise BadObject("a difference does not go with its base")
    parts = []
    total = 0
    while at < len(delta):
        order, at = delta[at], at + 1
        if order & 0x80:
            start, size, at = _span(delta, order, at)
            piece = base[start : start + size]
        elif order:
            piece, at = delta[at : at + order], at + order
        else:
            raise BadObject("a difference holds an unknown order")
        total += len(piece)
        if total > length:
            raise BadObject("a difference makes more than it says")
        parts.append(piece)
    if total != length:
        raise BadObject("a difference makes less than it says")
    return b"".join(parts)


def _number(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte, at = data[at], at + 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            return value, at


def _span(delta: bytes, order: int, at: int) -> tuple[int, int, int]:
    """Return start and size of a copy: of each only the bytes that are not zero are there."""
    values = [0, 0]
    for bit in range(7):
        if order & (1 << bit):
            which, place = (0, bit) if bit < 4 else (1, bit - 4)
            values[which] |= delta[at] << (8 * place)
            at += 1
    return values[0], values[1] or 0x10000, at
