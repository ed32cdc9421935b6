"""Days and moments in the language of the window. Pure, but for the clock's own zone.

Numbers and units look the same in both languages (`68,605 tokens`, `5.20 GiB`), whatever the
system's locale says: Chinese groups by thousands and points decimals as English does, and a figure
in a report or a forum means the same to everybody. Days do not look the same.
"""

import datetime

from studio.domain.units import UNKNOWN
from studio.ui.language import marked, t

# Not strftime's %b: that follows the process's locale and not the window's language.
_MONTHS = (
    marked("Jan"),
    marked("Feb"),
    marked("Mar"),
    marked("Apr"),
    marked("May"),
    marked("Jun"),
    marked("Jul"),
    marked("Aug"),
    marked("Sep"),
    marked("Oct"),
    marked("Nov"),
    marked("Dec"),
)


def day_text(iso: str | None) -> str:
    """Return an ISO 8601 instant as `29 Nov 2026` in local time."""
    local = _local(iso)
    return UNKNOWN if local is None else _day(local)


def instant_text(iso: str | None) -> str:
    """Return an ISO 8601 instant as `29 Nov 2026, 15:24` in local time."""
    local = _local(iso)
    return UNKNOWN if local is None else _at(_day(local), local)


def recent_text(iso: str | None) -> str:
    """Return an ISO 8601 instant of this year as `29 Nov, 15:24` in local time."""
    local = _local(iso)
    if local is None:
        return UNKNOWN
    day = t("{day} {month}").format(day=local.day, month=month_name(local))
    return _at(day, local)


def epoch_text(at: float | None) -> str:
    """Return seconds since the epoch as `29 Nov 2026, 15:24` in local time."""
    if at is None:
        return UNKNOWN
    return instant_text(datetime.datetime.fromtimestamp(at, datetime.UTC).isoformat())


def _at(day: str, local: datetime.datetime) -> str:
    return t("{day}, {time}").format(day=day, time=f"{local:%H:%M}")


def _day(local: datetime.datetime) -> str:
    return t("{day} {month} {year}").format(day=local.day, month=month_name(local), year=local.year)


def _local(iso: str | None) -> datetime.datetime | None:
    try:
        instant = datetime.datetime.fromisoformat(iso or "")
    except ValueError:
        return None
    return instant.astimezone() if instant.tzinfo else instant


def month_name(instant: datetime.date) -> str:
    """Return `Nov`."""
    return t(_MONTHS[instant.month - 1])
