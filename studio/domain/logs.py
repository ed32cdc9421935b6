"""Logs as they are asked for: pages, times, and which lines a person wants. Pure."""

import datetime
import re
from collections.abc import Callable

import msgspec

from studio.domain.errors import BadInput
from studio.domain.metrics import LogLine
from studio.domain.tracebacks import LogEntry

LEVELS = ("debug", "info", "warning", "error")
SOURCES = ("engine", "service")
MOST_LINES = 20_000
"""Lines of one page."""
_SPAN = re.compile(r"(\d{1,6}(?:\.\d{1,3})?)\s*(s|sec|m|min|h|d|w)", re.ASCII)
_SECONDS = {"s": 1, "sec": 1, "m": 60, "min": 60, "h": 3600, "d": 86_400, "w": 604_800}
_HINT_TIME = "Ways to write it: `10m`, `2h`, `3d`, `14:30`, `yesterday`, `2026-11-29 14:30`."


class LogPage(msgspec.Struct, frozen=True, kw_only=True):
    """A stretch of a log's files, oldest line first. `seq` counts within the page."""

    lines: tuple[LogLine, ...]
    before: str | None = None
    """Where the page before this one ends; None at the beginning, or at the time asked for."""
    after: str
    """Where to go on with what is written later."""
    is_gap: bool = False
    """What followed the place asked for is gone: the files were rotated meanwhile."""


class LogLimits(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How much of the engine's log is kept on the disk."""

    file_mib: int = 5
    files: int = 5


def require_limits(limits: LogLimits) -> LogLimits:
    """Return `limits`. Raises: BadInput (`log-limit-invalid`)."""
    for name, value, most in (
        ("file_mib", limits.file_mib, 1024),
        ("files", limits.files, 100),
    ):
        if not 1 <= value <= most:
            raise BadInput(
                "log-limit-invalid", f"`{name}` should be a number from 1 to {most}, found {value}."
            )
    return limits


def moment(text: str, now: float) -> float:
    """Return a time as a person writes it, in seconds since the epoch; local where no zone is said.

    Raises: BadInput (`time-invalid`).
    """
    text = text.strip()
    span = _SPAN.fullmatch(text.lower())
    if span is not None:
        return now - float(span[1]) * _SECONDS[span[2]]
    try:
        return _calendar(text.lower(), now)
    except (ValueError, OverflowError, OSError):
        raise BadInput("time-invalid", f"`{text}` is not a time.", hint=_HINT_TIME) from None


def _calendar(text: str, now: float) -> float:
    midnight = datetime.datetime.fromtimestamp(now, datetime.UTC).astimezone()
    midnight = midnight.replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None)
    if text == "today":
        return midnight.timestamp()
    if text == "yesterday":
        return (midnight - datetime.timedelta(days=1)).timestamp()
    if ":" in text and "-" not in text:
        clock = datetime.time.fromisoformat(text if text[1:2] != ":" else f"0{text}")
        at = datetime.datetime.combine(midnight, clock).timestamp()
        return at if at <= now else at - _SECONDS["d"]
    return datetime.datetime.fromisoformat(text.upper()).timestamp()


def pattern(text: str) -> "re.Pattern[str]":
    """Return what to search for; upper and lower case are the same unless `(?-i:…)` says so.

    Raises: BadInput (`pattern-invalid`).
    """
    try:
        return re.compile(text, re.IGNORECASE)
    except (re.error, OverflowError, RecursionError) as error:
        raise BadInput(
            "pattern-invalid",
            f"`{text}` is not a regular expression: {error}.",
            hint="To look for signs such as `(`, `[` or `*` themselves, put a backslash before"
            " each: `\\(`.",
        ) from error


class Filter:
    """Which entries a person asked for.

    A line without a level belongs to the last one of its process that has one.
    """

    def __init__(
        self,
        *,
        grep: str | None = None,
        level: str | None = None,
        shown: Callable[[LogEntry], str] | None = None,
    ) -> None:
        """`shown`: an entry as the person sees it, where that is more than its text.

        Raises: BadInput (`pattern-invalid`).
        """
        self._shown = shown
        self._grep = pattern(grep) if grep else None
        self._least = LEVELS.index(level) if level else None
        self._last_level: dict[tuple[str, str | None], str] = {}

    @property
    def is_open(self) -> bool:
        """Whether everything passes."""
        return self._grep is None and self._least is None

    def passes(self, entry: LogEntry) -> bool:
        """Return whether an entry is to be shown; takes the entries in their order."""
        return self._is_grave(entry) and self._matches(entry)

    def _matches(self, entry: LogEntry) -> bool:
        search = self._grep.search if self._grep is not None else None
        if search is None or search(entry.text) is not None:
            return True
        if self._shown is not None and search(self._shown(entry)) is not None:
            return True
        return any(search(text) is not None for text in entry.whole)

    def _is_grave(self, entry: LogEntry) -> bool:
        if self._least is None:
            return True
        writer = entry.source, entry.process
        if entry.level in LEVELS:
            self._last_level[writer] = entry.level
        return LEVELS.index(self._last_level.get(writer, "info")) >= self._least
