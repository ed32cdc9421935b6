"""What only the monitor page knows: series over a span, requests, alarms and their remedies."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from studio.domain.alarms import AlarmList, MuteRequest
from studio.domain.diagnosis import Fixed, FixRequest, Offered, RemedyList
from studio.domain.errors import ErrorInfo
from studio.domain.history import HistoryAnswer, HistoryEvent
from studio.domain.history_csv import csv_heading, csv_rows
from studio.domain.keys import RequestEntry
from studio.domain.metrics import Tick
from studio.domain.pool import PoolReport
from studio.ui.area import Area
from studio.ui.bridge import Bridge
from studio.ui.viewmodels.chart_kinds import ChartKind
from studio.ui.viewmodels.monitor import patterns, value_of, wanted
from studio.ui.viewmodels.track import Track

if TYPE_CHECKING:
    from studio.control.client import ControlClient

_POINTS = 960
"""A point for each pixel column of a wide chart."""
REQUESTS = 1_000


class Wanted(NamedTuple):
    """What is asked for: seconds since the epoch."""

    begin: float
    end: float
    kinds: tuple[ChartKind, ...]


class Read(NamedTuple):
    """What came of it."""

    asked: Wanted
    answer: HistoryAnswer


async def _read(client: "ControlClient", asked: Wanted) -> Read:
    """Ask which series there are, then for those that are drawn."""
    first = await client.series(("pool",), since=asked.begin, until=asked.end, points=2)
    names = patterns(asked.kinds, first.known)
    if not names:
        return Read(asked, first)
    found = await client.series(names, since=asked.begin, until=asked.end, points=_POINTS)
    return Read(asked, found)


async def csv_of(client: "ControlClient", asked: Wanted, step_s: float) -> str:
    """Return the series of a span as CSV, asked for part by part."""
    first = await client.series(("pool",), since=asked.begin, until=asked.end, points=2)
    names, series = patterns(asked.kinds, first.known), wanted(asked.kinds, first.known)
    page = await client.history_rows(names, since=asked.begin, until=asked.end, step_s=step_s)
    parts = [csv_heading(series), csv_rows(page.rows, series)]
    while page.next_at is not None:
        page = await client.history_rows(
            names, since=page.next_at, until=asked.end, step_s=page.step_s
        )
        parts.append(csv_rows(page.rows, series))
    return "".join(parts)


class MonitorArea(Area):
    """Asks for one thing of a kind at a time; what is wanted meanwhile is asked for afterwards."""

    def __init__(self, bridge: Bridge) -> None:
        super().__init__(bridge)
        self.known: tuple[str, ...] = ()
        self.tracks: dict[str, Track] = {}
        self.events: tuple[HistoryEvent, ...] = ()
        self.step_s = 1.0
        self.reads = 0
        """How often series came: a chart that sees another number draws them anew."""
        self.entries: tuple[RequestEntry, ...] | None = None
        self.pool: PoolReport | None = None
        self.alarms: AlarmList | None = None
        self.offered: tuple[Offered, ...] = ()
        self._next: Wanted | None = None
        self._heard_at = 0.0
        """The newest second that is in the tracks already."""

    @property
    def is_reading(self) -> bool:
        """Whether series are on their way."""
        return "series" in self.pending

    @property
    def is_fixing(self) -> bool:
        """Whether a remedy is being taken."""
        return "fix" in self.pending

    def read(self, asked: Wanted) -> None:
        """Ask for series of a span."""
        self._next = None
        if not self.ask("series", lambda client: _read(client, asked), self._on_read, self._on_no):
            self._next = asked

    def hear(self, ticks: Sequence[Tick], forget_before: float) -> None:
        """Add the seconds that came, where charts are live."""
        fresh = [tick for tick in ticks if tick.at > self._heard_at]
        if fresh:
            self._heard_at = fresh[-1].at
        for name, track in self.tracks.items():
            for tick in fresh:
                track.append(tick.at, value_of(tick, name))
            track.forget(forget_before)

    def read_requests(self) -> None:
        """Ask for the newest requests."""
        self.ask(
            "requests", lambda client: client.requests(lines=REQUESTS), self._on_requests, _ignore
        )
        if self.pool is None:
            self.ask("pool", lambda client: client.pool(), self.take_pool, _ignore)

    def take_pool(self, pool: PoolReport) -> None:
        """Keep who is in the pool."""
        self.pool = pool

    def read_alarms(self) -> None:
        """Ask what is warned of, and what can be done."""
        self.ask("alarms", lambda client: client.alarms(), self._on_alarms, _ignore)
        self.ask("remedies", lambda client: client.remedies(), self._on_remedies, _ignore)

    def mute(self, code: str) -> None:
        """Silence an alarm as long as it holds."""
        request = MuteRequest(is_once=True)
        self.ask("mute", lambda client: client.mute_alarm(code, request), self._on_alarms)

    def unmute(self, code: str) -> None:
        """Hear of an alarm again."""
        self.ask("mute", lambda client: client.unmute_alarm(code), self._on_alarms)

    def fix(self, number: int) -> None:
        """Take the remedy of that number, as it was shown."""
        about = next((one.about for one in self.offered if one.number == number), None)
        request = FixRequest(number=number, about=about)
        self.problem = None
        self.ask("fix", lambda client: client.fix(request), self._on_fixed)

    def _on_read(self, found: Read) -> None:
        answer = found.answer
        self.known, self.problem = answer.known, None
        self.reads += 1
        self._heard_at = 0.0
        self.tracks = {series.name: Track(series.points) for series in answer.series}
        self.events = answer.events
        self.step_s = answer.step_s
        self._again()

    def _on_no(self, error: ErrorInfo) -> None:
        self.problem = error
        self._again()

    def _again(self) -> None:
        if self._next is not None:
            self.read(self._next)

    def _on_requests(self, found: Sequence[RequestEntry]) -> None:
        self.entries = tuple(found)

    def _on_alarms(self, found: AlarmList) -> None:
        self.alarms = found

    def _on_remedies(self, found: RemedyList) -> None:
        self.offered = found.offered

    def _on_fixed(self, _fixed: Fixed) -> None:
        self.read_alarms()


def _ignore(_error: ErrorInfo) -> None:
    """Leave it not known: the page says what it has."""
