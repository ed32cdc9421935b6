"""One series over time as a chart draws it: known values in stretches, thinned to pixel columns.

Not frozen: a live chart adds a value a second to thousands, and only its end changes. Work is done
on whole slices, because a loop over thousands of points in Python is slow.
"""

import itertools
import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from typing import NamedTuple

_SLACK = 512
"""So many values may be out of sight before they are let go, all at once."""

_APART_S = 30.0
"""Seconds that come farther apart have a gap between: the machine slept, or nobody measured."""

Point = tuple[float, float | None, float | None, float | None]
"""A moment and its smallest, mean and largest value; three None are a gap from there on."""

Columns = tuple[list[float], list[float], list[float]]
"""Smallest, mean and largest value of each pixel column."""


class Scale(NamedTuple):
    """Where moments lie: `begin` in seconds since the epoch at the left edge."""

    begin: float
    px_per_s: float
    width_px: int

    @property
    def end(self) -> float:
        """Return the moment at the right edge."""
        return self.begin + self.width_px / self.px_per_s

    def x_of(self, at: float) -> float:
        """Return where a moment lies, in pixels from the left edge."""
        return (at - self.begin) * self.px_per_s


class Spot(NamedTuple):
    """What is known at a moment: when, and values."""

    at: float
    low: float
    mean: float
    high: float


class Stretch(NamedTuple):
    """Known values without a gap, as columns: `x` in pixels from the left edge, and values.

    Columns, because thousands of records would cost more than all that is done with them.
    """

    x: list[float]
    low: list[float]
    mean: list[float]
    high: list[float]

    @property
    def is_flat(self) -> bool:
        """Tell whether every spot is one value, so that there is nothing between its extremes."""
        return self.low is self.high


class Track:
    """Values of one series, oldest first; where one stretch ends and another begins is a gap."""

    def __init__(self, points: Iterable[Point] = ()) -> None:
        self._times: list[float] = []
        self._lows: list[float] = []
        self._means: list[float] = []
        self._highs: list[float] = []
        self._begins: list[int] = []
        self._is_gap = True
        self._peak = (0, 0, 0)
        """The span that was asked for last, and where its largest value is."""
        self._has_spread = False
        """Whether any value stands for several: where none does, extremes are the values."""
        for at, low, mean, high in points:
            if low is None or mean is None or high is None:
                self._is_gap = True
            else:
                self._add(at, low, mean, high)

    def __len__(self) -> int:
        return len(self._times)

    @property
    def newest_at(self) -> float | None:
        """Return when the newest value was known."""
        return self._times[-1] if self._times else None

    @property
    def last(self) -> float | None:
        """Return the newest value; None where the newest is that nothing is known."""
        return None if self._is_gap else self._means[-1]

    def append(self, at: float, value: float | None) -> None:
        """Add what a second brought; one that is not newer than what is here is left out."""
        if self._times and at <= self._times[-1]:
            return
        if self._times and at - self._times[-1] > _APART_S:
            self._is_gap = True
        if value is None:
            self._is_gap = True
        else:
            self._add(at, value, value, value)

    def forget(self, before: float) -> None:
        """Let go of what is older, now and then: that is cheaper than each time."""
        stale = bisect_left(self._times, before)
        if stale < _SLACK:
            return
        for values in (self._times, self._lows, self._means, self._highs):
            del values[:stale]
        self._peak = (0, 0, 0)
        kept = [begin - stale for begin in self._begins if begin > stale]
        self._begins = [0, *kept] if self._times else []
        self._is_gap = self._is_gap or not self._times

    def highest(self, begin: float, end: float) -> float | None:
        """Return the largest value of a span; None: nothing is known there.

        Asked in each picture of spans that only move on, so that what is known of the one before
        is used: only what came since is looked at.
        """
        first, last = self._within(begin, end)
        if first >= last:
            return None
        since, seen, place = self._peak
        if first < since or last < seen or place < first:
            seen = place = first
        newer = self._highs[seen:last]
        most = max(newer, default=self._highs[place])
        if most >= self._highs[place]:
            place = seen + newer.index(most) if newer else place
        self._peak = (first, last, place)
        return self._highs[place]

    def count(self, begin: float, end: float) -> int:
        """Return how many values are known in a span."""
        first, last = self._within(begin, end)
        return last - first

    def near(self, at: float, reach_s: float) -> Spot | None:
        """Return what is known at a moment, or not farther away than `reach_s`."""
        place = bisect_left(self._times, at)
        places = [one for one in (place - 1, place) if 0 <= one < len(self._times)]
        if not places:
            return None
        best = min(places, key=lambda one: abs(self._times[one] - at))
        if abs(self._times[best] - at) > reach_s:
            return None
        return Spot(self._times[best], self._lows[best], self._means[best], self._highs[best])

    def drawn(self, scale: Scale, since: float | None = None) -> list[Stretch]:
        """Return the stretches in sight (from `since` on), at most one spot a pixel column.

        One value on each side of the edges stays, so that lines run to them.
        """
        first, last = self._within(scale.begin if since is None else since, scale.end)
        first, last = max(0, first - 1), min(len(self._times), last + 1)
        return [
            self._stretch(scale, begin, end)
            for begin, end in self._stretches(first, last)
            if end > begin
        ]

    def _add(self, at: float, low: float, mean: float, high: float) -> None:
        if self._is_gap:
            self._begins.append(len(self._times))
            self._is_gap = False
        self._has_spread = self._has_spread or not low == mean == high
        self._times.append(at)
        self._lows.append(low)
        self._means.append(mean)
        self._highs.append(high)

    def _within(self, begin: float, end: float) -> tuple[int, int]:
        return bisect_left(self._times, begin), bisect_right(self._times, end)

    def _stretches(self, first: int, last: int) -> Iterator[tuple[int, int]]:
        """Yield where known stretches begin and end between two places."""
        number = bisect_right(self._begins, first)
        edges = [first, *self._begins[number:], len(self._times)]
        for begin, end in itertools.pairwise(edges):
            if begin >= last:
                return
            yield begin, min(end, last)

    def _stretch(self, scale: Scale, begin: int, end: int) -> Stretch:
        times = self._times
        reach_px = (times[end - 1] - times[begin]) * scale.px_per_s
        if end - begin > reach_px + 2:
            return self._columns(scale, begin, end)
        origin, per_s = scale.begin, scale.px_per_s
        means = self._means[begin:end]
        return Stretch(
            [(at - origin) * per_s for at in times[begin:end]],
            self._lows[begin:end] if self._has_spread else means,
            means,
            self._highs[begin:end] if self._has_spread else means,
        )

    def _columns(self, scale: Scale, begin: int, end: int) -> Stretch:
        """Return a spot for each pixel column that holds values; no peak is lost."""
        times, origin, per_s = self._times, scale.begin, scale.px_per_s
        first = math.floor((times[begin] - origin) * per_s)
        last = math.floor((times[end - 1] - origin) * per_s)
        edges = [origin + column / per_s for column in range(first + 1, last + 1)]
        inner = map(
            bisect_left,
            itertools.repeat(times),
            edges,
            itertools.repeat(begin),
            itertools.repeat(end),
        )
        bounds = [begin, *inner, end]
        columns: Iterable[int] = range(first, last + 1)
        places: Iterable[tuple[int, int]] = itertools.pairwise(bounds)
        if len(set(bounds)) < len(bounds):
            pairs = zip(columns, places, strict=True)
            filled = [(column, place) for column, place in pairs if place[0] < place[1]]
            columns = [column for column, _place in filled]
            places = [place for _column, place in filled]
        x = [column + 0.5 for column in columns]
        return Stretch(x, *(self._spreads(places) if self._has_spread else self._extremes(places)))

    def _extremes(self, places: Iterable[tuple[int, int]]) -> Columns:
        """Return smallest, mean and largest of single values.

        Sorting a few numbers finds both ends in less time than asking for one of them (measured).
        """
        lows: list[float] = []
        means: list[float] = []
        highs: list[float] = []
        for start, after in places:
            part = self._means[start:after]
            part.sort()
            lows.append(part[0])
            means.append(sum(part) / len(part))
            highs.append(part[-1])
        return lows, means, highs

    def _spreads(self, places: Iterable[tuple[int, int]]) -> Columns:
        """Return smallest, mean and largest where values stand for several."""
        lows: list[float] = []
        means: list[float] = []
        highs: list[float] = []
        for start, after in places:
            lows.append(min(self._lows[start:after]))
            means.append(sum(self._means[start:after]) / (after - start))
            highs.append(max(self._highs[start:after]))
        return lows, means, highs
