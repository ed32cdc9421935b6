"""How fast this machine's line is, as its own downloads show it: for the time of the next one."""

import time
from collections.abc import Callable

from studio.domain.events import Event, StageProgress, StageState

_FETCHING = "Fetching "
"""How the parts of a stage begin that do nothing but take bytes from the network."""


class LineSpeed:
    """Hears the progress of stages and keeps what was fetched, and in how long."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._part: str | None = None
        self._begun = (0.0, 0.0)
        self._bytes = 0.0
        self._seconds = 0.0

    def hear(self, event: Event) -> None:
        """Take up an event; only progress of fetching says anything."""
        if not isinstance(event, StageProgress):
            return
        is_fetching = (event.note or "").startswith(_FETCHING) and event.unit == "bytes"
        if not is_fetching or event.state is not StageState.RUNNING or event.done is None:
            self._part = None
            return
        now = (self._clock(), event.done)
        if event.note != self._part or event.done < self._begun[1]:
            self._part = event.note
        else:
            self._seconds += now[0] - self._begun[0]
            self._bytes += now[1] - self._begun[1]
        self._begun = now

    def take(self) -> tuple[int, float]:
        """Return bytes and seconds since the last call, and begin anew."""
        found = round(self._bytes), self._seconds
        self._bytes = self._seconds = 0.0
        self._part = None
        return found
