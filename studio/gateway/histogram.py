"""Many values as counts in buckets, for percentiles that may be added up over hours and days.

Buckets grow by 10 %, so a percentile is at most 5 % off, and what one hour of a key needs is a few
dozen numbers at most. (Percentiles of hours cannot be added up; these counts can.)
"""

import math
from collections.abc import Iterable

import msgspec

_GROWTH = math.log(1.1)
_LEAST, _MOST = 1e-6, 1e9
_ROWS = msgspec.json.Decoder(list[tuple[int, int]])


class Histogram:
    """Counts of positive values."""

    __slots__ = ("_counts",)

    def __init__(self, counts: Iterable[tuple[int, int]] = ()) -> None:
        self._counts = dict(counts)

    def add(self, value: float) -> None:
        """Count one value; what is no number or below zero is left out."""
        if not 0 <= value < math.inf:
            return
        bucket = round(math.log(min(max(value, _LEAST), _MOST)) / _GROWTH)
        self._counts[bucket] = self._counts.get(bucket, 0) + 1

    def merge(self, other: "Histogram") -> None:
        """Take up the counts of another."""
        counts = self._counts
        for bucket, count in other._counts.items():
            counts[bucket] = counts.get(bucket, 0) + count

    def quantile(self, share: float) -> float | None:
        """Return the value that `share` (0 to 1) of all values do not exceed; None when empty."""
        wanted = share * sum(self._counts.values())
        seen = 0
        for bucket in sorted(self._counts):
            seen += self._counts[bucket]
            if seen >= wanted:
                return math.exp(bucket * _GROWTH)
        return None

    def text(self) -> str:
        """Return it as text for a database."""
        return msgspec.json.encode(sorted(self._counts.items())).decode()

    @classmethod
    def read(cls, text: str) -> "Histogram":
        """Return what `text` wrote. Raises: ValueError."""
        return cls(_ROWS.decode(text))
