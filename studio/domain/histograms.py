"""A histogram as an engine counts it: how many values were at most each bound."""

import msgspec


class Histogram(msgspec.Struct, frozen=True, kw_only=True):
    """One reading; cumulative over the engine's life, as Prometheus' histograms are."""

    bounds: tuple[float, ...]
    """Upper bounds, ascending; the last one is infinite."""
    counts: tuple[float, ...]
    """How many values were at most each bound; the last one counts all."""
    sum: float | None = None

    @property
    def count(self) -> float:
        """Return how many values there were."""
        return self.counts[-1]
