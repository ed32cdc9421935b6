"""How far a file is, how fast it comes and how long it will take; what is not known is None."""

import collections

import msgspec

_WINDOW_S = 5.0
_QUIET_S = 5.0
"""Silence of this length is worth a word."""
_LEAST_S = 0.5
"""A rate over a shorter time says nothing."""


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """One moment of a download."""

    done: int
    """Bytes that are here, those of earlier runs included."""
    total: int | None = None
    rate: float | None = None
    """Bytes a second over the last seconds."""
    left_s: float | None = None
    note: str | None = None
    """What is unusual right now: stalled, trying again, waiting for another process."""
    warnings: tuple[str, ...] = ()
    """What went wrong and was got around, for good."""


class Tracker:
    """Turns moments into rates. Pure but for what it remembers."""

    def __init__(self) -> None:
        self._seen: collections.deque[tuple[float, int]] = collections.deque()
        self._grew_at: float | None = None
        self.note: str | None = None
        self.warnings: list[str] = []

    def at(self, now_s: float, done: int, total: int | None) -> Progress:
        """Return the progress at a moment of a clock that never jumps."""
        last = self._seen[-1][1] if self._seen else None
        if last is not None and done < last:
            self._seen.clear()
        if last is None or done != last:
            self._grew_at = now_s
        self._seen.append((now_s, done))
        while len(self._seen) > 2 and now_s - self._seen[0][0] > _WINDOW_S:
            self._seen.popleft()
        rate = self._rate()
        left = None if total is None or not rate else max(0, total - done) / rate
        return Progress(
            done=done,
            total=total,
            rate=rate,
            left_s=left,
            note=self.note or self._stalled(now_s),
            warnings=tuple(self.warnings),
        )

    def _rate(self) -> float | None:
        (first_s, first), (last_s, last) = self._seen[0], self._seen[-1]
        return (last - first) / (last_s - first_s) if last_s - first_s >= _LEAST_S else None

    def _stalled(self, now_s: float) -> str | None:
        quiet = now_s - (self._grew_at if self._grew_at is not None else now_s)
        return f"stalled: nothing has come for {quiet:.0f} s" if quiet >= _QUIET_S else None
