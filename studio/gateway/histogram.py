"""Many values as counts in buckets, for percentiles that may be added up over hours and days.

Buckets grow by 10 %, so a percentile is at most 5 % off, and what one hour of a key needs is a few
dozen numbers at most. (Percentiles of hours cannot be added up; these counts can.)
"""

import json
import math
from collections import Counter
from collections.abc import Iterable

_GROWTH = math.log(1.1)
_LEAST, _MOST = 1e-6, 1e9


class Histogram:
    """Counts of positive values."""

    __slots__ = ("_counts",)

    def __init__(self, counts: Iterable[tuple[int, int]] = ()) -> None:
        self._counts = Counter(dict(counts))

    def add(self, value: float) -> None:
        """Count one value; what is no number or below zero is left out."""
        if not 0 <= value < math.inf:
            return
        bounded = min(max(value, _LEAST), _MOST)
        self._counts[round(math.log(bounded) / _GROWTH)] += 1

    def merge(self, other: "Histogram") -> None:
        """Take up the counts of another."""
        self._counts.update(other._counts)

    def quantile(self, share: float) -> float | None:
        """Return the value that `share` (0 to 1) of all values do not exceed; None when empty."""
        wanted = share * self._counts.total()
        seen = 0
        for bucket in sorted(self._counts):
            seen += self._counts[bucket]
            if seen >= wanted:
                return math.exp(bucket * _GROWTH)
        return None

    def text(self) -> str:
        """Return it as text for a database."""
        return json.dumps(sorted(self._counts.items()), separators=(",", ":"))

    @classmethod
    def read(cls, text: str) -> "Histogram":
        """Return what `text` wrote. Raises: ValueError."""
        rows = json.loads(text)
        return cls((int(bucket), int(count)) for bucket, count in rows)
