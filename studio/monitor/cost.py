"""What the monitor costs: processor time over the last minute, as shares of one core."""

import collections
import time
from collections.abc import Callable

from studio.domain.metrics import MonitorInfo

WINDOW_S = 60.0
_LEAST_S = 2.0
"""Below it a share is mostly chance."""


class Cost:
    """Adds up what readings took. On the loop's thread."""

    def __init__(
        self,
        elsewhere_s: Callable[[], float] = lambda: 0.0,
        *,
        clock: Callable[[], float] = time.monotonic,
        process_s: Callable[[], float] = time.process_time,
    ) -> None:
        """`elsewhere_s` tells what the readings' own threads have used so far."""
        self._elsewhere_s = elsewhere_s
        self._clock = clock
        self._process_s = process_s
        self._here_s = 0.0
        self._tick_s: float | None = None
        self._left_out = 0
        self._interval_s: float | None = None
        self._marks: collections.deque[tuple[float, float, float]] = collections.deque()
        """When, the readings' seconds so far, the whole process's."""
        self.cards_source: str | None = None

    def spent(self, seconds: float) -> None:
        """Add what a step on the loop's thread took."""
        self._here_s += seconds

    def ticked(self, lasted_s: float, interval_s: float) -> None:
        """Take note of a tick that has ended."""
        now = self._clock()
        if self._marks and interval_s == self._interval_s:
            began, began_before = now - lasted_s, self._marks[-1][0] - (self._tick_s or 0.0)
            self._left_out += max(0, round((began - began_before) / interval_s) - 1)
        self._interval_s = interval_s
        self._tick_s = lasted_s
        self._marks.append((now, self._here_s + self._elsewhere_s(), self._process_s()))
        while len(self._marks) > 2 and self._marks[0][0] < now - WINDOW_S:
            self._marks.popleft()

    def info(self, interval_s: float) -> MonitorInfo:
        """Return what is known now."""
        cost = service = None
        if self._marks and self._marks[-1][0] - self._marks[0][0] >= _LEAST_S:
            (began, own, whole), (ended, own_later, whole_later) = self._marks[0], self._marks[-1]
            cost = (own_later - own) / (ended - began)
            service = (whole_later - whole) / (ended - began)
        return MonitorInfo(
            interval_s=interval_s,
            cost_share=cost,
            service_share=service,
            tick_s=self._tick_s,
            left_out=self._left_out,
            cards_source=self.cards_source,
        )
