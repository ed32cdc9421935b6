"""Progress of a stage, throttled: at most five reports a second, with a rate over the last seconds.

Knows nothing of what is measured; whoever works tells it what is done, in the stage's own unit.
"""

import collections
import time
from collections.abc import Callable

from studio.domain.events import Stage, StageProgress, StageState

Report = Callable[[StageProgress], None]

_INTERVAL_S = 0.2
_WINDOW_S = 4.0


class Meter:
    """Reports one stage: parts and ends at once, notes and numbers at most 5 times a second."""

    def __init__(
        self,
        stage: Stage,
        title: str,
        report: Report,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stage = stage
        self._title = title
        self._report = report
        self._clock = clock
        self._note: str | None = None
        self._done: float | None = None
        self._total: float | None = None
        self._unit: str | None = None
        self._step: str | None = None
        self._seen: collections.deque[tuple[float, float]] = collections.deque()
        self._reported_at = float("-inf")

    def step(self, name: str | None) -> None:
        """Name the part of the stage that what follows belongs to; goes out with it."""
        self._step = name

    def begin(self, note: str, *, total: float | None = None, unit: str | None = None) -> None:
        """Start a part of the stage whose progress is counted from zero."""
        self._total, self._unit = total, unit
        self._done = 0.0 if unit is not None else None
        self._seen.clear()
        self._note = note
        self._send(StageState.RUNNING)

    def note(self, note: str) -> None:
        """Say what happens right now; goes out with the next report that is due."""
        self._note = note
        self._send_if_due()

    def reach(self, done: float, *, total: float | None = None) -> None:
        """Say how far the part is; a smaller number than before is ignored."""
        if total is not None:
            self._total = total
        if self._done is not None and done < self._done:
            return
        self._done = done
        now = self._clock()
        self._seen.append((now, done))
        while len(self._seen) > 2 and now - self._seen[0][0] > _WINDOW_S:
            self._seen.popleft()
        self._send_if_due()

    def advance(self, amount: float) -> None:
        """Add `amount` to what is done."""
        self.reach((self._done or 0.0) + amount)

    def finish(self, note: str | None = None, *, skipped: bool = False) -> None:
        """Report the stage as done, or as skipped because nothing was to do."""
        self._note = note
        self._send(StageState.SKIPPED if skipped else StageState.DONE)

    def fail(self, note: str) -> None:
        """Report the stage as failed."""
        self._note = note
        self._send(StageState.FAILED)

    def _rate(self) -> float | None:
        if len(self._seen) < 2:
            return None
        (first_at, first), (last_at, last) = self._seen[0], self._seen[-1]
        return (last - first) / (last_at - first_at) if last_at > first_at else None

    def _left_s(self, rate: float | None) -> float | None:
        if not rate or self._total is None or self._done is None:
            return None
        return max(0.0, self._total - self._done) / rate

    def _send_if_due(self) -> None:
        if self._clock() - self._reported_at >= _INTERVAL_S:
            self._send(StageState.RUNNING)

    def _send(self, state: StageState) -> None:
        self._reported_at = self._clock()
        running = state is StageState.RUNNING
        rate = self._rate() if running else None
        self._report(
            StageProgress(
                stage=self._stage,
                state=state,
                title=self._title,
                note=self._note,
                done=self._done,
                total=self._total,
                unit=self._unit,
                rate=rate,
                left_s=self._left_s(rate),
                step=self._step if state in (StageState.RUNNING, StageState.FAILED) else None,
            )
        )
