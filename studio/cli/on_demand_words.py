"""The sentences of `weir gateway on-demand` and `queue`. Those with braces go through `format`."""

from studio.domain.demand import Reason

COMMANDS: dict[str, str] = {
    "on-demand": "Choose which presets requests may start, and when they stop.",
    "queue": "Show which requests wait for a model, and what happens next.",
}
HELP_PRESET = "A preset that requests may start from now on, or to change. Left out: show all."
HELP_SET = "Set one of its knobs for these starts; may be given again."
HELP_TTL = (
    "Stop it after so long without a request: 90s, 30m, 2h; 0 for never, default for the default."
)
HELP_REMOVE = "Take the preset off the list."
HELP_ON = "Let requests start what is listed; also ends a hold after `weir stop`."
HELP_OFF = "Let requests start nothing; the list stays."
HELP_DEFAULT_TTL = "The time without a request after which a preset is stopped; 0 for never."
HELP_BY_HAND = "Stop an engine that you started yourself when idle, too."
HELP_NOT_BY_HAND = "Leave an engine that you started yourself alone."
HELP_RESIDENCE = "How long a model serves at least before another's turn; auto: as its boot took."
HELP_WAIT = "How long a request waits at most; auto: 280 s, with a stream 30 min."
HELP_QUEUE = "How many requests may wait; more get 503."
HELP_ABANDONED = "What becomes of a boot that nobody waits for any more: finish or end."

NO_PRESET = "Say which preset to take off the list."
HINT_REMOVE = "`weir gateway on-demand` shows the list."

LABEL_STATE = "On demand"
LABEL_PRESETS = "Listed"
LABEL_IDLE = "Idle stop"
LABEL_RESIDENCE = "Serves at least"
LABEL_WAIT = "Requests wait"
LABEL_QUEUE = "Queue"
LABEL_NEXT = "Next"
LABEL_FAILED = "Failed"
LABEL_ABANDONED = "Left boots"

ON = "on: requests start what is listed"
ON_FOR_NOTHING = "off until a preset is listed: requests start nothing"
OFF = "off: requests start nothing"
HELD = "held since {time}, when you said stop; `weir up` or `weir gateway on-demand --on` ends it"
NOTHING_LISTED = "nothing: `weir gateway on-demand PRESET` lists one"
LISTED = "{preset}: asked for as {names}"
CONTEXT = "context {tokens}"
STOPS = "stops after {time} idle"
STOPS_NEVER = "never stops by itself"
SETTINGS = "with {settings}"
IDLE_DEFAULT = "{time} without a request, unless a preset has a time of its own"
IDLE_NEVER = "never, unless a preset has a time of its own"
ALSO_BY_HAND = "; also what you started yourself"
NOT_BY_HAND = "; not what you started yourself"
RESIDENCE_AUTO = "as long as its boot took (5 s to 300 s) before another model's turn"
RESIDENCE = "{time} before another model's turn"
WAIT_AUTO = "280 s at most, with a stream 30 min"
WAIT = "{time} at most"
ABANDONED = {
    "finish": "finish: a boot goes on when nobody waits for it any more",
    "end": "end: a boot is ended when nobody waited for it for 10 s",
}
ROOM = "{waiting} of {length} places taken"
NOBODY = "Nobody waits."
ONE_CARD = (
    "One engine serves at a time: presets take turns, also where they would fit on cards of their"
    " own."
)

QUEUE_HEADINGS = ("MODEL", "PRESET", "KEY", "ROUTE", "STREAM", "WAITS")
YES = "yes"
NO = "no"
NEXT = {
    Reason.QUIET: "nothing to do",
    Reason.WANTED: "{preset} is started now",
    Reason.RESIDENCE: "{preset} is next{when}: what serves now has its time first",
    Reason.BOOTING: "{preset} is next, after the engine that is starting",
    Reason.ENDING: "{preset} is next, after the engine that is being ended",
    Reason.BY_HAND: "{preset} has to wait: what serves now was started by hand",
    Reason.MEASURED: (
        "{preset} is next, after the measurement under way (`weir bench stop` ends it)"
    ),
    Reason.IDLE: "{preset} stops{when} unless it is used",
    Reason.ABANDONED: "the boot of {preset} is ended{when}: nobody waits for it",
    Reason.HELD: "nothing is started: you said stop",
}
IN = " in {time}"
IDLE_LEFT = "stops in {time} when nobody uses it"
IDLE_BUSY = "stops {time} after its last request"
FAILED = "{preset}: {message} ({code}); tried again in {time}, or with `weir up {preset}`"
WAITING_ONE = "{model}: 1 request since {time} ({keys})"
WAITING_MANY = "{model}: {count} requests, the first since {time} ({keys})"
HELD_SHORT = "on demand is held until `weir up`, because you said stop"
HELD_AFTER_STOP = "Requests start nothing until `weir up` or `weir gateway on-demand --on`."
