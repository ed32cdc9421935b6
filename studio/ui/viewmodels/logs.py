"""The log page."""

import datetime
import enum

from studio.domain.metrics import LogLine
from studio.ui.language import marked, t
from studio.ui.viewmodels.words import Role, plural

LEVEL_ROLES: dict[str, Role] = {
    "debug": Role.QUIET,
    "warning": Role.WARN,
    "error": Role.HARM,
}

LEVEL_SIGNS: dict[str, str] = {"warning": "!", "error": "×"}
"""What stands before a line, so that colour is not the only sign."""


class Gravity(enum.StrEnum):
    """Which lines are shown by their level."""

    ALL = "all"
    WARNINGS = "warnings"
    ERRORS = "errors"


EMPTY = marked("No lines yet. They appear when the engine starts.")
NO_MATCH = marked("No line matches.")
NO_SERVICE = marked("The lines appear when the service answers.")
NO_SERVICE_LINES = marked("Nothing has been written here yet.")


def is_as_grave(line: LogLine, least: Gravity) -> bool:
    """Tell whether a line is as grave as is asked for."""
    match least:
        case Gravity.ALL:
            return True
        case Gravity.WARNINGS:
            return line.level in LEVEL_SIGNS
        case Gravity.ERRORS:
            return line.level == "error"


def clock_text(at: float) -> str:
    """Return seconds since the epoch as local `15:24:07`."""
    return f"{datetime.datetime.fromtimestamp(at, datetime.UTC).astimezone():%H:%M:%S}"


def count_text(
    shown: int, dropped: int, matches: int | None, current: int | None, waiting: int = 0
) -> str:
    """Return the line under the log: how many lines, where the search stands, what waits."""
    parts = [plural(shown, "line", "lines")]
    if waiting:
        parts.append(
            t("paused, {waiting}").format(
                waiting=plural(waiting, "new line waits", "new lines wait")
            )
        )
    if dropped:
        parts.append(
            t("{dropped} not kept").format(dropped=plural(dropped, "older line", "older lines"))
        )
    if matches is not None:
        place = t("{current:,} of ").format(current=current + 1) if current is not None else ""
        parts.append(place + plural(matches, "match", "matches"))
    return " · ".join(parts)


def line_text(line: LogLine) -> str:
    """Return a line as it is copied."""
    return f"{clock_text(line.at)} {line.source:<6} {line.level:<7} {line.text}"
