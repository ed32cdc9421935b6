"""As many points of a line as a chart has pixels to show them, and no peak lost.

In every pixel column a known stretch keeps its lowest and its highest value, in the order of time;
its very first and last value stay as well. Work is done on whole slices: a loop over 3,600 points
in Python takes ten times as long.
"""

from bisect import bisect_right
from collections.abc import Iterator

from studio.ui.viewmodels.charts import Points

Stretch = tuple[tuple[float, float], ...]
"""Age in seconds and value, oldest first, without a gap."""

DENSE = 2
"""Values that a column keeps at most; with fewer there is nothing to thin."""


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
    ages, values = zip(*known, strict=True)
    reach = (ages[0] - ages[-1]) * columns_per_s
    if len(known) <= DENSE * (reach + 1):
        return known
    places = {0, len(known) - 1}
    past = [-age_s for age_s in ages]
    begin = 0
    while begin < len(known):
        column = int(ages[begin] * columns_per_s)
        end = max(begin + 1, bisect_right(past, -column / columns_per_s, begin))
        part = values[begin:end]
        places |= {begin + part.index(min(part)), begin + part.index(max(part))}
        begin = end
    return tuple(known[place] for place in sorted(places))
