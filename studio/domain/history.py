"""What the monitor keeps over time, as it is asked for. `None` means not known, never zero."""

import enum

import msgspec

MOST_POINTS = 2_000
"""No answer has more points of one series."""


class HistoryEventKind(enum.StrEnum):
    """What happened, beside the numbers."""

    SERVICE_STARTED = "service-started"
    SERVICE_STOPPED = "service-stopped"
    BOOT = "boot"
    """An engine is ready."""
    STOPPED = "stopped"
    """An engine was stopped as it should be."""
    DEATH = "death"
    """An engine died while it served; what follows stands in `detail`."""
    FAILED = "failed"
    """An engine did not come up, or is not started again."""
    SWITCH = "switch"
    """Another preset is served than before."""
    SETTINGS = "settings"
    """An engine is ready with other settings than it had when it served last."""
    BADGE = "badge"
    """A slow path of the engine: what was seen stands in `detail`."""
    ALARM = "alarm"
    ALARM_ENDED = "alarm-ended"
    CLOCK_STEPPED = "clock-stepped"
    """The machine's clock was set; what lies between may overlap or be missing."""
    SET_ASIDE = "set-aside"
    """The file of the history could not be read, and a new one was begun."""


class HistoryEvent(msgspec.Struct, frozen=True, kw_only=True):
    """One event; `at` in seconds since the epoch."""

    at: float
    kind: HistoryEventKind
    name: str
    """What it happened to: a preset, an alarm's code."""
    detail: str = ""
    """One sentence with the figures of this case."""


class SeriesPoints(msgspec.Struct, frozen=True, kw_only=True):
    """One series over a span: at most `MOST_POINTS` points, oldest first."""

    name: str
    unit: str = ""
    points: tuple[tuple[float, float | None, float | None, float | None], ...] = ()
    """Begin of a stretch in seconds since the epoch, and its smallest, mean and largest value.
    Three None are a gap: nothing is known from there to the next point."""


class HistoryAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `GET /history/series`."""

    since: float
    until: float
    step_s: float
    """Length of the stretch that one point stands for."""
    series: tuple[SeriesPoints, ...] = ()
    events: tuple[HistoryEvent, ...] = ()
    known: tuple[str, ...] = ()
    """Every series that something is kept of."""


class HistoryRow(msgspec.Struct, frozen=True, kw_only=True):
    """One stretch of time in an export."""

    at: float
    values: dict[str, tuple[float, float, float]] = {}
    """Smallest, mean and largest value by series; what is not known is not there."""


class HistoryPage(msgspec.Struct, frozen=True, kw_only=True):
    """A part of an export, oldest first: the answer of `GET /history/rows`."""

    step_s: float
    rows: tuple[HistoryRow, ...] = ()
    next_at: float | None = None
    """Where the next part begins; None: this was the last one."""
    known: tuple[str, ...] = ()


class HistoryState(msgspec.Struct, frozen=True, kw_only=True):
    """How the history is kept: the answer of `GET /history/state`."""

    file: str
    bytes: int | None = None
    most_bytes: int
    """It never grows beyond this."""
    oldest_at: float | None = None
    series: int = 0
    pending_s: float = 0.0
    """How much is in memory only, because it could not be written yet."""
    note: str | None = None
    """What is wrong with it, and what that means, in a sentence."""
