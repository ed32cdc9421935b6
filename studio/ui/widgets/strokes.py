"""Many points as one shape of Qt's, without an object of Python's for each of them.

Columns of numbers are packed into the bytes of Qt's own stream format and read by Qt: a third of
the time that a list of `QPointF` or `QLineF` takes to be made and taken apart again (measured).
"""

import functools
import struct
from collections.abc import Sequence

from PySide6.QtCore import QByteArray, QDataStream
from PySide6.QtGui import QPainterPath, QPolygonF

_VERSION = QDataStream.Version.Qt_6_0
_MOVE, _LINE = 0, 1
"""`QPainterPath::ElementType`."""


def polyline(xs: Sequence[float], ys: Sequence[float]) -> QPolygonF:
    """Return the points of a line.

    Source: Qt 6, "Serializing Qt Data Types": a count in 32 bits, then x and y of each as doubles.
    """
    count = len(xs)
    flat = [0.0] * (2 * count)
    flat[::2], flat[1::2] = xs, ys
    shape = QPolygonF()
    _stream(struct.pack(f">I{2 * count}d", count, *flat)) >> shape
    return shape


def uprights(xs: Sequence[float], lows: Sequence[float], highs: Sequence[float]) -> QPainterPath:
    """Return an upright stroke for each column, from its low to its high.

    Source: Qt 6.11, gui/painting/qpainterpath.cpp, `operator<<`: a count, then kind, x and y of
    each element, then where the last part begins and how it is filled.
    """
    count = len(xs)
    flat: list[float] = [_MOVE, 0.0, 0.0, _LINE, 0.0, 0.0] * count
    flat[1::6], flat[2::6] = xs, lows
    flat[4::6], flat[5::6] = xs, highs
    shape = QPainterPath()
    _stream(_packer(2 * count).pack(2 * count, *flat, max(0, 2 * count - 2), 0)) >> shape
    return shape


@functools.lru_cache(maxsize=64)
def _packer(count: int) -> struct.Struct:
    """Return what packs so many elements; reading its own long format takes as long as packing."""
    return struct.Struct(f">i{'idd' * count}ii")


def _stream(packed: bytes) -> QDataStream:
    stream = QDataStream(QByteArray(packed))
    stream.setVersion(_VERSION)
    return stream
