"""Quantiles from two readings of a cumulative histogram. Pure.

Values are spread evenly inside a bucket, as Prometheus takes them: true within the width of the
bucket, no better. vLLM's buckets at a typical 20 ms between tokens reach from 10 to 25 ms.
Source: `BucketQuantile` in Prometheus 3, promql/quantile.go.
"""

import itertools
import math

from studio.domain.histograms import Histogram


def between(older: Histogram, newer: Histogram) -> Histogram | None:
    """Return the values that came between two readings; None where they are not comparable."""
    if older.bounds != newer.bounds:
        return None
    counts = [now - then for then, now in zip(older.counts, newer.counts, strict=True)]
    if min(counts) < 0:
        return None
    # Buckets are not read in one instant: a value may be missing from one and be in the next lower.
    rising = tuple(itertools.accumulate(counts, max))
    total = None if older.sum is None or newer.sum is None else newer.sum - older.sum
    return Histogram(bounds=newer.bounds, counts=rising, sum=total)


def quantile(share: float, values: Histogram) -> float | None:
    """Return what `share` of the values, 0 to 1, are at most; None where there are no values.

    A value beyond the last finite bound counts as that bound: how far beyond is not told.
    """
    rank = share * values.count
    if values.count <= 0:
        return None
    place = next(index for index, count in enumerate(values.counts) if count >= rank)
    upper = values.bounds[place]
    lower = values.bounds[place - 1] if place else min(0.0, upper)
    below = values.counts[place - 1] if place else 0.0
    if math.isinf(upper):
        return lower if place else None
    inside = values.counts[place] - below
    return upper if inside <= 0 else lower + (upper - lower) * (rank - below) / inside
