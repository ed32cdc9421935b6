"""The sentences of `weir history`. Those with braces are filled with `format`."""

ABOUT = "Show what pool, spill, tok/s and cards did over time, and what happened."
HELP_SINCE = (
    "From when: a span back from now (`30m`, `2h`, `7d`), a time (`14:30`), or a date"
    " (default: 2h)."
)
HELP_UNTIL = "Until when, written like --since (default: now)."
HELP_SERIES = (
    "What to show: words such as pool, spill, tok/s, prefill, requests, waiting, ttft, steps,"
    " hits, memory, power, temperature, vram, gpu; or names of series (default: pool,spill,tok/s)."
)
HELP_CSV = (
    "Write all of it as CSV to this file; `-` is standard output. Without --since: everything."
)
HELP_STEP = "Seconds that one row of the CSV stands for: 1, 10, 60, 600 or 3600 (default: finest)."
HELP_LIST = "List the series that something is kept of, how much is kept, and since when."
HELP_REPLACE = "Overwrite the file."

NOTHING = "Nothing is kept of that span."
NOTHING_YET = "Nothing is kept yet. The history begins when the service runs: `weir up`."
TITLE = "{name}, {unit}"
TITLE_COUNT = "{name}"
FIGURES = "min {low} · mean {mean} · max {high} · last {last}"
GAPS = "{share} of the span is not known"
NO_POINTS = "{name}: nothing is kept of that span"
EVENTS = "What happened"
KINDS = {
    "service-started": "service started",
    "service-stopped": "service stopped",
    "boot": "ready",
    "stopped": "stopped",
    "death": "died",
    "failed": "failed",
    "switch": "switched",
    "settings": "other settings",
    "badge": "slow path",
    "alarm": "alarm",
    "alarm-ended": "alarm over",
    "clock-stepped": "clock set",
    "set-aside": "history begun anew",
}
MORE_EVENTS = "{count} earlier ones: `--json` has them all"
LABEL_FILE = "File"
LABEL_SIZE = "Size"
LABEL_SINCE = "Since"
LABEL_SERIES = "Series"
LABEL_NOTE = "Note"
SIZE = "{size}, at most {most}"
NO_FILE = "none yet"
WRITTEN = "{rows} from {since} until {until} are in {file}."
FILE_EXISTS = "{file} exists already."
HINT_REPLACE = "Choose another name, or overwrite it with --replace."
NOT_A_STEP = "`--step` should be seconds from 1 to 3600, found `{text}`"
BACKWARDS = "The span ends before it begins: --since {since}, --until {until}."
HINT_BACKWARDS = "`--since 2h --until 1h` is the hour before the last."
