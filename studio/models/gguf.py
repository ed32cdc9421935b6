"""The head of a GGUF file: its metadata and its list of tensors, read with every size bounded.

Versions 2 and 3. Numbers in a file are a stranger's claims: none of them makes us read, allocate or
count beyond the limits below, and a file that contradicts itself is damaged. The file is read, not
mapped, since one that is cut short meanwhile would end the whole process.
Source: ggml, `docs/gguf.md`.
"""

import math
import struct
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from studio.domain.errors import BadInput, Damaged, HostLacks, StudioError
from studio.domain.units import bytes_text
from studio.models.gguf_types import ARRAY, MIXTURES, STRING, TYPES, VALUE_BYTES, VALUE_FORMS

_MAGIC = b"GGUF"
_VERSIONS = (2, 3)
_HEAD_LIMIT_BYTES = 192 << 20
"""Vocabularies of 260,000 words with merges take 10 to 20 MB."""
_MOST_KEYS = 65_536
_MOST_TENSORS = 1 << 18
_MOST_SIDES = 8
_KEPT_TEXT = 512
_MOST_DEPTH = 4
_BLOCK = 1 << 20
_MOST_ELEMENTS = 1 << 50

Value = int | float | bool | str
Read = Callable[[int], bytes]


class GgufHead(msgspec.Struct, frozen=True, kw_only=True):
    """What a file says of itself."""

    values: dict[str, Value]
    """Single values and short texts; arrays are stepped over."""
    parameters: int
    types: dict[str, int]
    """Type of tensor to bytes."""
    tensors: int

    @property
    def architecture(self) -> str | None:
        """Return the engine's name for what it is."""
        return self._text("general.architecture")

    @property
    def context_tokens(self) -> int | None:
        """Return how long a text it was made for."""
        return self._number(f"{self.architecture}.context_length")

    @property
    def mixture(self) -> str | None:
        """Return how its weights are stored, as people say it: `Q4_K_M`."""
        number = self._number("general.file_type")
        named = MIXTURES.get(number & ~1024) if number is not None else None  # 1024: it was guessed
        return named or max(self.types, key=lambda name: self.types[name], default=None)

    @property
    def parts(self) -> int | None:
        """Return in how many files the model lies."""
        return self._number("split.count")

    def _text(self, key: str) -> str | None:
        value = self.values.get(key)
        return value if isinstance(value, str) and value.isprintable() else None

    def _number(self, key: str) -> int | None:
        value = self.values.get(key)
        return value if isinstance(value, int) and not isinstance(value, bool) else None


def read(path: Path) -> GgufHead:
    """Return the head of a file.

    Raises: Damaged (`weights-damaged`), BadInput (`gguf-version`), HostLacks (`not-readable`).
    """
    try:
        with path.open("rb", buffering=0) as file:
            return _Reader(path, file.read, path.stat().st_size).head()
    except OSError as error:
        raise HostLacks(
            "not-readable",
            f"{path} cannot be read: {error.strerror or error}.",
            hint="Check the file's owner and permissions.",
        ) from error


class _Reader:
    """Walks through the bytes of one head."""

    def __init__(self, path: Path, read: Read, size: int) -> None:
        self._path = path
        self._read = read
        self._size = size
        self._data = bytearray()
        self._at = 0

    def head(self) -> GgufHead:
        """Read all of it."""
        if self._take(4) != _MAGIC:
            raise self._damaged("it does not begin as a GGUF does")
        version = self._number("I")
        if version not in _VERSIONS:
            is_swapped = bool(version >> 16) and not version & 0xFFFF
            what = "the other byte order" if is_swapped else f"version {version}"
            raise BadInput(
                "gguf-version",
                f"{self._path} is a GGUF of {what}.",
                hint="Versions 2 and 3 are known, little-endian. Get a newer file of the model.",
            )
        tensors, keys = self._number("Q"), self._number("Q")
        if keys > _MOST_KEYS or tensors > _MOST_TENSORS:
            raise self._damaged(f"it claims {keys:,} keys and {tensors:,} tensors")
        values = dict(self._values(keys))
        return self._tensors(tensors, values)

    def _values(self, keys: int) -> Iterator[tuple[str, Value]]:
        for _ in range(keys):
            key = self._text()
            value = self._value(self._number("I"), 0)
            if value is not None:
                yield key, value

    def _value(self, kind: int, depth: int) -> Value | None:
        if kind == STRING:
            return self._text()
        if kind == ARRAY:
            self._step_over_array(depth)
            return None
        if kind not in VALUE_FORMS:
            raise self._damaged(f"it has a value of the unknown kind {kind}")
        found = struct.unpack(f"<{VALUE_FORMS[kind]}", self._take(VALUE_BYTES[kind]))[0]
        assert isinstance(found, int | float)
        return found

    def _step_over_array(self, depth: int) -> None:
        kind, count = self._number("I"), self._number("Q")
        if depth >= _MOST_DEPTH:
            raise self._damaged("it has arrays in arrays in arrays")
        if kind in VALUE_BYTES:
            self._need(count * VALUE_BYTES[kind])
            self._at += count * VALUE_BYTES[kind]
        elif kind == STRING:
            self._step_over_texts(count)
        elif kind == ARRAY:
            if count > _MOST_KEYS:
                raise self._damaged(f"it claims an array of {count:,} arrays")
            for _ in range(count):
                self._step_over_array(depth + 1)
        else:
            raise self._damaged(f"it has an array of the unknown kind {kind}")

    def _step_over_texts(self, count: int) -> None:
        """Step over texts; the one loop that runs hundreds of thousands of times."""
        if count * 8 > self._size:
            raise self._damaged(f"it claims {count:,} texts in {bytes_text(self._size)}")
        unpack, data, at, end = struct.Struct("<Q").unpack_from, self._data, self._at, 0
        for _ in range(count):
            if at + 8 > end:
                self._at = at
                self._need(8)
                end = len(data)
            at += 8 + unpack(data, at)[0]
            if at > self._size:
                raise self._damaged("a text in it is longer than the file")
            if at > end:
                self._at = at
                self._need(0)
                end = len(data)
        self._at = at

    def _tensors(self, tensors: int, values: dict[str, Value]) -> GgufHead:
        parameters = end = 0
        types: dict[str, int] = {}
        for _ in range(tensors):
            name = self._text()
            sides = self._number("I")
            if not 0 < sides <= _MOST_SIDES:
                raise self._damaged(f"the tensor {name[:80]!r} has {sides:,} dimensions")
            elements = math.prod(struct.unpack(f"<{sides}Q", self._take(8 * sides)))
            kind, offset = self._number("I"), self._number("Q")
            if elements > _MOST_ELEMENTS:
                raise self._damaged(f"the shape of {name[:80]!r} cannot be")
            parameters += elements
            known = TYPES.get(kind)
            size = elements // known.block * known.block_bytes if known is not None else 0
            label = known.name if known is not None else f"type {kind}"
            types[label] = types.get(label, 0) + (size or elements)
            end = max(end, offset + size)
        self._require_data(end, values)
        return GgufHead(values=values, parameters=parameters, types=types, tensors=tensors)

    def _require_data(self, end: int, values: dict[str, Value]) -> None:
        step = values.get("general.alignment", 32)
        if isinstance(step, bool) or not isinstance(step, int) or not 0 < step <= 1 << 20:
            raise self._damaged("its alignment cannot be")
        begin = -(-self._at // step) * step
        if end and begin + end > self._size:
            raise self._damaged(f"{bytes_text(begin + end - self._size)} are missing at its end")

    def _text(self) -> str:
        length = self._number("Q")
        self._need(length)
        data = bytes(self._data[self._at : self._at + min(length, _KEPT_TEXT)])
        self._at += length
        return data.decode("utf-8", "replace")

    def _number(self, form: str) -> int:
        found = struct.unpack(f"<{form}", self._take(struct.calcsize(form)))[0]
        assert isinstance(found, int)
        return found

    def _take(self, count: int) -> bytes:
        self._need(count)
        self._at += count
        return bytes(self._data[self._at - count : self._at])

    def _need(self, count: int) -> None:
        """Have `count` more bytes in memory."""
        wanted = self._at + count
        if wanted > self._size:
            raise self._damaged("its head is cut off")
        if wanted > _HEAD_LIMIT_BYTES:
            raise self._damaged(f"its head is longer than {bytes_text(_HEAD_LIMIT_BYTES)}")
        while len(self._data) < wanted:
            more = self._read(max(_BLOCK, min(wanted - len(self._data), 16 * _BLOCK)))
            if not more:
                raise self._damaged("its head is cut off")
            self._data += more

    def _damaged(self, why: str) -> StudioError:
        return Damaged(
            "weights-damaged",
            f"{self._path} is no whole GGUF: {why}.",
            hint="Fetch it again: its download was cut off, or it is a pointer to the file.",
        )
