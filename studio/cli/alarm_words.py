"""The sentences of `weir alarms`. Those with braces are filled with `format`."""

from studio.domain.alarms import Severity

ABOUT = "Show what the monitor warns of: spill, lost cards, full disks, with cause and remedy."
COMMANDS: dict[str, str] = {
    "list": "Show what the monitor warns of, and what is over.",
    "mute": "Silence an alarm; it is still watched, shown and kept.",
    "unmute": "Let an alarm be heard again.",
}
HELP_FOLLOW = "Go on and show what comes and what is over."
HELP_CODE = "The alarm's code, as `weir alarms` shows it."
HELP_FOR = "For so long, for example 30min, 8h or 7d. Left out: until it is unmuted."
HELP_ONCE = "Only this time: the next one is heard again."

NONE = "Nothing is wrong that the monitor can see."
NOT_WATCHED = "No service runs, so nothing is watched."
HEADING_ENDED = "Over"
HEADING_MUTED = "Muted"
SEVERITIES: dict[Severity, str] = {
    Severity.HARM: "Harm",
    Severity.WARNING: "Warning",
    Severity.NOTICE: "Notice",
}
HEAD = "{severity}: {title} ({code})"
HEAD_MUTED = "{severity}, muted: {title} ({code})"
SINCE = "since {time}"
OVER = "Over at {time}: {title} ({code}), lasted {span}"
DO = "To do: {text}"
DO_COMMAND = "To do: {text} `{command}`"
SEE_FIX = "`weir fix` lists what can be done, numbered; `weir fix N` does it."
MUTED_FOR_GOOD = "{code}: until it is unmuted"
MUTED_ONCE = "{code}: until it is over"
MUTED_UNTIL = "{code}: until {time}"
NOW_MUTED = "Muted `{code}`."
NOW_HEARD = "`{code}` is heard again."
LABEL = "Alarms"
MORE = "`weir alarms` tells cause and remedy."
SEE_MORE = "`weir alarms` says what can be done."
