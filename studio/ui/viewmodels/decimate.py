"""As many points of a line as a chart has pixels to show them, and no peak lost.

In every pixel column a known stretch keeps its first, lowest, highest and last value (M4: Jugel et
al., "M4: A Visualization-Oriented Time Series Data Aggregation", VLDB 2014): the line then covers
the same pixels as with all points.
"""

from collections.abc import Iterator

from studio.ui.viewmodels.charts import Points

Stretch = tuple[tuple[float, float], ...]
"""Age in seconds and value, oldest first, without a gap."""

_KEPT = 4
"""Values that a column keeps at most."""


def stretches(points: Points, span_s: float, width_px: int) -> tuple[Stretch, ...]:
    """Return the stretches between gaps that begin within `span_s`, thinned to `width_px` columns.

    A stretch of one value stands alone: no line would show it.
    """
    columns_per_s = width_px / span_s if span_s > 0 else 0.0
    return tuple(_thinned(known, columns_per_s) for known in _known(points, span_s))


def _known(points: Points, span_s: float) -> Iterator[Stretch]:
    known: list[tuple[float, float]] = []
    for age_s, value in points:
        if value is None:
            if known:
                yield tuple(known)
            known = []
        elif age_s <= span_s:
            known.append((age_s, value))
    if known:
        yield tuple(known)


def _thinned(known: Stretch, columns_per_s: float) -> Stretch:
    reach = abs(known[0][0] - known[-1][0]) * columns_per_s
    if len(known) <= _KEPT * (reach + 1):
        return known
    kept: list[tuple[float, float]] = []
    begin, column = 0, int(known[0][0] * columns_per_s)
    for place, (age_s, _value) in enumerate(known):
        here = int(age_s * columns_per_s)
        if here != column:
            kept.extend(_outline(known, begin, place))
            begin, column = place, here
    kept.extend(_outline(known, begin, len(known)))
    return tuple(kept)


def _outline(known: Stretch, begin: int, end: int) -> Stretch:
    """Return first, lowest, highest and last of one column, in the order of time."""
    if end - begin <= _KEPT:
        return known[begin:end]
    places = range(begin, end)
    lowest = min(places, key=lambda place: known[place][1])
    highest = max(places, key=lambda place: known[place][1])
    return tuple(known[place] for place in sorted({begin, lowest, highest, end - 1}))
