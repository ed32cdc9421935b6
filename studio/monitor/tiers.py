"""How finely the past is kept, and how values become stretches and blocks of bytes. Pure.

A stretch is the smallest, the mean and the largest value of a series over some seconds, and how
many readings it is made of, so that means of means are exact. Stretches of one series lie in blocks
(columns, bytes of equal weight together, deflated): what stands still costs next to nothing.
"""

import array
import math
import struct
import sys
import zlib
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple


class Tier(NamedTuple):
    """One resolution; seconds."""

    step_s: int
    block_s: int
    """What one block spans."""
    blocks: int
    """How many blocks of a series are kept, the newest ones; the open one comes on top."""

    @property
    def slots(self) -> int:
        """Return how many stretches a block has."""
        return self.block_s // self.step_s

    @property
    def kept_s(self) -> int:
        """Return how far back it certainly reaches while the service runs without a break."""
        return self.block_s * self.blocks


_DAY_S = 86_400
TIERS = (
    Tier(1, 600, 6),
    Tier(10, 3_600, 24),
    Tier(60, _DAY_S, 400),
    # For questions about months: made of the ones before, so that an answer never reads much.
    Tier(600, 10 * _DAY_S, 40),
    Tier(3_600, 50 * _DAY_S, 8),
    Tier(21_600, 400 * _DAY_S, 1),
)
MOST_SERIES = 256
_MOST_COUNT = 65_535


class Stretch(NamedTuple):
    """One series over some seconds."""

    low: float
    mean: float
    high: float
    readings: int


_ENTRY = struct.Struct("<HfffH")
_NUMBER = struct.Struct("<H")
Values = Mapping[int, Stretch]
"""The stretches of one moment, by the number of their series."""


def pack_row(values: Values) -> bytes:
    """Return the stretches of one moment as bytes."""
    return b"".join(_ENTRY.pack(series, *_bounded(one)) for series, one in values.items())


def unpack_row(data: bytes) -> dict[int, Stretch]:
    """Return what `pack_row` wrote. Raises: struct.error."""
    return {series: Stretch(*rest) for series, *rest in _ENTRY.iter_unpack(data)}


def value_in_row(data: bytes, series: int, hint: int) -> tuple[Stretch | None, int]:
    """Return one series of what `pack_row` wrote, and its place: the hint for the next row.

    Rows beside one another are laid out alike, so that the others need not be read.
    """
    wanted = _NUMBER.pack(series)
    if data[hint : hint + 2] != wanted:
        places = range(0, len(data), _ENTRY.size)
        hint = next((place for place in places if data[place : place + 2] == wanted), -1)
    if hint < 0 or hint % _ENTRY.size:
        return None, 0
    return Stretch(*_ENTRY.unpack_from(data, hint)[1:]), hint


def merged(stretches: Iterable[Stretch]) -> Stretch | None:
    """Return one stretch for several; None for none."""
    low, high, total, count = math.inf, -math.inf, 0.0, 0
    for one in stretches:
        low, high = min(low, one.low), max(high, one.high)
        total += one.mean * one.readings
        count += one.readings
    if not count:
        return None
    # A mean of equal values must not leave their range by rounding.
    return Stretch(low, min(max(total / count, low), high), high, min(count, _MOST_COUNT))


def merged_rows(rows: Iterable[Values]) -> dict[int, Stretch]:
    """Return the stretches of several moments as those of one."""
    parts: dict[int, list[Stretch]] = {}
    for row in rows:
        for series, one in row.items():
            parts.setdefault(series, []).append(one)
    whole = {series: merged(some) for series, some in parts.items()}
    return {series: one for series, one in whole.items() if one is not None}


def pack_block(slots: Mapping[int, Stretch], size: int) -> bytes:
    """Return the stretches of one series, by slot, as one block of `size` slots."""
    floats = [array.array("f", bytes(4 * size)) for _ in range(3)]
    counts = array.array("H", bytes(2 * size))
    for slot, one in slots.items():
        low, mean, high, count = _bounded(one)
        floats[0][slot], floats[1][slot], floats[2][slot] = low, mean, high
        counts[slot] = count
    raw = [_little(column) for column in floats]
    shuffled = [column[byte::4] for byte in range(4) for column in raw]
    whole = _little(counts)
    return zlib.compress(b"".join((*shuffled, whole[0::2], whole[1::2])), 6)


def unpack_block(data: bytes, size: int) -> "Columns":
    """Return what `pack_block` wrote. Raises: ValueError when it cannot be that."""
    try:
        raw = zlib.decompress(data)
    except zlib.error as error:
        raise ValueError(f"a block cannot be inflated: {error}") from error
    if len(raw) != 14 * size:
        raise ValueError(f"a block has {len(raw)} bytes instead of {14 * size}")
    floats = []
    for column in range(3):
        whole = bytearray(4 * size)
        for byte in range(4):
            begin = (3 * byte + column) * size
            whole[byte::4] = raw[begin : begin + size]
        floats.append(array.array("f", _native(whole, 4)))
    halves = bytearray(2 * size)
    halves[0::2], halves[1::2] = raw[12 * size : 13 * size], raw[13 * size :]
    return Columns(floats[0], floats[1], floats[2], array.array("H", _native(halves, 2)))


class Columns(NamedTuple):
    """A block opened: the stretches of one series by slot; a count of 0 is a gap."""

    low: "array.array[float]"
    mean: "array.array[float]"
    high: "array.array[float]"
    readings: "array.array[int]"

    def stretches(self, begin: int, end: int) -> Iterator[tuple[int, Stretch]]:
        """Yield the known slots from `begin` to before `end`."""
        for slot in range(max(0, begin), min(end, len(self.readings))):
            count = self.readings[slot]
            if count:
                yield slot, Stretch(self.low[slot], self.mean[slot], self.high[slot], count)


def _little(column: "array.array[float] | array.array[int]") -> bytes:
    """Return a column as bytes, the lowest first."""
    if sys.byteorder == "big":
        column = column[:]
        column.byteswap()
    return column.tobytes()


def _native(raw: bytearray, width: int) -> bytes:
    """Return bytes, the lowest of each number first, as this machine wants them."""
    if sys.byteorder == "big":
        for byte in range(width // 2):
            other = width - 1 - byte
            raw[byte::width], raw[other::width] = raw[other::width], raw[byte::width]
    return bytes(raw)


_LARGEST = 3.4e38


def _bounded(one: Stretch) -> tuple[float, float, float, int]:
    """Return what four bytes a number can hold."""
    low, mean, high = (max(-_LARGEST, min(_LARGEST, value)) for value in one[:3])
    return low, mean, high, min(one.readings, _MOST_COUNT)
