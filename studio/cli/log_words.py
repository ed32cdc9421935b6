"""Sentences of `weir logs`."""

from studio.domain.logs import LogLimits
from studio.domain.units import counted

HELP_FOLLOW = "Keep showing new lines until Ctrl+C, across restarts of engine and service."
HELP_LINES = "How many of the newest lines to show (default: 200; with --since, all)."
HELP_GREP = "Show only lines that match this regular expression; case does not matter."
HELP_LEVEL = "Show only lines of this level or a more serious one."
HELP_SINCE = "Show only what was written since then: 10m, 2h, 14:30, yesterday, 2026-11-29 14:30."
HELP_FULL = "Show tracebacks whole instead of their root cause."
HELP_SERVICE = "Show the service's own log instead of the engine's."
HELP_SET = "Change how much is kept on the disk: file_mib=5, files=5."
HELP_JSON = "Print one JSON document; with --follow, one line for each entry."

NO_LINES = "The log has no such lines."
GAP = "(lines are left out here: the log went on faster than it could be read)"
WAITING = "No service runs. New lines appear when one does; Ctrl+C ends."


def limits(kept: LogLimits) -> str:
    """Say how much of the engine's log is kept."""
    files = counted(kept.files, "file", "files")
    verb = "is" if kept.files == 1 else "are"
    return f"At most {files} of {kept.file_mib} MiB {verb} kept of the engine's log."


def unknown_limit(name: str) -> tuple[str, str]:
    """Say that a log has no such limit, and which it has."""
    return f"The log has no setting `{name}`.", "There are: `file_mib`, `files`."


def limit_not_a_number(name: str, text: str) -> str:
    """Say that a limit should be a number."""
    return f"`{name}` should be a whole number, found `{text}`."
