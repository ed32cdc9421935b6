"""The history, as the facade sees it: what goes into it, and what may be asked of it."""

import time
from collections.abc import Sequence

from studio.domain import series
from studio.domain.alarms import Alarm
from studio.domain.errors import BadInput
from studio.domain.history import (
    MOST_POINTS,
    HistoryAnswer,
    HistoryEventKind,
    HistoryPage,
    HistoryState,
)
from studio.domain.metrics import Tick
from studio.domain.server import EngineSnapshot
from studio.monitor.happenings import Happenings
from studio.monitor.recorder import Recorder

_MOST_WANTED = 64
_EVERYTHING = ("*",)


class Past:
    """One per service; without a service it answers from the file and writes nothing."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self._happenings = Happenings()
        self._alarms: dict[tuple[str, str | None, float], Alarm] = {}
        self._is_open = False

    async def open(self) -> None:
        """Begin to keep what happens."""
        self._is_open = True
        await self.recorder.open()
        self.recorder.event(HistoryEventKind.SERVICE_STARTED, "service")

    async def run(self) -> None:
        """Write what is new every few seconds, until cancelled."""
        await self.recorder.run()

    async def close(self) -> None:
        """Write what is in memory."""
        if self._is_open:
            self._is_open = False
            self.recorder.event(HistoryEventKind.SERVICE_STOPPED, "service")
        await self.recorder.close()

    # -- what goes in ----------------------------------------------------------------------

    def hear_tick(self, tick: Tick) -> None:
        """Keep a tick's numbers."""
        self.recorder.tick(tick)

    def hear_engine(self, engine: EngineSnapshot) -> None:
        """Keep boots, deaths and switches."""
        for one in self._happenings.hear(engine):
            self.recorder.event(one.kind, one.name, one.detail)

    def hear_alarm(self, alarm: Alarm) -> None:
        """Keep the begin and the end of an alarm, each once, however often it is told."""
        key = (alarm.code, alarm.where, alarm.since)
        if alarm.ended_at is not None:
            if self._alarms.pop(key, None) is not None:
                kind = HistoryEventKind.ALARM_ENDED
                self.recorder.event(kind, alarm.code, f"{alarm.title}.", at=alarm.ended_at)
        elif key not in self._alarms:
            self._alarms[key] = alarm
            detail = f"{alarm.title}. {alarm.cause}"
            self.recorder.event(HistoryEventKind.ALARM, alarm.code, detail, at=alarm.raised_at)

    # -- what is asked ---------------------------------------------------------------------

    async def series(
        self, wanted: Sequence[str], since: float, until: float, points: int = MOST_POINTS
    ) -> HistoryAnswer:
        """Return what is known of series over a span.

        Raises: BadInput (`history-span`, `series-unknown`).
        """
        _check_span(since, until)
        answer = await self.recorder.ask(_patterns(wanted), since, until, points)
        _check_known(wanted, answer.known)
        return answer

    async def rows(
        self, wanted: Sequence[str], since: float, until: float, step_s: float | None
    ) -> HistoryPage:
        """Return a part of an export. Raises: BadInput (`history-span`, `series-unknown`)."""
        _check_span(since, until)
        patterns = _patterns(wanted) if wanted else _EVERYTHING
        page = await self.recorder.page(patterns, since, until, step_s)
        _check_known(wanted, page.known)
        return page

    async def state(self) -> HistoryState:
        """Return how the history is kept."""
        return await self.recorder.state()


def _patterns(wanted: Sequence[str]) -> tuple[str, ...]:
    if len(wanted) > _MOST_WANTED:
        raise BadInput(
            "series-too-many", f"At most {_MOST_WANTED} series at once, found {len(wanted)}."
        )
    return series.patterns(wanted or series.DEFAULT)


def _check_span(since: float, until: float) -> None:
    if not 0 <= since < until < 1e11:
        raise BadInput(
            "history-span",
            "A span begins before it ends, and both are seconds since 1970.",
            hint=f"For the last hour: since={time.time() - 3600:.0f}.",
        )


def _check_known(wanted: Sequence[str], known: Sequence[str]) -> None:
    """Refuse a name that nothing was ever kept of; a word is understood all the same."""
    for typed in wanted:
        if series.is_word(typed) or series.chosen(known, (typed,)) or not known:
            continue
        meant = series.near(typed, known)
        raise BadInput(
            "series-unknown",
            f"There is no series `{typed}`.",
            hint=f"Did you mean `{meant}`?" if meant else "`weir history --list` names them all.",
        )
