"""Moments and days in words, in local time; and where a time axis has its marks."""

import datetime
import functools
import math

from studio.domain.units import UNKNOWN
from studio.ui.language import t
from studio.ui.viewmodels.dates import month_name

_MINUTE_S, _HOUR_S, _DAY_S = 60, 3_600, 86_400
_STEPS_S = (
    *(1, 5, 10, 15, 30),
    *(_MINUTE_S * minutes for minutes in (1, 2, 5, 10, 15, 30)),
    *(_HOUR_S * hours for hours in (1, 2, 3, 6, 12)),
    *(_DAY_S * days for days in (1, 2, 7, 14, 28, 56, 112)),
)


def local(at: float) -> datetime.datetime:
    """Return seconds since the epoch as local time."""
    return datetime.datetime.fromtimestamp(at, datetime.UTC).astimezone()


def parsed(iso: str | None) -> datetime.datetime | None:
    """Return an ISO 8601 instant as local time; None: it is none."""
    try:
        instant = datetime.datetime.fromisoformat(iso or "")
    except ValueError:
        return None
    return instant.astimezone() if instant.tzinfo else instant


def day_words(instant: datetime.date | None) -> str:
    """Return `29 Nov`."""
    if instant is None:
        return UNKNOWN
    return t("{day} {month}").format(day=instant.day, month=month_name(instant))


def year_words(instant: datetime.date | None) -> str:
    """Return `29 Nov 2026`."""
    if instant is None:
        return UNKNOWN
    return t("{day} {month} {year}").format(
        day=instant.day, month=month_name(instant), year=instant.year
    )


def moment_words(instant: datetime.datetime | None) -> str:
    """Return `29 Nov, 15:24`."""
    return UNKNOWN if instant is None else _on_day(instant, "%H:%M")


def second_words(at: float) -> str:
    """Return `29 Nov, 15:24:07` for seconds since the epoch."""
    return _on_day(local(at), "%H:%M:%S")


def span_words(begin: float, end: float) -> str:
    """Return `29 Nov, 15:24 – 15:39`, with the second day where there are two."""
    first, last = local(begin), local(end)
    form = "%H:%M:%S" if end - begin < 10 * _MINUTE_S else "%H:%M"
    is_one_day = first.date() == last.date()
    return f"{_on_day(first, form)} – {last.strftime(form) if is_one_day else _on_day(last, form)}"


@functools.lru_cache(maxsize=8)
def mark_places(begin: float, end: float, most: int) -> tuple[float, tuple[float, ...]]:
    """Return how far marks are apart, and at most `most` round local times that have one.

    Each chart of a page asks the same.
    """
    span_s = max(1.0, end - begin)
    fitting = (step for step in _STEPS_S if span_s / step <= max(1, most))
    step_s = next(fitting, _STEPS_S[-1])
    offset = local(end).utcoffset()
    shift_s = offset.total_seconds() if offset is not None else 0.0
    first = -(-(begin + shift_s) // step_s) * step_s - shift_s
    count = max(0, math.floor((end - first) / step_s) + 1)
    return step_s, tuple(first + number * step_s for number in range(count))


def mark_words(at: float, step_s: float) -> str:
    """Return what stands at a mark; the day is named where one begins."""
    instant = local(at)
    if step_s >= _DAY_S or (instant.hour == 0 and instant.minute == 0 and step_s >= _MINUTE_S):
        return day_words(instant)
    return instant.strftime("%H:%M" if step_s >= _MINUTE_S else "%H:%M:%S")


def _on_day(instant: datetime.datetime, form: str) -> str:
    return t("{day}, {time}").format(day=day_words(instant), time=instant.strftime(form))
