"""Which bytes of a file are here, as half-open ranges in order. Pure."""

from collections.abc import Iterable

Span = tuple[int, int]


class Spans:
    """A set of byte ranges that are whole."""

    def __init__(self, spans: Iterable[Span] = ()) -> None:
        self._spans: list[Span] = []
        for start, end in spans:
            self.add(start, end)

    def add(self, start: int, end: int) -> None:
        """Add the bytes from `start` up to but not including `end`."""
        if start >= end:
            return
        before = [span for span in self._spans if span[1] < start]
        after = [span for span in self._spans if span[0] > end]
        touching = self._spans[len(before) : len(self._spans) - len(after)]
        if touching:
            start = min(start, touching[0][0])
            end = max(end, touching[-1][1])
        self._spans = [*before, (start, end), *after]

    @property
    def front(self) -> int:
        """Return how many bytes from the beginning on have no hole."""
        return self._spans[0][1] if self._spans and self._spans[0][0] == 0 else 0

    @property
    def end(self) -> int:
        """Return where the last range ends."""
        return self._spans[-1][1] if self._spans else 0

    @property
    def count(self) -> int:
        """Return how many bytes are here."""
        return sum(end - start for start, end in self._spans)

    def all(self) -> tuple[Span, ...]:
        """Return the ranges in order."""
        return tuple(self._spans)

    def holes(self, size: int) -> list[Span]:
        """Return what is missing of a file of `size` bytes, in order."""
        found: list[Span] = []
        at = 0
        for start, end in self._spans:
            if start > at:
                found.append((at, min(start, size)))
            at = max(at, end)
        if at < size:
            found.append((at, size))
        return [(start, end) for start, end in found if start < end]


def valid(spans: Iterable[Span], size: int) -> bool:
    """Return whether ranges read from a disk can be ranges of a file of `size` bytes."""
    at = 0
    for start, end in spans:
        if not at <= start < end <= size:
            return False
        at = end
    return True
