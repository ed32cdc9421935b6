"""As many points of a line as a chart has pixels to show them, and no peak lost.

In every pixel column a known stretch keeps its lowest and its highest value, in the order of time;
its very first and last value stay as well. Work is done on whole slices, because a loop over
thousands of points in Python is slow.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from operator import itemgetter, neg
from typing import Any

from studio.ui.viewmodels.charts import Points

Stretch = tuple[tuple[float, float], ...]
"""Age in seconds and value, oldest first, without a gap."""

Values = tuple[Any, ...]
"""Values in the order of time; None is a gap, and none stands inside a stretch."""

DENSE = 2
"""Values that a column keeps at most; with fewer there is nothing to thin."""


def stretches(points: Points, span_s: float, width_px: int) -> tuple[Stretch, ...]:
    """Return the stretches between gaps that begin within `span_s`, thinned to `width_px` columns.

    A stretch of one value stands alone: no line would show it.
    """
    if not points or span_s <= 0:
        return ()
    ages, values = zip(*points, strict=True)
    columns_per_s = width_px / span_s
    first = bisect_left(ages, -span_s, key=neg)
    return tuple(
        tuple(zip(itemgetter(*places)(ages), itemgetter(*places)(values), strict=True))
        if len(places) > 1
        else ((ages[places[0]], values[places[0]]),)
        for begin, end in _known(values, first)
        for places in (_places(ages, values, begin, end, columns_per_s),)
    )


def _known(values: Values, first: int) -> Iterator[tuple[int, int]]:
    """Yield where known stretches begin and end, from place `first` on."""
    gaps: list[int] = []
    if None in values:
        gaps = [place for place, value in enumerate(values) if value is None and place >= first]
    begin = first
    for end in (*gaps, len(values)):
        if end > begin:
            yield begin, end
        begin = end + 1


def _places(
    ages: tuple[float, ...], values: Values, begin: int, end: int, columns_per_s: float
) -> list[int]:
    """Return the places of one known stretch that are drawn, oldest first."""
    reach = (ages[begin] - ages[end - 1]) * columns_per_s
    if end - begin <= DENSE * (reach + 1):
        return list(range(begin, end))
    places = {begin, end - 1}
    while begin < end:
        column = int(ages[begin] * columns_per_s)
        edge = bisect_right(ages, -column / columns_per_s, begin, end, key=neg)
        part = values[begin : max(begin + 1, edge)]
        places |= {begin + part.index(min(part)), begin + part.index(max(part))}
        begin += len(part)
    return sorted(places)
