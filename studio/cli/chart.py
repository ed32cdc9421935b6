"""A small chart of text: one series over time, with its scale. Pure.

A gap is blank and a known zero is a line at the foot: they never look alike.
"""

import itertools
import math
from collections.abc import Callable, Sequence

BLOCKS = " ▁▂▃▄▅▆▇█"
PLAIN = " ..::||##"
"""The same for terminals that have no blocks."""

Point = tuple[float, float | None, float | None, float | None]
"""Begin, smallest, mean and largest value; None is a gap."""


def chart(
    points: Sequence[Point],
    *,
    since: float,
    until: float,
    width: int,
    height: int,
    label: Callable[[float], str],
    marks: str = BLOCKS,
) -> list[str]:
    """Return the rows of a chart, the topmost first, each with its label at the left.

    A column shows the largest value of its stretch, since a peak is what people look for.
    """
    columns = _columns(points, since, until, width)
    known = [value for value in columns if value is not None]
    if not known:
        return []
    low, high = min(0.0, *known), max(known)
    top = label(high)
    if high <= low:
        high, top = low + 1, ""
    texts = [top, *[""] * (height - 2), label(low)]
    size = max(len(text) for text in texts)
    rows = []
    for row, text in enumerate(texts):
        line = "".join(
            _mark(value, low, high, height - 1 - row, height, marks) for value in columns
        )
        rows.append(f"{text.rjust(size)} {line}".rstrip())
    return rows


def _columns(points: Sequence[Point], since: float, until: float, width: int) -> list[float | None]:
    """Return the largest value of each column; None where nothing is known."""
    columns: list[float | None] = [None] * width
    span = max(until - since, 1e-9)
    step = max(_step(points), span / width)
    for at, _low, _mean, high in points:
        if high is None:
            continue
        first = int((at - since) / span * width)
        last = math.ceil((at + step - since) / span * width)
        for column in range(max(0, first), min(width, max(first + 1, last))):
            before = columns[column]
            columns[column] = high if before is None else max(before, high)
    return columns


def _step(points: Sequence[Point]) -> float:
    """Return how far points are apart: less than that is no gap."""
    gaps = [b[0] - a[0] for a, b in itertools.pairwise(points)]
    return min(gaps, default=0.0)


def _mark(value: float | None, low: float, high: float, row: int, height: int, marks: str) -> str:
    if value is None:
        return marks[0]
    most = len(marks) - 1
    filled = round((value - low) / (high - low) * height * most)
    filled = max(filled, 1)  # a known value always shows
    return marks[max(0, min(most, filled - row * most))]
