"""What `weir top` knows: events and answers folded into one state. No output, no clock."""

import collections
import dataclasses
from collections.abc import Iterable

from studio.cli import top_words as words
from studio.domain.alarms import Alarm
from studio.domain.control import GatewayInfo, KeyInfo
from studio.domain.demand import Queue
from studio.domain.downloads import DownloadsNow, in_short
from studio.domain.events import (
    AlarmChanged,
    DownloadsChanged,
    EngineChanged,
    Event,
    GatewayChanged,
    PoolChanged,
    QueueChanged,
    ServiceStopping,
    StageProgress,
    StageState,
    Ticked,
)
from studio.domain.keys import RequestEntry
from studio.domain.metrics import Tick
from studio.domain.pool import PoolReport
from studio.domain.server import EngineSnapshot
from studio.domain.speed import SpeedReport

_KEPT = 600
"""Seconds of charts."""
VIEWS = {"a": "alarms", "g": "cards", "?": "help", "h": "help"}


@dataclasses.dataclass(slots=True, kw_only=True)
class State:
    """Everything that may be drawn."""

    engine: EngineSnapshot = dataclasses.field(default_factory=EngineSnapshot)
    stages: dict[str, StageProgress] = dataclasses.field(default_factory=dict)
    tick: Tick | None = None
    ticks: collections.deque[Tick] = dataclasses.field(
        default_factory=lambda: collections.deque(maxlen=_KEPT)
    )
    gateway: GatewayInfo | None = None
    base_url: str | None = None
    keys: list[KeyInfo] | None = None
    requests: list[RequestEntry] | None = None
    pool: PoolReport | None = None
    speed: SpeedReport | None = None
    queue: Queue | None = None
    """Who waits for which model; None: not asked yet."""
    alarms: tuple[Alarm, ...] | None = None
    """None: the service does not tell."""
    downloads: DownloadsNow = dataclasses.field(default_factory=DownloadsNow)
    gone: str | None = None
    """Why there is no service to ask; None: there is one."""
    view: str = "main"
    sort: int = 0
    is_paused: bool = False

    def take(self, event: Event) -> bool:
        """Fold an event in; return whether the screen is to be drawn anew now.

        Once a second is enough: only ticks draw, and what a person should see at once.
        """
        match event:
            case Ticked(tick=tick):
                self.add(tick)
                return True
            case EngineChanged(engine=engine):
                has_moved = engine.state is not self.engine.state
                self.engine = engine
                return has_moved
            case StageProgress():
                self.stages[event.stage] = event
                return event.state is not StageState.RUNNING
            case GatewayChanged(base_url=base_url):
                self.base_url = base_url
            case AlarmChanged(alarm=alarm):
                self.hear(alarm)
                return True
            case PoolChanged(pool=pool):
                self.pool = pool
            case QueueChanged(queue=queue):
                self.queue = queue
            case DownloadsChanged(downloads=downloads):
                self.downloads = in_short(downloads)
            case ServiceStopping(reason=reason):
                self.gone = reason
                return True
            case _:
                pass
        return False

    def hear(self, alarm: Alarm) -> None:
        """Put an alarm in the place of what was known of it."""
        others = [one for one in self.alarms or () if _identity(one) != _identity(alarm)]
        self.alarms = (*others, alarm)

    def add(self, tick: Tick) -> None:
        """Take up a tick; one that was known already is left out."""
        if self.tick is None or tick.at > self.tick.at:
            self.tick = tick
            self.ticks.append(tick)

    def fill(self, ticks: Iterable[Tick]) -> None:
        """Take up the ticks of before this command."""
        newer = self.tick
        self.tick = None
        self.ticks.clear()
        for tick in ticks:
            self.add(tick)
        if newer is not None:
            self.add(newer)

    def lose(self, reason: str | None) -> None:
        """Note that the service is gone; what was known of it is old from now on."""
        self.gone = self.gone or reason or words.NO_REASON

    def find(self) -> None:
        """Note that there is a service again; nothing is known of it yet."""
        self.gone = None
        self.engine = EngineSnapshot()
        self.stages.clear()
        self.gateway = self.keys = self.requests = None
        self.pool = self.speed = self.queue = self.alarms = None
        self.downloads = DownloadsNow()

    def press(self, key: str) -> None:
        """Take a key that was pressed; `q` is the caller's."""
        if key == "p":
            self.is_paused = not self.is_paused
        elif key == "s" and self.view == "main":
            self.sort = (self.sort + 1) % len(words.SORTS)
        elif self.view != "main":
            self.view = "main"
        else:
            self.view = VIEWS.get(key, self.view)

    @property
    def under_way(self) -> list[StageProgress]:
        """Return the stages that run."""
        return [one for one in self.stages.values() if one.state is StageState.RUNNING]

    def series(self, name: str) -> list[float | None]:
        """Return one field of all ticks, oldest first."""
        return [getattr(tick, name) for tick in self.ticks]

    def sorted_keys(self) -> list[KeyInfo]:
        """Return the keys that work, in the order that was chosen."""
        keys = [key for key in self.keys or () if key.revoked_at is None]
        keys.sort(key=lambda key: key.name)
        match words.SORTS[self.sort]:
            case "last used":
                keys.sort(key=lambda key: (key.running, key.last_used_at or ""), reverse=True)
            case "generated":
                keys.sort(key=lambda key: key.generated_tokens, reverse=True)
            case "requests":
                keys.sort(key=lambda key: key.requests, reverse=True)
            case _:
                pass
        return keys


def _identity(alarm: Alarm) -> tuple[str, str | None, float]:
    return alarm.code, alarm.where, alarm.since
